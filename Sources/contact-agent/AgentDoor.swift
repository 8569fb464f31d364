import BrokerConnection
import BrokerVarlinkClient

/// Opens the broker's door for agents.
///
/// Of the installed agent the door was opened before it gave up its group, and cannot be opened again: for that the agent
/// starts itself anew.
final class AgentDoor {
    /// Connections that nobody has taken yet, or why there are none; `nil` where the door opens at any time.
    private var opened: Result<[VarlinkClient], any Error>?

    /// One that opens whenever it is asked to.
    init() {}

    /// One that was opened so often, now.
    init(opening count: Int) {
        opened = Result { try (0..<count).map { _ in try Self.connect() } }
    }

    var canOpenAgain: Bool { opened == nil }

    func open() throws -> VarlinkClient {
        guard let opened else { return try Self.connect() }
        var connections = try opened.get()
        guard !connections.isEmpty else { throw VarlinkClientError.closed }
        let next = connections.removeFirst()
        self.opened = .success(connections)
        return next
    }

    private static func connect() throws -> VarlinkClient {
        try BrokerConnection.connect(to: .agent, timeout: AgentConnection.timeout)
    }
}
