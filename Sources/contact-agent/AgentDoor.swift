import BrokerConnection
import BrokerVarlinkClient

/// Opens the broker's door for agents.
///
/// Of the installed agent the door was opened before it gave up its group, and cannot be opened again: for that the agent
/// starts itself anew.
final class AgentDoor {
    private enum State {
        case opensAtAnyTime
        /// Connections that nobody has taken yet.
        case opened([VarlinkClient])
        case didNotOpen(any Error)
    }

    private var state: State

    /// One that opens whenever it is asked to.
    init() { state = .opensAtAnyTime }

    /// One that was opened so often, now.
    init(opening count: Int) {
        do {
            state = .opened(try (0..<count).map { _ in try Self.connect() })
        } catch {
            state = .didNotOpen(error)
        }
    }

    var canOpenAgain: Bool {
        switch state {
        case .opensAtAnyTime: true
        case .opened, .didNotOpen: false
        }
    }

    func open() throws -> VarlinkClient {
        switch state {
        case .opensAtAnyTime: return try Self.connect()
        case .didNotOpen(let error): throw error
        case .opened(var connections):
            guard !connections.isEmpty else { throw VarlinkClientError.closed }
            let next = connections.removeFirst()
            state = .opened(connections)
            return next
        }
    }

    private static func connect() throws -> VarlinkClient {
        try BrokerConnection.connect(to: .agent, timeout: AgentConnection.timeout)
    }
}
