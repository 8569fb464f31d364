import BrokerInterface
import BrokerJSON
import BrokerVarlinkClient
import Foundation

/// A call that was sent and has no reply yet. Only one thread at a time may use this object. If the object is
/// released before the reply arrives, it closes the connection, and the reply is lost.
final class PendingCall {
    private var client: VarlinkClient?
    private let line: WaitingLine

    fileprivate init(_ client: VarlinkClient, _ line: WaitingLine) { (self.client, self.line) = (client, line) }

    deinit { client?.close() }

    /// The descriptor for poll(2); -1 if there is nothing to wait for.
    var fileDescriptor: CInt { client?.fileDescriptor ?? -1 }

    /// Whether there is nothing to wait for: the reply is already buffered, or the call has ended. If so,
    /// poll(2) does not report the descriptor as readable, so do not wait on it.
    var isAnswered: Bool { client?.hasBufferedReply ?? true }

    /// Returns the reply; `nil` if it did not arrive within `time` and may still arrive.
    func poll(within time: Duration) throws(CallFailure) -> JSONValue? {
        guard let client else { throw CallFailure(.closed) }
        do throws(CallFailure) {
            // If this is part of a larger call, that call's budget applies.
            let budget = WaitBudget.current ?? WaitBudget(time)
            guard let reply = try BrokerCalls.shared.reply(from: client, more: false, budget, line, within: time) else {
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

    /// Returns the reply; throws if it does not arrive within `time`.
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
    /// Sends a call that is never retried. The returned object reads its single reply later.
    ///
    /// - Parameter write: writes the parameters' members.
    func begin(_ method: ContactsMethod, _ write: (inout JSONWriter) -> Void) throws(CallFailure) -> PendingCall {
        let budget = WaitBudget.current ?? WaitBudget(Self.bound)
        let client = try connection(mustBeAlive: true, budget)
        try send(method, more: false, to: client, budget, write)
        return PendingCall(client, WaitingLine(for: method))
    }
}
