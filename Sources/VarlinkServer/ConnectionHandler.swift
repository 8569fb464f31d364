import Glibc
import NIOCore
import Varlink

/// One connection: reads frames, hands out calls one after the other, sends their replies in order.
///
/// Replies go to the kernel directly while it takes them. NIO gets a piece of one reply only to wait until it takes
/// more, so that what nobody has taken can still be withdrawn. It lives on the loop.
final class ConnectionHandler: ChannelDuplexHandler, Connection {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Stage {
        case awaitingAdmission
        case admitted
    }

    var context: AnyObject?
    private(set) var isClosed = false
    /// When the peer last took something of what it was sent.
    private(set) var lastProgress = NIODeadline.uptimeNanoseconds(0)

    private let door: Door
    private let account: UserAccount
    private let limits: DoorLimits
    private let peer: AcceptedPeer
    private var channelContext: ChannelHandlerContext?
    private var stage = Stage.awaitingAdmission
    private var closeReason = CloseReason.peerClosed

    private var decoder: FrameDecoder
    private var current: Call?
    private var currentSize = 0
    private var countedCallBytes = 0
    private var isDispatching = false
    private var dispatchIsDue = false
    private var readIsWithheld = false
    /// The peer has said its last byte. It may still want replies.
    private var inputHasEnded = false

    private var outgoing = OutgoingReplies()
    /// Bytes that NIO waits to hand to the kernel, and whether they tell something that can be taken back.
    private var committed: (bytes: Int, sensitive: Bool) = (0, false)
    private var countedReplyBytes = 0
    private var isFlushing = false
    private var waitingToWrite: [() -> Void] = []
    private var writeIsDue = false
    private var isWriting = false

    private lazy var frameWatch = Watch(eventLoop: door.eventLoop, timeout: limits.frameTimeout) { [weak self] in
        self?.close(because: .unfinishedFrame)
    }
    private lazy var stallWatch = Watch(eventLoop: door.eventLoop, timeout: limits.stallTimeout) { [weak self] in
        self?.close(because: .peerDoesNotRead)
    }

    init(peer: AcceptedPeer, account: UserAccount, door: Door) {
        self.peer = peer
        self.account = account
        self.door = door
        limits = door.limits
        decoder = FrameDecoder(maximumFrameSize: door.limits.frameSize)
    }

    // MARK: What NIO tells

    func handlerAdded(context: ChannelHandlerContext) {
        channelContext = context
    }

    func channelActive(context: ChannelHandlerContext) {
        door.admit(peer) { [weak self] admission in self?.decided(admission) }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosed else { return }
        door.listened()
        let bytes = unwrapInboundIn(data)
        decoder.append(bytes.readableBytesSpan)
        dispatch()
    }

    func read(context: ChannelHandlerContext) {
        if mayRead { context.read() } else { readIsWithheld = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            inputHasEnded = true
            dispatch()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch (error as? IOError)?.errnoCode {
        case ECONNRESET, EPIPE: close(because: .peerClosed)
        default: close(because: .failed(reason: "\(error)"))
        }
    }

    /// NIO tells this once, and never from within a call of ours.
    func channelInactive(context: ChannelHandlerContext) {
        if !isClosed {
            isClosed = true
            letGo()
        }
        channelContext = nil
        let abandoned = current
        current = nil
        abandoned?.abandon()
        door.closed(self, account: account, wasAdmitted: stage == .admitted, because: closeReason)
        self.context = nil
        context.fireChannelInactive()
    }

    private func decided(_ admission: Admission) {
        guard !isClosed, stage == .awaitingAdmission else { return }
        switch admission {
        case .admit(let context):
            stage = .admitted
            self.context = context
            dispatch()
        case .refuse:
            close(because: .refused)
        }
    }

    // MARK: Calls

    /// Hands out calls until one is not answered at once. It never calls itself, however many calls are waiting.
    private func dispatch() {
        guard stage == .admitted, !isClosed, !isDispatching else { return }
        isDispatching = true
        var tookFrame = false
        while !isClosed, current == nil, unsentBytes <= limits.unsentBytes, let frame = nextFrame() {
            tookFrame = true
            handOut(frame)
            if outgoing.unsentBytes >= Self.flushSize { flush() }
        }
        isDispatching = false
        flush()
        guard !isClosed else { return }
        countCallBytes()
        watchFrame(isNew: tookFrame)
        readOn()
        if inputHasEnded, current == nil, unsentBytes == 0, !decoder.hasFrame() { close(because: .peerClosed) }
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

    private func handOut(_ frame: [UInt8]) {
        let parsed: CallFrame
        do {
            parsed = try CallFrame(parsing: frame)
        } catch {
            flush()
            close(because: .malformedCall(reason: error.description))
            return
        }
        let call = Call(
            method: parsed.method, parameters: parsed.parameters, more: parsed.more, oneway: parsed.oneway,
            connection: self)
        current = call
        currentSize = frame.count
        if parsed.upgrade {
            call.fail(.invalidParameter("upgrade"))
        } else {
            door.onCall(call)
        }
    }

    /// Goes on with the next call in a turn of its own: whoever answers must not find itself answering another call
    /// before the first `reply` has returned.
    private func dispatchSoon() {
        guard !isDispatching, !dispatchIsDue, !isClosed, stage == .admitted else { return }
        guard decoder.bufferedBytes > 0 || inputHasEnded || readIsWithheld else { return countCallBytes() }
        dispatchIsDue = true
        door.runSoon {
            self.dispatchIsDue = false
            self.dispatch()
        }
    }

    // MARK: Reading

    private var mayRead: Bool {
        guard stage == .admitted, !isClosed else { return false }
        let held = decoder.bufferedBytes
        guard held > limits.pipelinedBytes else { return true }
        return current == nil && unsentBytes <= limits.unsentBytes && account.mayRead(self)
    }

    /// Reads again if reading was withheld and need not be any more.
    func readOn() {
        guard readIsWithheld, mayRead else { return }
        readIsWithheld = false
        // The time in which we did not read is not the peer's.
        if frameWatch.isRunning { frameWatch.start() }
        channelContext?.read()
    }

    private func watchFrame(isNew: Bool) {
        if decoder.bufferedBytes > 0, !inputHasEnded, !decoder.hasFrame() {
            if isNew || !frameWatch.isRunning { frameWatch.start() }
        } else {
            frameWatch.stop()
        }
    }

    private func countCallBytes() {
        let held = isClosed ? 0 : decoder.bufferedBytes + (current == nil ? 0 : currentSize)
        guard held != countedCallBytes else { return }
        account.holdCallBytes(held - countedCallBytes)
        countedCallBytes = held
        if decoder.bufferedBytes <= limits.pipelinedBytes || isClosed { account.finishedLongCall(self) }
    }

    // MARK: Replies

    private var unsentBytes: Int { outgoing.unsentBytes + committed.bytes }

    func send(_ reply: Reply, for call: Call) {
        guard !isClosed, call === current else { return }
        var isFinal = true
        var sensitive = false
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
        if isFinal { current = nil }
        guard !isDispatching else { return }
        flush()
        guard isFinal else { return }
        dispatchSoon()
        if decoder.bufferedBytes == 0, unsentBytes == 0 { door.answered(self) }
    }

    /// The socket, while calls are taken from it.
    var readableDescriptor: CInt? {
        !isClosed && mayRead && channelContext?.channel.isActive == true ? peer.descriptor : nil
    }

    /// Hands the kernel as much as it takes.
    private func flush() {
        // NIO may have closed the socket without having told us yet; its number may be another connection's by now.
        guard !isFlushing, !isClosed, channelContext?.channel.isActive == true else { return }
        isFlushing = true
        while !isClosed, committed.bytes == 0, !outgoing.isEmpty {
            var failure: CInt = 0
            let tookAll = outgoing.offer(using: &door.scratch) { bytes in
                // Ours and open: the channel is active, and what happens here does not leave the loop.
                switch SendOutcome.ofSending(bytes, to: peer.descriptor) {
                case .took(let count): return count
                case .failed(let code):
                    failure = code
                    return 0
                }
            }
            if failure == EPIPE || failure == ECONNRESET {
                close(because: .peerClosed)
            } else if failure != 0 {
                close(because: .failed(reason: String(cString: strerror(failure))))
            } else if !tookAll {
                commitPiece()
            }
        }
        isFlushing = false
        countReplyBytes()
    }

    /// Gives NIO a piece to wait with until the kernel takes more.
    private func commitPiece() {
        guard let channelContext else { return }
        let piece = outgoing.commit()
        committed = (piece.bytes.count, piece.sensitive)
        lastProgress = .now()
        stallWatch.start()
        account.stall(self)
        let promise = channelContext.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { result in self.pieceHasLeft(result) }
        let buffer = channelContext.channel.allocator.buffer(bytes: piece.bytes)
        channelContext.writeAndFlush(wrapOutboundOut(buffer), promise: promise)
    }

    private func pieceHasLeft(_ result: Result<Void, any Error>) {
        committed = (0, false)
        lastProgress = .now()
        guard !isClosed, case .success = result else { return }
        stallWatch.stop()
        guard !isFlushing else { return }
        flush()
        dispatchSoon()
    }

    private func countReplyBytes() {
        let held = isClosed ? 0 : unsentBytes
        if committed.bytes == 0 || isClosed { account.unstall(self) }
        if held != countedReplyBytes {
            let difference = held - countedReplyBytes
            countedReplyBytes = held
            account.holdReplyBytes(difference)
        }
        writeSoon()
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

    /// Runs one of those who wait for room, in a turn of its own: a peer that reads fast must not keep the loop from
    /// the others, nor deepen the stack with every batch.
    private func writeSoon() {
        guard !waitingToWrite.isEmpty, !writeIsDue, !isWriting, unsentBytes <= limits.unsentBytes else { return }
        writeIsDue = true
        door.runSoon {
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
        let hasPartlyLeft = committed.sensitive || outgoing.hasPartlyLeftSensitive
        let count = outgoing.withdraw(error)
        if hasPartlyLeft {
            close(because: .withdrawn)
            return count + 1
        }
        if !isDispatching { flush() }
        return count
    }

    // MARK: The end

    func close() {
        close(because: .closedByOwner)
    }

    /// Ends the connection without another byte. Its calls and its owner hear of it in a turn of their own.
    func close(because reason: CloseReason) {
        guard !isClosed else { return }
        isClosed = true
        closeReason = reason
        letGo()
        channelContext?.close(mode: .all, promise: nil)
    }

    private func letGo() {
        outgoing.removeAll()
        waitingToWrite = []
        decoder = FrameDecoder(maximumFrameSize: limits.frameSize)
        frameWatch.cancel()
        stallWatch.cancel()
        countCallBytes()
        account.finishedLongCall(self)
        countReplyBytes()
    }

    /// Replies of one burst of calls are gathered up to here before they leave, in bytes.
    private static let flushSize = 64 * 1_024
}
