import Glibc

/// Whose resources a connection uses.
enum AccountOwner: Hashable {
    case user(uid_t)
    /// All user IDs that are not known, together. One user can have tens of thousands of sub-UIDs.
    case strangers
}

/// The resources that all connections of one user at one socket use in total. Used only on the event loop.
final class UserAccount {
    let owner: AccountOwner
    let limits: ServerLimits
    private let budget: ServerBudget

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

    /// The user may have another connection even if the socket has no room for others.
    var hasReserve: Bool { owner != .strangers && connections < limits.reservedPerUser }
    var isFull: Bool {
        connections >= (owner == .strangers ? limits.connectionsOfStrangers : limits.connectionsPerUser)
    }

    func account(_ name: AppAccount.Name) -> AppAccount { apps[name] ?? AppAccount(name, of: self) }

    /// Closes one connection of the app with the most, for a new connection of this process.
    ///
    /// So no program can shut out another one of its user: neither with copies of itself, which are several apps, nor
    /// with connections that were not identified yet.
    /// - Returns: `false` if the process itself has as many as any app; a connection for it would be no fairer.
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

    /// Counts bytes of calls. While they exceed the limit, closes the heaviest call of the app that holds the most.
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

    /// Counts unsent bytes. While they exceed the limit, closes the connection that has not read for longest, of the app
    /// that holds the most.
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
