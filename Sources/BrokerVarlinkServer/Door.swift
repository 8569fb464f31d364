import BrokerVarlink
import CBrokerLinux
import Glibc

/// One Unix socket at which calls are taken. It lives on the loop, and so does everything it calls.
public final class Door: Watcher {
    /// Decides about someone who has connected. Nothing they say is read before the answer, which may come later,
    /// on the loop; it may also never come, if they hang up first.
    public typealias Admit = (AcceptedPeer, _ decide: PendingAdmission) -> Void

    /// Called once if the door stops taking connections though nobody closed it.
    public var onFailure: ((_ reason: String) -> Void)?
    /// Connections open now, those not admitted yet included.
    public var connectionCount: Int { connections.count }

    let limits: DoorLimits
    let loop: EventLoop
    let admit: Admit
    let onCall: (Call) -> Void
    /// Where small replies are gathered.
    var scratch: [UInt8] = []

    private let onClose: (any Connection, CloseReason) -> Void
    private let socket: ListeningSocket
    private var isClosed = false
    private var watching: Watching?
    /// Waits until there may be descriptors again.
    private var pause: Timer?
    private var connections: [ObjectIdentifier: SocketConnection] = [:]
    private var accounts: [uid_t: UserAccount] = [:]

    /// Where a door's socket comes from.
    public enum Place: Hashable, Sendable {
        /// Made by us at this path. The folder must exist; a left-over socket that nobody answers at is replaced.
        case path(String)
        /// Bound and listened at by somebody else, such as systemd. The descriptor is the door's from then on; the file stays theirs.
        case passed(PassedSocket)
    }

    /// Opens a door.
    ///
    /// Must be called on the loop.
    /// - Parameters:
    ///   - mode: who may connect to a socket that we make, by the file's permissions, from the first moment.
    ///   - onCall: called for one call after the other of each connection: for the next only when the one before is
    ///     over, and never from within a `reply` or `fail`.
    ///   - onClose: called once for each admitted connection, after its last call was abandoned.
    public init(
        at place: Place, mode: mode_t = 0o600, loop: EventLoop, limits: DoorLimits = DoorLimits(),
        admit: @escaping Admit = { _, decide in decide(.admit(context: nil)) },
        onCall: @escaping (Call) -> Void,
        onClose: @escaping (any Connection, CloseReason) -> Void = { _, _ in }
    ) throws(DoorError) {
        switch place {
        case .path(let path): socket = try ListeningSocket.bind(path: path, mode: mode, backlog: Door.backlog)
        case .passed(let passed): socket = try ListeningSocket.adopt(descriptor: passed.descriptor)
        }
        self.limits = limits
        self.admit = admit
        self.onCall = onCall
        self.onClose = onClose
        self.loop = loop
        watching = loop.inside.watchlist.add(socket.descriptor, .readable, self)
        if watching == nil { loop.soon { self.failed("the kernel has no room to wait for it") } }
    }

    /// Closes the door and every connection, at once, and removes the socket's file if it is ours.
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
        Glibc.close(socket.descriptor)
    }

    // MARK: Accepting

    func isReady(_ readiness: Readiness) {
        for _ in 0..<Self.acceptedInTurn {
            guard !isClosed, watching != nil else { return }
            let descriptor = clinux_accept(socket.descriptor)
            if descriptor >= 0 {
                welcome(descriptor)
                continue
            }
            switch -descriptor {
            case EAGAIN: return
            // They hung up before they were let in, or a rule of the machine's administrator forbids them.
            case ECONNABORTED, EPERM: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return rest()
            case let code: return failed(String(cString: strerror(code)))
            }
        }
    }

    /// Leaves whoever wants in where they wait, until a descriptor may be free: to be told of them in every turn
    /// would change nothing.
    private func rest() {
        guard let watching, pause == nil else { return }
        loop.inside.watchlist.change(watching, to: [])
        pause = loop.after(Self.rest) { [weak self] in self?.goOn() }
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

    /// Takes the connection in, if there is room.
    private func welcome(_ descriptor: CInt) {
        var credentials = clinux_credentials()
        guard clinux_peer_credentials(descriptor, &credentials) == 0, clinux_know_writers(descriptor) == 0,
            connections.count < limits.connections
        else {
            Glibc.close(descriptor)
            return
        }
        let account =
            accounts[credentials.uid]
            ?? UserAccount(userID: credentials.uid, bytesInFlight: limits.bytesInFlightPerUser)
        let peer = AcceptedPeer(descriptor: descriptor, userID: credentials.uid, processID: credentials.pid)
        let connection = SocketConnection(peer: peer, account: account, door: self)
        guard account.connections < limits.connectionsPerUser, connection.begin() else {
            Glibc.close(descriptor)
            return
        }
        accounts[credentials.uid] = account
        account.join()
        connections[ObjectIdentifier(connection)] = connection
        connection.askForAdmission()
    }

    // MARK: -

    func closed(_ connection: SocketConnection, account: UserAccount, wasAdmitted: Bool, because reason: CloseReason) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        account.leave()
        if account.connections == 0 { accounts[account.userID] = nil }
        goOn()
        if wasAdmitted { onClose(connection, reason) }
    }

    /// As many as the kernel allows (net.core.somaxconn is 4096).
    private static let backlog: CInt = 4_096
    /// Who else wants in has their turn after those who are in.
    private static let acceptedInTurn = 64
    /// How long to wait for a descriptor that somebody else may let go of.
    private static let rest = Duration.milliseconds(100)
}
