import BrokerConnection
import BrokerInterface
import BrokerJSON
import BrokerVarlinkClient
import Foundation
import Synchronization

/// This process's connections to the broker, shared by all of its stores and threads.
///
/// A call uses a connection exclusively until its last reply, so a call that waits for the person does not
/// block others. This class keeps a few idle connections for later calls. If the broker closed one of them,
/// this class opens a new one.
final class BrokerCalls: Sendable {
    static let shared = BrokerCalls()

    private let idle = Mutex<[Parked]>([])
    private let wasConnected = Atomic(false)
    private let bound: Duration
    private let connect: Connect

    /// Opens a connection within a timeout.
    typealias Connect = @Sendable (Duration) throws(BrokerConnectionError) -> VarlinkClient

    /// The maximum number of idle connections.
    static let idleConnections = 4
    /// The maximum time that a call waits in all, including the time that the person needs for the prompt and
    /// a password. ``WaitBudget`` measures it.
    static let bound = Duration.seconds(300)
    /// The maximum time to wait for a broker that restarts.
    static let restart = Duration.seconds(5)

    // Proof that this is Sendable: a call takes a connection out of the list, uses it exclusively, and then
    // puts it back.
    private struct Parked: @unchecked Sendable {
        let client: VarlinkClient
    }

    init(bound: Duration = BrokerCalls.bound, connect: @escaping Connect = BrokerCalls.toBroker) {
        self.bound = bound
        self.connect = connect
    }

    private static let toBroker: Connect = { time throws(BrokerConnectionError) in
        try BrokerConnection.connect(to: .apps, timeout: time)
    }

    // MARK: Calling

    /// Calls a method that has one reply.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether the call can safely be made twice. Such a call is retried once if the
    ///     connection ends before the reply.
    ///   - write: writes the parameters' members.
    /// - Throws: ``CallFailure``.
    func call(
        _ method: ContactsMethod, isRepeatable: Bool = true, _ write: (inout JSONWriter) -> Void = { _ in }
    ) throws(CallFailure) -> JSONValue {
        var answer: JSONValue?
        try stream(method, more: false, isRepeatable: isRepeatable, write) { reply, _ in
            answer = reply
            return true
        }
        // A successful call always has a reply.
        return answer ?? JSONDocument.emptyObject.root
    }

    /// Calls a method and passes its replies to `each` one by one, until the last reply or until `each`
    /// returns `false`.
    func stream(
        _ method: ContactsMethod, more: Bool = true, isRepeatable: Bool = true,
        _ write: (inout JSONWriter) -> Void = { _ in },
        each: (_ reply: JSONValue, _ isLast: Bool) throws(CallFailure) -> Bool
    ) throws(CallFailure) {
        let budget = WaitBudget.current ?? WaitBudget(bound)
        var mayRepeat = isRepeatable
        while true {
            // A call that may be retried needs no check that the broker is still connected.
            let client = try connection(mustBeAlive: !mayRepeat, budget)
            do throws(CallFailure) {
                try converse(client, method, more: more, budget, write) { (reply, isLast) throws(CallFailure) in
                    mayRepeat = false
                    // The budget does not count the time that the app spends on the reply, including calls
                    // that the app makes meanwhile.
                    return try WaitBudget.with(nil) { () throws(CallFailure) in try each(reply, isLast) }
                }
                return ChangeWatch.shared.accessWorks()
            } catch {
                // Retry once, because the broker may have restarted.
                guard mayRepeat, case .connection = error.kind else { throw error }
                mayRepeat = false
            }
        }
    }

    private func converse(
        _ client: VarlinkClient, _ method: ContactsMethod, more: Bool, _ budget: WaitBudget,
        _ write: (inout JSONWriter) -> Void, each: (JSONValue, Bool) throws(CallFailure) -> Bool
    ) throws(CallFailure) {
        try send(method, more: more, to: client, budget, write)
        let line = WaitingLine(for: method)
        while true {
            guard let reply = try reply(from: client, more: more, budget, line) else {
                client.close()
                throw CallFailure(.timedOut)
            }
            let goesOn: Bool
            do throws(CallFailure) {
                goesOn = try each(reply.parameters, !reply.continues)
            } catch {
                if reply.continues { client.close() }
                throw error
            }
            guard reply.continues else { return }
            guard goesOn else { return client.close() }
        }
    }

    /// Sends a call; closes the connection if that fails.
    func send(
        _ method: ContactsMethod, more: Bool, to client: VarlinkClient, _ budget: WaitBudget,
        _ write: (inout JSONWriter) -> Void
    ) throws(CallFailure) {
        do throws(VarlinkClientError) {
            try budget.wait { (left) throws(VarlinkClientError) in
                try client.begin(Self.prefix + method.rawValue, more: more, within: left, write)
            }
        } catch {
            client.close()
            throw CallFailure(error)
        }
    }

    /// Returns the next reply. If none arrives within the budget or within `time`, this returns `nil` and
    /// leaves the connection open. After the last reply or an error reply, this keeps the connection for
    /// other calls. After any other error, this closes the connection.
    func reply(
        from client: VarlinkClient, more: Bool, _ budget: WaitBudget, _ line: WaitingLine, within time: Duration? = nil
    ) throws(CallFailure) -> (parameters: JSONValue, continues: Bool)? {
        let reply: (parameters: JSONValue, continues: Bool)?
        do throws(VarlinkClientError) {
            reply = try budget.wait { (left) throws(VarlinkClientError) in
                try line.wait(within: min(time ?? left, left)) { (time) throws(VarlinkClientError) in
                    try client.nextReply(timeout: time)
                }
            }
        } catch {
            // An error reply is a valid reply, so the connection can serve the next call.
            if case .error = error { park(client) } else { client.close() }
            throw CallFailure(error)
        }
        guard let reply else { return nil }
        guard more || !reply.continues else {
            client.close()
            throw CallFailure(.protocolViolation("a reply that continues to a call without more"))
        }
        if !reply.continues { park(client) }
        return reply
    }

    static let prefix = ContactsInterface.contacts.name + "."

    // MARK: Connections

    func connection(mustBeAlive: Bool, _ budget: WaitBudget) throws(CallFailure) -> VarlinkClient {
        while let parked = idle.withLock({ $0.popLast() }) {
            if !mustBeAlive || Self.isAlive(parked.client) { return parked.client }
            parked.client.close()
        }
        let deadline = ContinuousClock.now + min(Self.restart, budget.left)
        while true {
            guard budget.left > .zero else { throw CallFailure(.timedOut) }
            do throws(BrokerConnectionError) {
                let client = try budget.wait { (left) throws(BrokerConnectionError) in try connect(left) }
                wasConnected.store(true, ordering: .relaxed)
                return client
            } catch {
                // Do not wait for a broker that this process has never reached.
                guard wasConnected.load(ordering: .relaxed), ContinuousClock.now < deadline else {
                    throw CallFailure(error)
                }
            }
            budget.wait { _ in Thread.sleep(forTimeInterval: 0.05) }
        }
    }

    /// Whether the broker is still connected. No reply can be pending, because every call reads all of its
    /// replies or closes the connection.
    private static func isAlive(_ client: VarlinkClient) -> Bool {
        do throws(VarlinkClientError) {
            return try client.nextReply(timeout: .zero) == nil
        } catch {
            return false
        }
    }

    func park(_ client: VarlinkClient) {
        let parked = Parked(client: client)
        let isKept = idle.withLock { idle in
            guard idle.count < Self.idleConnections else { return false }
            idle.append(parked)
            return true
        }
        if !isKept { client.close() }
    }
}

/// The reason why a call failed: no valid reply arrived, or the broker sent an error reply.
struct CallFailure: Error {
    enum Kind {
        /// The broker could not be reached, or the broker closed the connection.
        case connection
        /// No reply arrived in time, or the reply was invalid.
        case noAnswer
        /// The broker sent an error reply.
        case answered
    }

    let kind: Kind
    /// The error's name without the interface's name; empty if there is no error reply.
    let name: String
    let parameters: JSONValue
    /// The description of the failure, in lower case and without a full stop; empty for an error reply.
    let text: String
    /// A suggestion for what to try; `nil` if there is none.
    let suggestion: String?

    init(_ error: BrokerConnectionError) {
        kind = .connection
        name = ""
        parameters = JSONDocument.emptyObject.root
        text = error.description
        suggestion = error.advice
    }

    init(_ error: VarlinkClientError) {
        switch error {
        case .error(let name, let parameters):
            kind = .answered
            self.name =
                name.hasPrefix(BrokerCalls.prefix) ? String(name.dropFirst(BrokerCalls.prefix.count)) : name
            self.parameters = parameters
            text = ""
            suggestion = nil
            return
        case .closed, .cannotConnect: kind = .connection
        case .timedOut, .protocolViolation: kind = .noAnswer
        }
        name = ""
        parameters = JSONDocument.emptyObject.root
        text =
            switch error {
            case .cannotConnect(let path, let reason): "the contact broker at \(path) does not answer: \(reason)"
            case .closed: "the contact broker closed the connection"
            case .timedOut: "the contact broker did not answer in time"
            case .protocolViolation(let what): "the contact broker sent an invalid reply: \(what)"
            case .error: ""
            }
        suggestion = "check contactbrokerd's log"
    }
}
