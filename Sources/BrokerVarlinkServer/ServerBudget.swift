/// Limits the memory that the connections of all users use together, the pace of each user's long calls, and the threads
/// that close connections, at all servers that share this budget. Used only on the event loop.
public final class ServerBudget {
    /// The limit on ``heldBytes``.
    public let bytes: Int
    /// The bytes of calls and unread replies of all connections.
    public private(set) var heldBytes = 0
    /// The number of open connections, including those that are not admitted yet.
    public var connectionCount: Int { accounts.values.reduce(0) { $0 + $1.connections } }
    /// The accounts that have connections. A user has a separate account at each server.
    private var accounts: [ObjectIdentifier: UserAccount] = [:]
    var pace: LongCallPace
    let closer = Closer()

    public init(_ limits: ServerLimits = ServerLimits()) {
        bytes = limits.bytesOfAllUsers
        pace = LongCallPace(bytesPerSecond: limits.longCallBytesPerSecond)
    }

    func open(_ account: UserAccount) { accounts[ObjectIdentifier(account)] = account }
    func close(_ account: UserAccount) { accounts[ObjectIdentifier(account)] = nil }

    /// Adds a difference to ``heldBytes``. While the limit is exceeded, closes the heaviest connection of the
    /// user with the most bytes.
    func hold(_ difference: Int) {
        heldBytes += difference
        guard difference > 0 else { return }
        while heldBytes > bytes, let connection = heaviestConnection { connection.close(because: .userHoldsMost) }
    }

    private var heaviestConnection: SocketConnection? {
        var held: [AccountOwner: Int] = [:]
        for account in accounts.values { held[account.owner, default: 0] += account.heldBytes }
        let owner = held.max { $0.value < $1.value }?.key
        return accounts.values.lazy.filter { $0.owner == owner }.compactMap(\.heaviestConnection)
            .max { $0.heldBytes < $1.heldBytes }
    }
}
