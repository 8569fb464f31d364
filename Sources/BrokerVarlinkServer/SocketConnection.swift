import BrokerBounds
import BrokerVarlink
import Glibc

/// One connection: reads frames, dispatches calls one after the other, and sends their replies in order.
///
/// Replies can be withdrawn until the kernel takes them. A connection is used only on the event loop.
final class SocketConnection: Connection, Watcher {
    var context: AnyObject?
    private(set) var isClosed = false
    /// When sending last stalled. If the peer then reads only a part of the replies, sending continues and
    /// stalls again, which counts as progress.
    private(set) var lastProgress = Uptime.beginning

    let server: VarlinkServer
    let loop: EventLoop
    /// The account of the connection's process. After admission it is the account of its app, if
    /// ``Admission/admit(context:app:)`` named one.
    private(set) var account: AppAccount
    let limits: ServerLimits
    let peer: AcceptedPeer
    private var isAdmitted = false
    private lazy var pending = PendingAdmission { [weak self] in self?.decided($0) }
    private var watching: Watching?
    /// The readiness for which epoll watches.
    private var interest: Readiness = []
    /// The timer that ends a pause in reading a long call.
    private var pause: Timer?
    private var closeReason = CloseReason.peerClosed

    var decoder: FrameDecoder
    private(set) var current: Call?
    /// Whether another thread parses the next call. No other call is dispatched meanwhile.
    private var isParsing = false
    var isOccupied: Bool { current != nil || isParsing }
    /// The memory that the current call, or the frame that is being parsed, uses, in bytes.
    private(set) var currentSize = 0
    /// The bytes of calls that ``account`` has counted for this connection.
    private(set) var callBytes = 0
    private var replyBytes = 0
    private var isDispatching = false
    private var dispatchIsDue = false
    /// Whether the peer has closed its sending end. It may still read replies.
    var inputHasEnded = false

    private(set) var outgoing = OutgoingReplies()
    /// Whether the kernel accepts no more bytes until the peer reads.
    private var isStalled = false
    private var replySize = 0
    private var isFlushing = false
    private var waitingToWrite: [() -> Void] = []
    private var writeIsDue = false
    private var isWriting = false

    private lazy var frameWatch = Watch(loop: loop, timeout: limits.frameTimeout) { [weak self] in
        self?.close(because: .unfinishedFrame)
    }
    private lazy var stallWatch = Watch(loop: loop, timeout: limits.stallTimeout) { [weak self] in
        self?.close(because: .peerDoesNotRead)
    }

    init(peer: AcceptedPeer, account: AppAccount, server: VarlinkServer) {
        self.peer = peer
        self.account = account
        self.server = server
        loop = server.loop
        limits = server.limits
        decoder = FrameDecoder(maximumFrameSize: server.limits.frameSize, keptCapacity: Self.keptBytes)
    }

    /// Starts to watch the peer. The connection reads nothing before it is admitted.
    ///
    /// - Returns: `false` if the kernel cannot watch another descriptor.
    func begin() -> Bool {
        watching = loop.inside.watchlist.add(peer.descriptor, interest, self)
        return watching != nil
    }

    func askForAdmission() { server.admit(peer, pending) }

    // MARK: Readiness

    func isReady(_ readiness: Readiness) {
        if readiness.contains(.writable) { flushOn() }
        guard !isClosed else { return }
        if readiness.contains(.hungUp), isOccupied || !interest.contains(.readable) {
            // No process can receive a reply.
            close(because: .peerClosed)
        } else if interest.contains(.readable), !readiness.isDisjoint(with: [.readable, .hungUp]) {
            receive()
        }
    }

    /// Receives once, up to a limit, so that other connections are served in between.
    private func receive() {
        switch ReceiveOutcome.ofReceiving(from: peer, into: &decoder, through: &loop.inside.scratch) {
        case .took(let count):
            if decoder.bufferedBytes > limits.pipelinedBytes { account.paceLongCall(count) }
            dispatch()
        case .nothing: break
        case .ended:
            inputHasEnded = true
            listen(to: interest.subtracting(.readable))
            dispatch()
        case .foreign(let processID, let userID):
            close(because: .foreignBytes(writer: processID, writerUser: userID, owner: peer.processID))
        case .withDescriptors: close(because: .sentDescriptors)
        case .failed(let code): close(because: CloseReason(errno: code))
        }
    }

    func listen(to readiness: Readiness) {
        guard interest != readiness, let watching else { return }
        interest = readiness
        loop.inside.watchlist.change(watching, to: readiness)
    }

    private func decided(_ admission: Admission) {
        guard !isClosed, !isAdmitted else { return }
        switch admission {
        case .admit(let context, let app):
            isAdmitted = true
            self.context = context
            if let app {
                let identified = account.user.account(.app(app))
                guard !identified.isFull else { return close(because: .appHasTooManyConnections) }
                // Nothing was read or sent yet, so the account has counted no bytes of this connection.
                account.close(self)
                account = identified
                account.open(self)
            }
            loop.inside.lingering.answered(peer.processID)
            dispatch()
        case .refuse: close(because: .refused)
        }
    }

    // MARK: Calls

    /// Dispatches calls until one is not answered at once, but only a limited number per iteration. The
    /// method does not recurse, so buffered calls cannot exhaust the stack.
    ///
    /// - Parameter parsed: a call that another thread has parsed, which comes before all others.
    private func dispatch(_ parsed: Result<CallFrame, MessageError>? = nil) {
        guard isAdmitted, !isClosed, !isDispatching else { return }
        isDispatching = true
        var handedOut = 0
        if let parsed {
            handedOut += 1
            handOut(parsed)
        }
        while !isClosed, !isOccupied, unsentBytes <= limits.unsentBytes, handedOut < limits.callsPerIteration,
            let frame = nextFrame()
        {
            handedOut += 1
            handOut(frame)
            if unsentBytes >= Self.flushSize { flush() }
        }
        isDispatching = false
        flush()
        guard !isClosed else { return }
        countCallBytes()
        guard !isClosed else { return }
        watchFrame(isNew: handedOut > 0)
        readOn()
        if !isOccupied, decoder.hasFrame() {
            if unsentBytes <= limits.unsentBytes { dispatchSoon() }
        } else if inputHasEnded, !isOccupied, unsentBytes == 0 {
            close(because: .peerClosed)
        } else if handedOut > 0 {
            wasAnswered()
        }
    }

    private func nextFrame() -> [UInt8]? {
        do {
            return try decoder.nextFrame()
        } catch {
            flush()
            close(because: .frameTooLong)
            return nil
        }
    }

    /// Parses a frame, and hands out its call; a long frame on another thread, and later.
    private func handOut(_ frame: [UInt8]) {
        guard frame.count >= CallFrame.long else {
            return handOut(Result { () throws(MessageError) in try CallFrame(parsing: frame) })
        }
        isParsing = true
        currentSize = frame.count
        account.user.longCalls.parse(frame, on: loop) { [self] parsed in
            isParsing = false
            dispatch(parsed)
        }
    }

    private func handOut(_ result: Result<CallFrame, MessageError>) {
        let parsed: CallFrame
        do {
            parsed = try result.get()
        } catch {
            // The NUL shows where the next frame begins. Whether this one is a oneway call is not known.
            let call = Call(method: "", connection: self)
            (current, currentSize) = (call, 0)
            return call.fail(error.reply)
        }
        let call = Call(
            method: parsed.method, parameters: parsed.parameters, more: parsed.more, oneway: parsed.oneway,
            connection: self)
        current = call
        currentSize = parsed.heldBytes
        if parsed.upgrade {
            call.fail(.invalidParameter("upgrade"))
        } else {
            server.onCall(call)
        }
    }

    /// Dispatches the next call as separate work. The code that replies to a call must not receive the next
    /// call before `reply` has returned.
    private func dispatchSoon() {
        guard !isDispatching, !dispatchIsDue, !isClosed, isAdmitted else { return }
        guard decoder.bufferedBytes > 0 || inputHasEnded || isWithheld else { return countCallBytes() }
        dispatchIsDue = true
        loop.soon {
            self.dispatchIsDue = false
            self.dispatch()
        }
    }

    // MARK: Replies

    var unsentBytes: Int { outgoing.unsentBytes }

    func send(_ reply: Reply, for call: Call) {
        guard !isClosed, call === current else { return }
        var (isFinal, sensitive) = (true, false)
        var bytes: [UInt8] = []
        switch reply {
        case .parameters(let parameters, let continues, let isSensitive):
            isFinal = !continues
            sensitive = isSensitive
            if !call.oneway {
                bytes.reserveCapacity(parameters.count + ReplyFrame.overhead)
                ReplyFrame.append(parameters: parameters, continues: continues, to: &bytes)
            }
        case .error(let error):
            if !call.oneway { ReplyFrame.append(error, to: &bytes) }
        }
        guard bytes.count - 1 <= limits.frameSize else { return close(because: .replyTooLong) }
        if !bytes.isEmpty { outgoing.append(bytes, sensitive: sensitive, continues: !isFinal) }
        if isFinal { (current, replySize) = (nil, bytes.count) }
        guard !isDispatching else { return }
        flush()
        guard isFinal else { return }
        dispatchSoon()
        wasAnswered()
    }

    /// Reports the process to ``Lingering`` when all calls of this connection are answered and the kernel has
    /// accepted all replies.
    private func wasAnswered() {
        let isDone = !isOccupied && decoder.bufferedBytes == 0 && unsentBytes == 0
        if isDone { loop.inside.lingering.answered(peer.processID, bytes: replySize) }
    }

    /// Passes as many bytes to the kernel as it accepts.
    private func flush() {
        guard !isFlushing, !isClosed else { return }
        isFlushing = true
        while !isClosed, !isStalled, !outgoing.isEmpty {
            var outcome = SendOutcome.took(0)
            let tookAll = outgoing.offer(using: &server.scratch) { bytes in
                outcome = SendOutcome.ofSending(bytes, to: peer.descriptor)
                if case .took(let count) = outcome { return count }
                return 0
            }
            if case .failed(let code) = outcome {
                close(because: CloseReason(errno: code))
            } else if !tookAll {
                stall()
            }
        }
        isFlushing = false
        countReplyBytes()
        writeSoon()
    }

    private func stall() {
        isStalled = true
        lastProgress = .now()
        stallWatch.start()
        account.user.stall(self)
        listen(to: interest.union(.writable))
    }

    /// Continues to send after the peer has read.
    private func flushOn() {
        guard isStalled, !isClosed else { return }
        isStalled = false
        stallWatch.stop()
        flush()
        guard !isClosed else { return }
        if !isStalled {
            account.user.unstall(self)
            listen(to: interest.subtracting(.writable))
        }
        dispatchSoon()
    }

    func whenWritable(_ body: @escaping () -> Void) {
        guard !isClosed else { return }
        if unsentBytes > limits.unsentBytes, !isFlushing { flush() }
        if unsentBytes <= limits.unsentBytes, waitingToWrite.isEmpty, !isWriting {
            isWriting = true
            body()
            isWriting = false
        } else {
            waitingToWrite.append(body)
        }
        writeSoon()
    }

    /// Runs one waiting writer as separate work. A peer that reads fast must not block the loop for others,
    /// and the stack must not grow with every batch.
    private func writeSoon() {
        guard !waitingToWrite.isEmpty, !writeIsDue, !isWriting, unsentBytes <= limits.unsentBytes else { return }
        writeIsDue = true
        loop.soon {
            self.writeIsDue = false
            guard !self.isClosed, !self.waitingToWrite.isEmpty else { return }
            guard self.unsentBytes <= self.limits.unsentBytes else { return }
            let body = self.waitingToWrite.removeFirst()
            self.isWriting = true
            body()
            self.isWriting = false
            self.writeSoon()
        }
    }

    @discardableResult
    func withdraw(_ error: VarlinkError) -> Int {
        guard !isClosed else { return 0 }
        let hasPartlyLeft = outgoing.hasPartlyLeftSensitive
        let count = outgoing.withdraw(error)
        if hasPartlyLeft {
            close(because: .withdrawn)
            return count + 1
        }
        if !isDispatching { flush() }
        return count
    }

    // MARK: The end

    func close() { close(because: .closedByOwner) }

    /// Closes the connection without sending more. Separate work notifies the current call and the server.
    func close(because reason: CloseReason) {
        guard !isClosed else { return }
        isClosed = true
        if isAdmitted, case .peerClosed = reason { loop.inside.lingering.answered(peer.processID) }
        closeReason = reason
        letGo()
        if let watching { loop.inside.watchlist.remove(watching) }
        watching = nil
        closeSocket()
        loop.soon { self.ended() }
    }

    private func ended() {
        let abandoned = current
        current = nil
        abandoned?.abandon()
        pending.abandon()
        server.closed(self, wasAdmitted: isAdmitted, because: closeReason)
        context = nil
    }

    private func letGo() {
        outgoing.removeAll()
        waitingToWrite = []
        decoder = FrameDecoder(maximumFrameSize: limits.frameSize, keptCapacity: Self.keptBytes)
        frameWatch.stop()
        stallWatch.stop()
        pause?.cancel()
        countCallBytes()
        account.finishedLongCall(self)
        countReplyBytes()
    }

    /// Replies to a burst of calls are collected and sent once they have this many bytes.
    private static let flushSize = 64 * 1_024
    /// The size of the buffer that an idle connection keeps, in bytes: enough for most calls, but small in
    /// total for a thousand clients.
    private static let keptBytes = 4 * 1_024
}

// MARK: - Accounts

extension SocketConnection {
    /// Whether closing the connection would interrupt a call.
    var isBusy: Bool { isOccupied || decoder.bufferedBytes > 0 || outgoing.unsentBytes > 0 }
    var hasUnfinishedLongCall: Bool { !isOccupied && decoder.bufferedBytes > limits.pipelinedBytes }

    var heldBytes: Int { callBytes + replyBytes }
    /// The unread reply bytes of all connections of this connection's app.
    var unreadOfApp: Int { account.replyBytes }

    /// Counts the bytes of the buffered calls and of the call that is not answered yet.
    private func countCallBytes() {
        let held = isClosed ? 0 : decoder.bufferedBytes + (isOccupied ? currentSize : 0)
        guard held != callBytes else { return }
        let difference = held - callBytes
        // This is set before the account is changed. The account may close this connection, and closing calls
        // this method again.
        callBytes = held
        account.holdCallBytes(difference)
        if decoder.bufferedBytes <= limits.pipelinedBytes || isClosed { account.finishedLongCall(self) }
    }

    /// Counts the reply bytes that the kernel has not accepted.
    private func countReplyBytes() {
        let held = isClosed ? 0 : outgoing.unsentBytes
        if isClosed { account.user.unstall(self) }
        guard held != replyBytes else { return }
        let difference = held - replyBytes
        replyBytes = held
        account.holdReplyBytes(difference)
    }

    /// Closes the socket. Until it is closed, it counts as one of the app's connections.
    private func closeSocket() {
        let user = account.user
        user.budget.closer.close(peer.descriptor, of: user.owner, on: loop) { [self] in
            account.close(self)
            server.released(user)
        }
    }
}

// MARK: - Reading

extension SocketConnection {
    private var mayRead: Bool {
        guard isAdmitted, !isClosed, !inputHasEnded else { return false }
        guard decoder.bufferedBytes > limits.pipelinedBytes else { return true }
        // Beyond the limit, reads only the missing part of one long call; complete calls stay buffered.
        guard !isOccupied, unsentBytes <= limits.unsentBytes, !decoder.hasFrame(), account.mayRead(self) else {
            return false
        }
        return keepsPace
    }

    /// Whether the app's long calls may be read now. If not, reads on when they may.
    private var keepsPace: Bool {
        pause?.cancel()
        pause = account.pause.map { pause in loop.after(pause) { [weak self] in self?.readOn() } }
        return pause == nil
    }

    private var isWithheld: Bool { isAdmitted && !inputHasEnded && !interest.contains(.readable) }

    /// Stops reading when enough is buffered, and resumes later. The frame timeout does not count the pause.
    func readOn() {
        guard !isClosed, isWithheld == mayRead else { return }
        listen(to: isWithheld ? interest.union(.readable) : interest.subtracting(.readable))
        watchFrame(isNew: true)
    }

    private func watchFrame(isNew: Bool) {
        if decoder.bufferedBytes > 0, !inputHasEnded, !isWithheld, !decoder.hasFrame() {
            if isNew || !frameWatch.isRunning { frameWatch.start() }
        } else {
            frameWatch.stop()
        }
    }
}
