import BrokerAccessControl
import BrokerBooks
import BrokerContactsStore
import BrokerLedger
import BrokerVarlink
import Dispatch

/// Waits for the user's book, and for jobs on other threads.
extension Wait where Value.Services: UsesServices {
    /// The opening of the user's book. If it fails, the call fails.
    package static func book(creating: Bool) -> Wait {
        Wait { waiting in
            let value = waiting.value
            waiting.services.books.with(value.session.caller.uid, creating: creating) { result in
                guard case .failure(let error) = result else { return waiting.resume() }
                if !value.call.isOver { waiting.services.problems.unavailable(value.call, error) }
                value.ended(waiting.services)
            }
        }
    }

    /// A read on the user's worker. If it fails, the call fails.
    ///
    /// - Parameter keep: puts what was read into the call.
    package static func read<Answer: Sendable>(
        _ book: ContactsStore, _ body: @escaping @Sendable (ContactsStore) throws(StoreError) -> Answer,
        keep: @escaping (inout Value, Answer) -> Void
    ) -> Wait {
        Wait { waiting in
            let value = waiting.value
            waiting.services.longReads.read(book, for: value.call, value.session, body) { answer in
                keep(&waiting.value, answer)
                waiting.resume()
            }
        }
    }

    /// A job on a queue.
    ///
    /// - Parameter keep: puts the result into the call.
    package static func job<Answer: Sendable, Failure: Error>(
        on queue: DispatchQueue, _ work: @escaping @Sendable () throws(Failure) -> Answer,
        keep: @escaping (inout Value, Result<Answer, Failure>) -> Void
    ) -> Wait {
        Wait { waiting in
            waiting.services.surroundings.loop.run(on: queue, work) { result in
                keep(&waiting.value, result)
                waiting.resume()
            }
        }
    }

    /// A later event loop iteration. Other calls run first.
    package static var turn: Wait { Wait { waiting in waiting.services.surroundings.loop.later(waiting.resume) } }
}
