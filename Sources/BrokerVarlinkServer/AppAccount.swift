import BrokerBounds
import Glibc

/// The resources that the connections of one app of a user use at one socket. Used only on the event loop.
final class AppAccount {
    enum Name: Hashable {
        /// The app that ``Admission/admit(context:app:)`` named.
        case app(AnyHashable)
        /// The process, for a connection that is not admitted yet or was admitted without an app.
        case process(pid_t)
    }

    let name: Name
    let user: UserAccount
    /// In the order in which they were added to this account.
    private(set) var connections: [SocketConnection] = []
    private(set) var callBytes = 0
    private(set) var replyBytes = 0
    /// Connections on which reading is paused, because the app's buffered calls use too many bytes.
    private var paused: [SocketConnection] = []
    /// The one connection that may read beyond the limit. Without it, several unfinished long calls could
    /// reach the limit together, and none would be completed. Each app has its own such connection, so no app
    /// waits for another app's call.
    private weak var exempt: SocketConnection?

    init(_ name: Name, of user: UserAccount) {
        self.name = name
        self.user = user
    }

    // MARK: Connections

    var isFull: Bool { connections.count >= user.limits.connectionsPerApp }

    func open(_ connection: SocketConnection) {
        connections.append(connection)
        user.opened(by: self)
    }

    func close(_ connection: SocketConnection) {
        guard let index = connections.lastIndex(where: { $0 === connection }) else { return }
        connections.remove(at: index)
        user.closed(by: self)
    }

    /// The newest open connection that is not busy; if all are busy, the newest one.
    var mostDispensable: SocketConnection? {
        connections.last { !$0.isClosed && !$0.isBusy } ?? connections.last { !$0.isClosed }
    }

    // MARK: Memory

    /// The connection whose calls use the most bytes. If any connections have an unfinished long call, only
    /// these are considered.
    var heaviestCall: SocketConnection? {
        let unfinished = connections.filter(\.hasUnfinishedLongCall)
        return (unfinished.isEmpty ? connections : unfinished).filter { $0.callBytes > 0 }
            .max { $0.callBytes < $1.callBytes }
    }

    /// Whether a connection with part of a long call may continue to read.
    func mayRead(_ connection: SocketConnection) -> Bool {
        guard callBytes > user.limits.callBytesPerApp, exempt !== connection else { return true }
        guard exempt != nil else {
            exempt = connection
            return true
        }
        if !paused.contains(where: { $0 === connection }) { paused.append(connection) }
        return false
    }

    private var payer: LongCallPayer { LongCallPayer(user: user.owner, app: name) }

    /// Counts bytes of a long call that were read; see ``ServerBudget/pace``.
    func paceLongCall(_ bytes: Int) {
        user.budget.pace.add(Int64(bytes), to: payer, now: Uptime.now().microseconds) { $0.user == user.owner }
    }

    /// For how long no more of the app's long calls may be read; `nil` if they may be read at once.
    var pause: Duration? {
        let wait = user.budget.pace.wait(of: payer, now: Uptime.now().microseconds)
        return wait > 0 ? .microseconds(wait) : nil
    }

    func holdCallBytes(_ difference: Int) {
        callBytes += difference
        user.holdCallBytes(difference)
    }

    /// Call this when a connection no longer has a long call buffered, or is closed.
    func finishedLongCall(_ connection: SocketConnection) {
        if exempt === connection { exempt = nil }
        paused.removeAll { $0 === connection }
        guard !paused.isEmpty, exempt == nil || callBytes <= user.limits.callBytesPerApp else { return }
        let waiting = paused
        paused = []
        for connection in waiting { connection.readOn() }
    }

    func holdReplyBytes(_ difference: Int) {
        replyBytes += difference
        user.holdReplyBytes(difference)
    }
}
