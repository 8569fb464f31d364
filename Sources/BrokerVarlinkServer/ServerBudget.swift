import BrokerBounds

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
    /// Limits how fast the servers read the long calls of each user, in bytes and microseconds. The user's apps share
    /// the pace.
    ///
    /// An app that sends large calls without a pause then does not keep the processors busy that other users need. Its
    /// copies, which may count as different apps, get no more than the app, and another app of the user is not delayed
    /// unless it also sends large calls without a pause.
    var pace: Pace<LongCallPayer>
    let closer: Closer

    public init(_ limits: ServerLimits = ServerLimits()) {
        bytes = limits.bytesOfAllUsers
        closer = Closer(threadsPerUser: limits.closingThreadsPerUser)
        let ahead = limits.longCallsAhead.microseconds
        pace = Pace(.init(amount: Int64(limits.longCallBytesPerSecond) * ahead / 1_000_000, time: ahead))
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

/// An app whose long calls count.
struct LongCallPayer: Hashable {
    let user: AccountOwner
    let app: AppAccount.Name
}
