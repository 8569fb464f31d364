import BrokerJSON
import BrokerVarlink
import CBrokerLinux
import Glibc

/// Calls a Varlink service over a Unix socket and waits for its replies. Use a client on one thread only.
///
/// Replies arrive in the order of the calls: read all replies of one call before you begin the next.
public final class VarlinkClient {
    /// The descriptor for poll(2). Use it together with ``begin(_:more:oneway:within:_:)`` and
    /// ``nextReply(timeout:)``. It is non-blocking, and the client owns it.
    public let fileDescriptor: CInt

    /// The longest accepted reply, in bytes, which is also the limit of sd-varlink.
    public static let maximumReplySize = 16 * 1_048_576

    private let timeout: Duration?
    private var decoder = FrameDecoder(maximumFrameSize: maximumReplySize)
    private var received = [UInt8](repeating: 0, count: 64 * 1_024)
    private var isClosed = false
    /// Whether the server has closed its end. Replies that were received before can still be read.
    private var hasEnded = false

    /// Connects to a socket.
    ///
    /// - Parameter timeout: the limit for connecting, for sending a call and for each wait for a reply;
    ///   `nil` means no limit.
    public init(path: String, timeout: Duration? = nil) throws(VarlinkClientError) {
        let descriptor = clinux_connect(path, timeout.map { CInt(clamping: max(1, $0.milliseconds)) } ?? 0)
        guard descriptor >= 0 else { throw .cannotConnect(path: path, reason: String(cString: strerror(-descriptor))) }
        fileDescriptor = descriptor
        self.timeout = timeout
    }

    deinit { close() }

    /// Returns the peer credentials of the process that called listen (SO_PEERCRED); `nil` if the kernel does not
    /// report them.
    public func serverCredentials() -> (pid: pid_t, uid: uid_t)? {
        var credentials = clinux_credentials()
        guard !isClosed, clinux_peer_credentials(fileDescriptor, &credentials) == 0 else { return nil }
        return (credentials.pid, credentials.uid)
    }

    /// Calls a method and returns the parameters of its only reply.
    ///
    /// - Parameter write: writes the members of the parameters object.
    public func call(
        _ method: String, _ write: (inout JSONWriter) -> Void = { _ in }
    ) throws(VarlinkClientError) -> JSONValue {
        var parameters = JSONWriter()
        parameters.object(write)
        return try call(method, parameters: parameters.bytes)
    }

    /// Calls a method and returns the parameters of its only reply.
    ///
    /// - Parameter parameters: an encoded JSON object.
    public func call(_ method: String, parameters: [UInt8]) throws(VarlinkClientError) -> JSONValue {
        try send(CallFrame.encode(method, parameters: parameters))
        let reply = try waitForReply()
        guard !reply.continues else { throw violated("a reply that continues to a call without more") }
        return reply.parameters
    }

    /// Calls with `more` and passes every reply to `each`. If `each` returns `false` or throws before the
    /// last reply, the connection is closed: Varlink has no other way to cancel a call.
    public func stream(
        _ method: String, _ write: (inout JSONWriter) -> Void = { _ in },
        each: (_ parameters: JSONValue, _ continues: Bool) throws -> Bool
    ) throws {
        try begin(method, more: true, write)
        while true {
            let reply = try waitForReply()
            var goOn = false
            defer { if reply.continues, !goOn { close() } }
            goOn = try each(reply.parameters, reply.continues)
            guard goOn, reply.continues else { return }
        }
    }

    /// Sends a call. ``nextReply(timeout:)`` then returns its replies.
    ///
    /// - Parameters:
    ///   - oneway: whether the call has no reply. The server then reports no errors either, not even an unknown method.
    ///   - limit: the timeout for sending, if it differs from the client's.
    public func begin(
        _ method: String, more: Bool = false, oneway: Bool = false, within limit: Duration? = nil,
        _ write: (inout JSONWriter) -> Void = { _ in }
    ) throws(VarlinkClientError) {
        var parameters = JSONWriter()
        parameters.object(write)
        try send(CallFrame.encode(method, parameters: parameters.bytes, more: more, oneway: oneway), within: limit)
    }

    /// Returns the next reply, or `nil` if none arrives in time. Returns a buffered reply without reading the socket.
    ///
    /// - Parameter timeout: zero polls without waiting; `nil` waits without limit.
    /// - Throws: ``VarlinkClientError``, also if the reply is an error.
    public func nextReply(
        timeout: Duration?
    ) throws(VarlinkClientError) -> (parameters: JSONValue, continues: Bool)? {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        while true {
            if let frame = try nextFrame() { return try reply(from: frame) }
            guard !hasEnded, !isClosed else {
                close()
                throw .closed
            }
            guard try !receive() else { continue }
            guard wait(for: Int16(POLLIN), until: deadline) != 0 else { return nil }
        }
    }

    /// Whether a complete reply is already buffered. poll(2) does not report buffered replies.
    public var hasBufferedReply: Bool { decoder.hasFrame() }

    /// Closes the connection. Later calls throw ``VarlinkClientError/closed``.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        decoder = FrameDecoder(maximumFrameSize: Self.maximumReplySize)
        _ = Glibc.close(fileDescriptor)
    }

    // MARK: -

    private func waitForReply() throws(VarlinkClientError) -> (parameters: JSONValue, continues: Bool) {
        guard let reply = try nextReply(timeout: timeout) else {
            close()
            throw .timedOut
        }
        return reply
    }

    private func reply(from frame: [UInt8]) throws(VarlinkClientError) -> (parameters: JSONValue, continues: Bool) {
        let reply: ReplyFrame
        do {
            reply = try ReplyFrame(parsing: frame)
        } catch {
            throw violated(error.description)
        }
        if let error = reply.error { throw .error(name: error, parameters: reply.parameters) }
        return (reply.parameters, reply.continues)
    }

    private func nextFrame() throws(VarlinkClientError) -> [UInt8]? {
        do {
            return try decoder.nextFrame()
        } catch {
            throw violated("a reply of more than \(Self.maximumReplySize) bytes")
        }
    }

    private func violated(_ what: String) -> VarlinkClientError {
        close()
        return .protocolViolation(what)
    }

    /// Sends the whole frame. While the server accepts no bytes, the client reads received bytes, because two
    /// ends that only write would deadlock.
    private func send(_ frame: [UInt8], within limit: Duration? = nil) throws(VarlinkClientError) {
        guard !isClosed else { throw .closed }
        let deadline = (limit ?? timeout).map { ContinuousClock.now + $0 }
        var sent = 0
        while sent < frame.count {
            // Sound: the pointer does not leave the closure. MSG_NOSIGNAL prevents SIGPIPE.
            let count = unsafe frame[sent...].withUnsafeBytes {
                unsafe Glibc.send(fileDescriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                let events = wait(for: Int16(POLLOUT) | (hasEnded ? 0 : Int16(POLLIN)), until: deadline)
                guard events != 0 else {
                    close()
                    throw .timedOut
                }
                if events & Int16(POLLIN) != 0 { _ = try receive() }
            default:
                close()
                throw .closed
            }
        }
    }

    /// Reads the bytes that have arrived.
    /// - Returns: whether bytes or the end of the stream arrived.
    private func receive() throws(VarlinkClientError) -> Bool {
        while true {
            // Sound: the pointer does not leave the closure.
            let count = unsafe received.withUnsafeMutableBytes {
                unsafe recv(fileDescriptor, $0.baseAddress, $0.count, 0)
            }
            if count > 0 {
                let bytes = received
                decoder.append(bytes.span.bytes.extracting(first: count))
                return true
            }
            if count == 0 {
                hasEnded = true
                return true
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: return false
            default:
                close()
                throw .closed
            }
        }
    }

    /// Waits until the descriptor is ready.
    /// - Returns: the events that occurred; 0 on timeout.
    private func wait(for events: Int16, until deadline: ContinuousClock.Instant?) -> Int16 {
        while true {
            var milliseconds: CInt = -1
            if let deadline {
                let left = ContinuousClock.now.duration(to: deadline)
                // Rounded up, so that the last millisecond is not spent in a busy loop.
                milliseconds = max(0, CInt(clamping: left.milliseconds + (left > .zero ? 1 : 0)))
            }
            var waiting = pollfd(fd: fileDescriptor, events: events, revents: 0)
            let ready = poll(&waiting, 1, milliseconds)
            if ready > 0 { return waiting.revents }
            if ready == 0, milliseconds >= 0, deadline.map({ ContinuousClock.now >= $0 }) ?? false { return 0 }
        }
    }
}

extension Duration {
    /// The whole milliseconds; the largest number if they do not fit.
    public var milliseconds: Int64 {
        let (seconds, fraction) = components
        return seconds.multipliedReportingOverflow(by: 1_000).overflow
            ? .max : seconds * 1_000 + fraction / 1_000_000_000_000_000
    }
}
