import BrokerConnection
import BrokerVarlinkClient

/// Connects to the broker's socket for agents.
///
/// The installed agent connects before it gives up its group, and cannot connect again afterwards. To
/// reconnect, it restarts itself.
final class AgentConnector {
    /// The unused connections, or the error that occurred while opening them; `nil` if this process can
    /// connect at any time.
    private var opened: Result<[VarlinkClient], any Error>?

    /// Creates a connector that connects at each ``open()``.
    init() {}

    /// Creates a connector that opens `count` connections immediately, and none later.
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
