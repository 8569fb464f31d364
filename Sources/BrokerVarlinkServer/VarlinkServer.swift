import BrokerBounds
import BrokerVarlink
import CBrokerLinux
import Glibc

/// A listening Unix socket that serves calls. The server and all code that it calls run only on the event
/// loop.
public final class VarlinkServer: Watcher {
    /// Decides whether to admit a peer. The server reads no byte from the peer before the decision. `decide`
    /// may be called later, on the event loop. No decision is needed if the peer closes the connection first.
    public typealias Admit = (AcceptedPeer, _ decide: PendingAdmission) -> Void

    /// Called once if the socket stops accepting connections although ``close()`` was not called.
    public var onFailure: ((_ reason: String) -> Void)?
    /// The number of open connections, including those that are not admitted yet.
    public var connectionCount: Int { connections.count }

    let limits: ServerLimits
    let loop: EventLoop
    let admit: Admit
    let onCall: (Call) -> Void
    /// A buffer in which small replies are combined.
    var scratch: [UInt8] = []

    private let onClose: (any Connection, CloseReason) -> Void
    private let socket: ListeningSocket
    private var isClosed = false
    private var watching: Watching?
    /// The timer that ends a pause in accepting; see ``pauseAccepting()``.
    private var pause: Timer?
    private var connections: [ObjectIdentifier: SocketConnection] = [:]
    private var accounts: [AccountOwner: UserAccount] = [:]
    private let budget: ServerBudget
    private let isKnown: (uid_t) -> Bool

    /// The origin of the socket.
    public enum Place: Hashable, Sendable {
        /// The server creates the socket at this path. The folder must exist. A stale socket without a
        /// listener is replaced.
        case path(String)
        /// Another process, such as systemd, created the socket and listens on it. The server owns the
        /// descriptor and does not remove the socket's file.
        case passed(PassedSocket)
    }

    /// Starts to listen.
    ///
    /// Call this on the event loop.
    /// - Parameters:
    ///   - mode: the permissions of the socket's file if the server creates it, in effect from the start.
    ///   - budget: the budget, which several servers may share; `nil` for a separate one.
    ///   - isKnown: whether a user ID belongs to a user of this machine. All other user IDs count as one
    ///     user. Called for each new connection, so it must not block.
    ///   - onCall: called with one call at a time for each connection. For the same connection it is called
    ///     again only after the previous call has ended, and never from within `reply` or `fail`.
    ///   - onClose: called once when an admitted connection has closed, after its unfinished call, if any,
    ///     was abandoned.
    public init(
        at place: Place, mode: mode_t = 0o600, loop: EventLoop, limits: ServerLimits = ServerLimits(),
        budget: ServerBudget? = nil, isKnown: @escaping (uid_t) -> Bool = { _ in true },
        admit: @escaping Admit = { _, decide in decide(.admit(context: nil)) },
        onCall: @escaping (Call) -> Void,
        onClose: @escaping (any Connection, CloseReason) -> Void = { _, _ in }
    ) throws(ServerError) {
        switch place {
        case .path(let path): socket = try ListeningSocket.bind(path: path, mode: mode, backlog: VarlinkServer.backlog)
        case .passed(let passed): socket = try ListeningSocket.adopt(descriptor: passed.descriptor)
        }
        self.limits = limits
        self.budget = budget ?? ServerBudget(limits)
        self.isKnown = isKnown
        self.admit = admit
        self.onCall = onCall
        self.onClose = onClose
        self.loop = loop
        watching = loop.inside.watchlist.add(socket.descriptor, .readable, self)
        if watching == nil { loop.soon { self.failed("the kernel cannot watch another descriptor") } }
    }

    /// Closes the socket and every connection at once, and removes the socket's file if the server created
    /// it.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        socket.unlinkFile()
        stopListening()
        for connection in Array(connections.values) { connection.close() }
    }

    private func stopListening() {
        pause?.cancel()
        guard let watching else { return }
        loop.inside.watchlist.remove(watching)
        self.watching = nil
        // Connections that were not accepted may hold descriptors that their peers sent.
        Closer.closeByThread(socket.descriptor)
    }

    // MARK: Accepting

    func isReady(_ readiness: Readiness) {
        // accept(2) does not say so: it reports EAGAIN, and epoll reports the socket again and again.
        if readiness.contains(.hungUp) { return failed("another program has shut it down") }
        for _ in 0..<Self.acceptsPerIteration {
            guard !isClosed, watching != nil else { return }
            guard hasFreeDescriptors else { return pauseAccepting() }
            let descriptor = clinux_accept(socket.descriptor)
            if descriptor >= 0 {
                welcome(descriptor)
                continue
            }
            switch -descriptor {
            case EAGAIN: return
            // The peer closed the connection before it was accepted, or a firewall rule forbids it
            // (accept(2)).
            case ECONNABORTED, EPERM: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return pauseAccepting()
            case let code: return failed(String(cString: strerror(code)))
            }
        }
    }

    /// Whether more than ``ServerLimits/descriptorsForFiles`` descriptors are free. The kernel always gives the lowest
    /// one that is free, so all below it are in use.
    private var hasFreeDescriptors: Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return true }
        let lowest = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
        guard lowest >= 0 else { return false }
        Glibc.close(lowest)
        return rlim_t(lowest) + rlim_t(limits.descriptorsForFiles) < limit.rlim_cur
    }

    /// Pauses accepting until a descriptor may be free. Without the pause, epoll would report the waiting
    /// peers in every iteration.
    private func pauseAccepting() {
        guard let watching, pause == nil else { return }
        loop.inside.watchlist.change(watching, to: [])
        pause = loop.after(Self.acceptPause) { [weak self] in self?.goOn() }
    }

    private func goOn() {
        guard let pause, let watching else { return }
        pause.cancel()
        self.pause = nil
        loop.inside.watchlist.change(watching, to: .readable)
    }

    private func failed(_ reason: String) {
        guard !isClosed else { return }
        stopListening()
        onFailure?(reason)
    }

    /// Sets up an accepted connection, or closes it if the limits do not allow it.
    private func welcome(_ descriptor: CInt) {
        var credentials = clinux_credentials()
        guard clinux_peer_credentials(descriptor, &credentials) == 0, clinux_know_writers(descriptor) == 0 else {
            return budget.closer.close(descriptor, of: .strangers, on: loop)
        }
        let owner: AccountOwner = isKnown(credentials.uid) ? .user(credentials.uid) : .strangers
        let user = accounts[owner] ?? UserAccount(owner, limits: limits, budget: budget)
        let hasRoom = !user.isFull && (connections.count < limits.connections || user.hasReserve)
        let account = user.account(.process(credentials.pid))
        let peer = AcceptedPeer(descriptor: descriptor, userID: credentials.uid, processID: credentials.pid)
        let connection = SocketConnection(peer: peer, account: account, server: self)
        guard hasRoom || user.giveWay(to: credentials.pid), connection.begin() else {
            return budget.closer.close(descriptor, of: owner, on: loop)
        }
        accounts[owner] = user
        account.open(connection)
        connections[ObjectIdentifier(connection)] = connection
        connection.askForAdmission()
    }

    // MARK: -

    func closed(_ connection: SocketConnection, wasAdmitted: Bool, because reason: CloseReason) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        if wasAdmitted { onClose(connection, reason) }
    }

    /// Called when a connection of the user no longer uses a descriptor.
    func released(_ user: UserAccount) {
        if user.connections == 0, accounts[user.owner] === user { accounts[user.owner] = nil }
        goOn()
    }

    /// The kernel's default maximum (net.core.somaxconn is 4096).
    private static let backlog: CInt = 4_096
    /// The maximum number of connections accepted per iteration, so that open connections are served in
    /// between.
    private static let acceptsPerIteration = 64
    /// How long to wait for a free descriptor.
    private static let acceptPause = Duration.milliseconds(100)
}
