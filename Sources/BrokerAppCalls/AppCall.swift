import BrokerAccessControl
import BrokerBooks
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// A call of an app.
protocol AppCall: SteppedCall where Services == BrokerServices {
    /// Whether the person was asked for this call, and the answer.
    var asked: Asked { get set }
}

/// Whether the person was asked for a call.
enum Asked {
    case notYet
    case answered(PromptOutcome)
    /// A part of the reply was sent, so the person is not asked any more.
    case tooLate
}

extension AppCall {
    /// A grant that was just made counts for the calls that come after it.
    func mustWait(_ services: BrokerServices, _ resume: @escaping () -> Void) -> Bool {
        services.grants.isSettling && services.grants.waitsForGrant(session, resume)
    }
}

extension Wait where Value: AppCall {
    /// The person's answer to a question. If the caller's executable must be checked first, or the answer does not cover
    /// the caller, the call is decided again without one.
    static func answer(to question: Question) -> Wait {
        Wait { waiting in
            let value = waiting.value
            waiting.services.questions.ask(question, value.call, value.session) { outcome in
                if let outcome { waiting.value.asked = .answered(outcome) }
                waiting.resume()
            }
        }
    }

    /// The check of the caller's executable before the connection uses a grant for the first time.
    static var check: Wait {
        Wait { waiting in
            let value = waiting.value
            waiting.services.checks.beforeGrantIsUsed(value.session, value.call, waiting.resume)
        }
    }

    /// The look-up, on the user's worker, of the place where the app's change history ends. ``History`` keeps the place.
    static func place(_ context: ReadContext, _ book: ContactsStore, keep: @escaping (inout Value) -> Void) -> Wait {
        Wait { waiting in
            let value = waiting.value
            waiting.services.places.lookUp(context, book, value.call, value.session) {
                keep(&waiting.value)
                waiting.resume()
            }
        }
    }

    /// The app's taking of one batch of a list, after its audit record is committed. Other calls run first, because a long
    /// list must not delay them.
    ///
    /// - Parameter isPaced: whether the next batch also waits if the app has used up its share of the audit.
    static func taken(_ batch: DisclosedReply, isPaced: Bool) -> Wait {
        Wait { waiting in
            let (services, call, session) = (waiting.services, waiting.value.call, waiting.value.session)
            services.groupCommit.disclose(batch, to: call, session, continues: true) {
                call.whenWritable {
                    services.surroundings.loop.later {
                        if isPaced, services.pace.holds(call, session, waiting.resume) { return }
                        waiting.resume()
                    }
                }
            }
        }
    }
}

/// A call of an app that needs access, and is answered from the book.
protocol PermittedCall: AppCall {
    /// The question to the person if the app's access is not decided yet.
    var question: Question { get }
    /// The keys that the call reads. If the app may not read some of them, the call fails, and the person can later give
    /// those that the call named.
    var keys: ContactKeySet { get }
    /// Whether to create the book if there is none.
    var createsBook: Bool { get }

    /// Runs before each decision.
    mutating func prepare(_ services: BrokerServices)
    /// The error if the permitted disclosure is not enough for this call.
    func refusal(of disclosure: Disclosure, _ services: BrokerServices) -> VarlinkError?
    /// Answers the call, in the same event loop iteration as the decision that permits it.
    mutating func answer(_ context: ReadContext, _ services: BrokerServices) throws(ReadContext.Failure) -> Step<Self>
}

extension PermittedCall {
    var question: Question { Question(kind: .access) }
    package var keys: ContactKeySet { [] }
    var createsBook: Bool { false }
    mutating func prepare(_ services: BrokerServices) {}
    package func refusal(of disclosure: Disclosure, _ services: BrokerServices) -> VarlinkError? { nil }

    /// Decides the call, and answers it if it is permitted and nothing has to be waited for: the person's answer, the
    /// check of the caller's executable, and the opening of the book.
    package mutating func step(_ services: BrokerServices) -> Step<Self> {
        prepare(services)
        let known = services.grants.accessForCall(by: session)
        var mayAsk = false
        if case .notYet = asked { mayAsk = known.mayPrompt }
        switch decideAccess(known.effective, mayAsk: mayAsk) {
        case .permit(let disclosure):
            if let error = disclosure.error(asking: keys) {
                services.grants.noteAsked(services.grants.lacked(of: keys, known), known)
                services.groupCommit.fail(error, call)
                return .done
            }
            if let error = refusal(of: disclosure, services) {
                services.groupCommit.fail(error, call)
                return .done
            }
            return services.permitted(&self, disclosure, known, creating: createsBook) {
                (call, context) throws(ReadContext.Failure) in
                try call.answer(context, services)
            }
        case .refuse(let denial):
            services.questions.refuse(call, session, denial, known.effective.status)
            return .done
        case .ask: return .wait(for: .answer(to: question))
        }
    }
}

extension BrokerServices {
    /// Answers a call that was permitted in this event loop iteration, once the caller's executable is checked and the
    /// book is open.
    func permitted<Value: AppCall>(
        _ value: inout Value, _ disclosure: Disclosure, _ known: CallerAccess, creating: Bool = false,
        _ answer: (inout Value, ReadContext) throws(ReadContext.Failure) -> Step<Value>
    ) -> Step<Value> {
        let (call, session) = (value.call, value.session)
        guard session.hasUsedGrant else { return .wait(for: .check) }
        guard let book = books.ready(session.caller.uid, creating: creating) else {
            return .wait(for: .book(creating: creating))
        }
        do throws(ReadContext.Failure) {
            guard let context = grants.readContext(disclosure, known, of: session, book) else {
                throw .call(ContactsError.storeUnavailable)
            }
            return try answer(&value, context)
        } catch {
            switch error {
            case .call(let error): groupCommit.fail(error, call)
            case .store(let error): problems.unavailable(call, error)
            }
            return .done
        }
    }
}
