import BrokerInterface
import BrokerJSON
import BrokerVarlinkClient
import Foundation

/// A call that was sent, and is not answered yet. One thread uses it. When it goes, so does the connection, and with it the answer.
final class PendingCall {
    private var client: VarlinkClient?

    fileprivate init(_ client: VarlinkClient) { self.client = client }

    deinit { client?.close() }

    /// For poll(2); -1 when there is nothing to wait for any more.
    var fileDescriptor: CInt { client?.fileDescriptor ?? -1 }

    /// Whether the answer was read already, so that the descriptor says nothing of it.
    var isAnswered: Bool { client?.hasBufferedReply ?? true }

    /// The answer, or `nil` where it did not come in that time; it may come yet.
    func poll(within time: Duration) throws(CallFailure) -> JSONValue? {
        guard let client else { throw CallFailure(.closed) }
        do throws(CallFailure) {
            // Within a call that is more than this the time is that call's.
            let budget = WaitBudget.current ?? WaitBudget(time)
            guard let reply = try BrokerCalls.shared.reply(from: client, more: false, budget, within: time) else {
                return nil
            }
            self.client = nil
            ChangeWatch.shared.accessWorks()
            return reply.parameters
        } catch {
            self.client = nil
            throw error
        }
    }

    /// The answer, which must come in that time.
    func answer(within time: Duration) throws(CallFailure) -> JSONValue {
        if let answer = try poll(within: time) { return answer }
        abandon()
        throw CallFailure(.timedOut)
    }

    func abandon() {
        client?.close()
        client = nil
    }
}

extension BrokerCalls {
    /// Sends a call that is not made again where the connection ends, and leaves its one answer to be taken later.
    ///
    /// - Parameter write: writes the parameters' members.
    func begin(_ method: ContactsMethod, _ write: (inout JSONWriter) -> Void) throws(CallFailure) -> PendingCall {
        let budget = WaitBudget.current ?? WaitBudget(Self.bound)
        let client = try connection(mustBeAlive: true, budget)
        try send(method, more: false, to: client, budget, write)
        return PendingCall(client)
    }
}
