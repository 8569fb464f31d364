import BrokerBounds
import Glibc

/// The owner of the account that a connection counts toward.
enum AccountOwner: Hashable {
    case user(uid_t)
    /// All unknown user IDs together, because one user can have tens of thousands of sub-UIDs.
    case strangers
}

/// The resources that all connections of one user at one socket use in total. Used only on the event loop.
final class UserAccount {
    let owner: AccountOwner
    let limits: ServerLimits
    let budget: ServerBudget
    private(set) lazy var longCalls = LongCalls()

    private(set) var connections = 0
    private(set) var callBytes = 0
    private(set) var replyBytes = 0
    /// The apps with connections.
    private var apps: [AppAccount.Name: AppAccount] = [:]
    /// Connections with replies that their peers have not read.
    private var stalled: [ObjectIdentifier: SocketConnection] = [:]

    init(_ owner: AccountOwner, limits: ServerLimits, budget: ServerBudget) {
        self.owner = owner
        self.limits = limits
        self.budget = budget
    }

    // MARK: Connections

    /// Whether the user may open another connection even if the socket has reached its limit.
    var hasReserve: Bool { owner != .strangers && connections < limits.reservedPerUser }
    var isFull: Bool {
        connections >= (owner == .strangers ? limits.connectionsOfStrangers : limits.connectionsPerUser)
    }

    func account(_ name: AppAccount.Name) -> AppAccount { apps[name] ?? AppAccount(name, of: self) }

    /// Closes one connection of the app with the most connections, to make room for a new connection of this
    /// process.
    ///
    /// A program therefore cannot shut out the user's other programs. This is true even if it runs copies of
    /// itself that count as different apps, or opens connections that are not identified yet.
    /// - Returns: `false` if no app has at least two connections more than the process. Closing one would
    ///   then not be fairer.
    func giveWay(to process: pid_t) -> Bool {
        let own = apps[.process(process)]?.connections.count ?? 0
        let largest = apps.values.max { $0.connections.count < $1.connections.count }
        guard let largest, largest.connections.count > own + 1, let connection = largest.mostDispensable else {
            return false
        }
        connection.close(because: .gaveWay)
        return true
    }

    func opened(by app: AppAccount) {
        apps[app.name] = app
        connections += 1
        if connections == 1 { budget.open(self) }
    }

    func closed(by app: AppAccount) {
        if app.connections.isEmpty { apps[app.name] = nil }
        connections -= 1
        if connections == 0 { budget.close(self) }
    }

    // MARK: Memory

    var heldBytes: Int { callBytes + replyBytes }
    var heaviestConnection: SocketConnection? {
        apps.values.lazy.flatMap(\.connections).filter { $0.heldBytes > 0 }.max { $0.heldBytes < $1.heldBytes }
    }

    /// Adds a difference to ``callBytes``. While the limit is exceeded, closes a connection of the app whose
    /// calls use the most bytes: its ``AppAccount/heaviestCall``.
    func holdCallBytes(_ difference: Int) {
        callBytes += difference
        budget.hold(difference)
        guard difference > 0 else { return }
        while callBytes > limits.callBytesPerUser,
            let connection = apps.values.max(by: { $0.callBytes < $1.callBytes })?.heaviestCall
        {
            connection.close(because: .appHoldsTooMuch)
        }
    }

    func stall(_ connection: SocketConnection) { stalled[ObjectIdentifier(connection)] = connection }
    func unstall(_ connection: SocketConnection) { stalled[ObjectIdentifier(connection)] = nil }

    /// Adds a difference to ``replyBytes``. While the limit is exceeded, closes a stalled connection of the
    /// app with the most unread bytes: the one that has made no progress for longest.
    func holdReplyBytes(_ difference: Int) {
        replyBytes += difference
        budget.hold(difference)
        guard difference > 0 else { return }
        while replyBytes > limits.replyBytesPerUser,
            let slowest = stalled.values.max(by: {
                ($0.unreadOfApp, $1.lastProgress) < ($1.unreadOfApp, $0.lastProgress)
            })
        {
            slowest.close(because: .userHoldsTooMuch)
        }
    }
}
