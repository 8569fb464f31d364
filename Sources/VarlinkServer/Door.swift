import CLinux
import Glibc
import NIOCore
import NIOPosix
import Varlink

/// One Unix socket at which calls are taken. It lives on the loop, and so does everything it calls.
public final class Door {
    /// Decides about someone who has connected. Nothing they say is read before the answer, which may come later,
    /// on the loop; it may also never come, if they hang up first.
    public typealias Admit = (AcceptedPeer, _ decide: @escaping (Admission) -> Void) -> Void

    /// Where the door is; `nil` where its socket has no path.
    public let path: String?
    /// Called once if the door stops taking connections though nobody closed it.
    public var onFailure: ((_ reason: String) -> Void)?
    /// Connections open now, those not admitted yet included.
    public var connectionCount: Int { connections.count }

    let limits: DoorLimits
    let eventLoop: any EventLoop
    let admit: Admit
    let onCall: (Call) -> Void
    /// Where small replies are gathered.
    var scratch: [UInt8] = []

    private let onClose: (any Connection, CloseReason) -> Void
    private let socket: ListeningSocket
    private var channel: (any Channel)?
    private var isClosed = false
    private var lastListened = NIODeadline.uptimeNanoseconds(0)
    private var lingering = Lingering()
    /// Who was answered in this turn, if it was one.
    private var answered: (connection: ConnectionHandler?, count: Int) = (nil, 0)
    private var connections: [ObjectIdentifier: ConnectionHandler] = [:]
    private var accounts: [uid_t: UserAccount] = [:]

    /// Opens a door at a path. The folder must exist; a left-over socket that nobody answers at is replaced.
    ///
    /// Must be called on the loop.
    /// - Parameters:
    ///   - mode: who may connect, by the file's permissions, from the first moment.
    ///   - onCall: called for one call after the other of each connection: for the next only when the one before is
    ///     over, and never from within a `reply` or `fail`.
    ///   - onClose: called once for each admitted connection, after its last call was abandoned.
    public static func open(
        at path: String, mode: mode_t, loop: NIOLoop, limits: DoorLimits = DoorLimits(),
        admit: @escaping Admit = { _, decide in decide(.admit(context: nil)) },
        onCall: @escaping (Call) -> Void,
        onClose: @escaping (any Connection, CloseReason) -> Void = { _, _ in }
    ) throws(DoorError) -> Door {
        let socket = try ListeningSocket.bind(path: path, mode: mode, backlog: backlog)
        return Door(
            socket: socket, path: path, loop: loop, limits: limits, admit: admit, onCall: onCall, onClose: onClose)
    }

    /// Opens a door at a listening socket that somebody else has bound, such as systemd. Its file stays theirs.
    ///
    /// Must be called on the loop. The descriptor belongs to the door afterwards.
    public static func adopt(
        _ passed: PassedSocket, loop: NIOLoop, limits: DoorLimits = DoorLimits(),
        admit: @escaping Admit = { _, decide in decide(.admit(context: nil)) },
        onCall: @escaping (Call) -> Void,
        onClose: @escaping (any Connection, CloseReason) -> Void = { _, _ in }
    ) throws(DoorError) -> Door {
        let socket = try ListeningSocket.adopt(descriptor: passed.descriptor)
        return Door(
            socket: socket, path: passed.path, loop: loop, limits: limits, admit: admit, onCall: onCall,
            onClose: onClose)
    }

    private init(
        socket: ListeningSocket, path: String?, loop: NIOLoop, limits: DoorLimits, admit: @escaping Admit,
        onCall: @escaping (Call) -> Void, onClose: @escaping (any Connection, CloseReason) -> Void
    ) {
        self.socket = socket
        self.path = path
        self.limits = limits
        self.admit = admit
        self.onCall = onCall
        self.onClose = onClose
        eventLoop = loop.eventLoop
        listen(loop)
    }

    /// Closes the door and every connection, at once, and removes the socket's file if it is ours.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        socket.unlinkFile()
        channel?.close(promise: nil)
        for connection in Array(connections.values) { connection.close() }
    }

    private func listen(_ loop: NIOLoop) {
        let door = LoopBound(self, loop: loop)
        ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: Self.backlog)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try door.value.welcome(channel) }
            }
            .withBoundSocket(socket.descriptor)
            .assumeIsolated()
            .whenComplete { self.listens($0) }
    }

    private func listens(_ result: Result<any Channel, any Error>) {
        switch result {
        case .success(let channel):
            guard !isClosed else { return channel.close(promise: nil) }
            self.channel = channel
            channel.closeFuture.assumeIsolated().whenComplete { [weak self] _ in self?.failed("the socket was closed") }
        case .failure(let error):
            failed("\(error)")
        }
    }

    private func failed(_ reason: String) {
        guard !isClosed else { return }
        onFailure?(reason)
    }

    private enum Refusal: Error {
        case closed
        case unknownPeer
        case tooManyConnections
    }

    /// Takes the connection in, if there is room. Throwing makes NIO close it.
    private func welcome(_ channel: any Channel) throws {
        guard !isClosed else { throw Refusal.closed }
        let pipeline = channel.pipeline.syncOperations
        // Sound: the descriptor is only used while the channel is open, by its own handler.
        let descriptor = try pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
        var credentials = clinux_credentials()
        guard let descriptor, clinux_peer_credentials(descriptor, &credentials) == 0 else {
            throw Refusal.unknownPeer
        }
        let account =
            accounts[credentials.uid]
            ?? UserAccount(userID: credentials.uid, bytesInFlight: limits.bytesInFlightPerUser)
        guard connections.count < limits.connections, account.connections < limits.connectionsPerUser else {
            throw Refusal.tooManyConnections
        }
        let peer = AcceptedPeer(descriptor: descriptor, userID: credentials.uid, processID: credentials.pid)
        let connection = ConnectionHandler(peer: peer, account: account, door: self)
        try pipeline.addHandler(connection)
        accounts[credentials.uid] = account
        account.join()
        connections[ObjectIdentifier(connection)] = connection
    }

    // MARK: Turns

    /// A connection was heard just now.
    func listened() { lastListened = .now() }

    /// Runs work in a turn of its own. NIO's loop goes on with work that makes more work before it hears the
    /// connections again, so now and then the work waits long enough that it must.
    func runSoon(_ work: @escaping () -> Void) {
        if NIODeadline.now() - lastListened < Self.longestTurn {
            eventLoop.assumeIsolated().execute(work)
        } else {
            eventLoop.assumeIsolated().scheduleTask(in: .microseconds(10)) {
                self.listened()
                work()
            }
        }
    }

    /// A connection was sent its last reply for now. At the end of the turn its next call may be worth a moment's waiting.
    func answered(_ connection: ConnectionHandler) {
        answered = (connection, answered.count + 1)
        guard answered.count == 1 else { return }
        guard lingering.begins() else { return answered = (nil, 0) }
        eventLoop.assumeIsolated().execute { self.linger() }
    }

    private func linger() {
        let (connection, count) = answered
        answered = (nil, 0)
        guard count == 1, let connection, let descriptor = connection.readableDescriptor else { return }
        lingering.ended(heard: Lingering.hears(descriptor))
    }

    private static let longestTurn = TimeAmount.microseconds(300)

    // MARK: -

    func closed(_ connection: ConnectionHandler, account: UserAccount, wasAdmitted: Bool, because reason: CloseReason) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        account.leave()
        if account.connections == 0 { accounts[account.userID] = nil }
        if wasAdmitted { onClose(connection, reason) }
    }

    /// As many as the kernel allows (net.core.somaxconn is 4096).
    private static let backlog: CInt = 4_096
}
