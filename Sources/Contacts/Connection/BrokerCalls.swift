import BrokerConnection
import BrokerInterface
import BrokerJSON
import BrokerVarlinkClient
import Foundation
import Synchronization

/// This process's connections to the broker, for all of its stores and threads.
///
/// A call has a connection to itself until it is answered, so that one that waits for the person keeps no other waiting. A
/// few connections are kept for the next calls. Where the broker went away meanwhile, a new one is opened.
final class BrokerCalls: Sendable {
    static let shared = BrokerCalls()

    private let idle = Mutex<[Parked]>([])
    private let wasConnected = Atomic(false)
    private let bound: Duration
    private let connect: Connect

    /// Opens a connection within a time.
    typealias Connect = @Sendable (Duration) throws(BrokerConnectionError) -> VarlinkClient

    /// Connections kept for the next calls.
    static let idleConnections = 4
    /// How long a call may wait in all, the person's time for the question and a password included: as ``WaitBudget`` counts.
    static let bound = Duration.seconds(300)
    /// How long a broker that was there may take to come back.
    static let restart = Duration.seconds(5)

    // Proof: whoever takes a connection out of the list is the only one that has it, and puts it back when done.
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

    /// Calls a method whose answer is one reply.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether the call may be made again where a connection ended before it was answered: it changes
    ///     nothing.
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
        // A call that was answered has had a reply.
        return answer ?? JSONDocument.emptyObject.root
    }

    /// Calls a method and hands on its replies one by one, until the last or until `each` returns `false`.
    func stream(
        _ method: ContactsMethod, more: Bool = true, isRepeatable: Bool = true,
        _ write: (inout JSONWriter) -> Void = { _ in },
        each: (_ reply: JSONValue, _ isLast: Bool) throws(CallFailure) -> Bool
    ) throws(CallFailure) {
        let budget = WaitBudget.current ?? WaitBudget(bound)
        var mayRepeat = isRepeatable
        while true {
            // Who may call again need not look first.
            let client = try connection(mustBeAlive: !mayRepeat, budget)
            do throws(CallFailure) {
                try converse(client, method, more: more, budget, write) { (reply, isLast) throws(CallFailure) in
                    mayRepeat = false
                    // What the app does with it has its own time, calls of its own included.
                    return try WaitBudget.with(nil) { () throws(CallFailure) in try each(reply, isLast) }
                }
                return ChangeWatch.shared.accessWorks()
            } catch {
                // Once: the broker that was there is gone, and another one may be there now.
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
        while true {
            guard let reply = try reply(from: client, more: more, budget) else {
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

    /// Sends a call; a connection that does not take it is closed.
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

    /// The next reply, or `nil` where none has come in the time that is left, or in this one. With the last one, the connection is free for other calls; after
    /// anything that is no reply it is closed.
    func reply(
        from client: VarlinkClient, more: Bool, _ budget: WaitBudget, within time: Duration? = nil
    ) throws(CallFailure) -> (parameters: JSONValue, continues: Bool)? {
        let reply: (parameters: JSONValue, continues: Bool)?
        do throws(VarlinkClientError) {
            reply = try budget.wait { (left) throws(VarlinkClientError) in
                try client.nextReply(timeout: min(time ?? left, left))
            }
        } catch {
            // An error is an answer like any other, and the connection is good for the next call.
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
                // One that was never there is not waited for.
                guard wasConnected.load(ordering: .relaxed), ContinuousClock.now < deadline else {
                    throw CallFailure(error)
                }
            }
            budget.wait { _ in Thread.sleep(forTimeInterval: 0.05) }
        }
    }

    /// Whether the broker is still at the other end. Nothing can have come: every call took all of its replies.
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

/// Why a call has no answer, or which error it was answered with, in the wire's own terms.
struct CallFailure: Error {
    enum Kind {
        /// The broker was not reached, or went away.
        case connection
        /// No answer in time, or none that means anything.
        case noAnswer
        /// Answered with an error.
        case answered
    }

    let kind: Kind
    /// The error's name on the wire, without the interface's; empty where there is none.
    let name: String
    let parameters: JSONValue
    /// What happened, in lower case and without a full stop.
    let text: String
    /// What to try, where there is something.
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
            case .closed: "the contact broker hung up"
            case .timedOut: "the contact broker took too long"
            case .protocolViolation(let what): "the contact broker said what is no Varlink: \(what)"
            case .error: ""
            }
        suggestion = "look at what contactbrokerd says"
    }
}
