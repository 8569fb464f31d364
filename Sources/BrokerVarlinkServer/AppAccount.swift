import Glibc

/// The resources that the connections of one app of a user use at one socket. Used only on the event loop.
final class AppAccount {
    enum Name: Hashable {
        /// As the owner of the server has identified it.
        case app(AnyHashable)
        /// A connection counts for its process until it is admitted, or if its app is not named then.
        case process(pid_t)
    }

    let name: Name
    let user: UserAccount
    /// In the order in which they were opened.
    private(set) var connections: [SocketConnection] = []
    private(set) var callBytes = 0
    private(set) var replyBytes = 0
    /// Connections that are not read, because the app has too many buffered bytes of calls.
    private var paused: [SocketConnection] = []
    /// The one connection that may still read beyond the limit, so that long calls which together fill it are completed
    /// one by one. Each app has its own, so that no app waits for another one's call.
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

    /// The newest connection without a call, or the newest.
    var mostDispensable: SocketConnection? { connections.last { !$0.isBusy } ?? connections.last }

    // MARK: Memory

    /// The connection that holds the most bytes of calls: one with an unfinished long call, if there is one.
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

    func holdCallBytes(_ difference: Int) {
        callBytes += difference
        user.holdCallBytes(difference)
    }

    /// Called when a connection has no long call any more, or is closed.
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
