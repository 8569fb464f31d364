import BrokerJSON
import BrokerVarlink
import CBrokerLinux
import Glibc

/// Calls a Varlink service over a Unix socket and waits for its replies. One thread uses it.
///
/// Calls are answered one after the other: whoever begins a call takes all its replies before the next.
public final class VarlinkClient {
    /// For poll(2), beside ``begin(_:more:_:)`` and ``nextReply(timeout:)``. It does not block, and belongs to the client.
    public let fileDescriptor: CInt

    /// Longest reply accepted, in bytes; as sd-varlink's.
    public static let maximumReplySize = 16 * 1_048_576

    private let timeout: Duration?
    private var decoder = FrameDecoder(maximumFrameSize: maximumReplySize)
    private var received = [UInt8](repeating: 0, count: 64 * 1_024)
    private var isClosed = false
    /// The server has said its last byte; what it said before may still be taken.
    private var hasEnded = false

    /// Connects.
    ///
    /// - Parameter timeout: for connecting and for each later wait on a reply; `nil` waits for ever.
    public init(path: String, timeout: Duration? = nil) throws(VarlinkClientError) {
        let descriptor = clinux_connect(path, timeout.map { CInt(clamping: max(1, $0.milliseconds)) } ?? 0)
        guard descriptor >= 0 else { throw .cannotConnect(path: path, reason: String(cString: strerror(-descriptor))) }
        fileDescriptor = descriptor
        self.timeout = timeout
    }

    deinit { close() }

    /// Who held the listening socket when it was set up (SO_PEERCRED); `nil` where the kernel does not say.
    public func serverCredentials() -> (pid: pid_t, uid: uid_t)? {
        var credentials = clinux_credentials()
        guard !isClosed, clinux_peer_credentials(fileDescriptor, &credentials) == 0 else { return nil }
        return (credentials.pid, credentials.uid)
    }

    /// Calls and returns the parameters of the one reply.
    ///
    /// - Parameter write: writes the members of the parameters object.
    public func call(
        _ method: String, _ write: (inout JSONWriter) -> Void = { _ in }
    ) throws(VarlinkClientError) -> JSONValue {
        try call(method, parameters: Self.object(write))
    }

    /// Calls and returns the parameters of the one reply.
    ///
    /// - Parameter parameters: a JSON object, written out.
    public func call(_ method: String, parameters: [UInt8]) throws(VarlinkClientError) -> JSONValue {
        try send(CallFrame.encode(method, parameters: parameters))
        let reply = try waitForReply()
        guard !reply.continues else { throw violated("a reply that continues to a call without more") }
        return reply.parameters
    }

    /// Calls without an answer: not even whether the method exists is told.
    public func callOneway(
        _ method: String, _ write: (inout JSONWriter) -> Void = { _ in }
    ) throws(VarlinkClientError) {
        try send(CallFrame.encode(method, parameters: Self.object(write), oneway: true))
    }

    /// Calls with `more` and hands every reply on. When `each` returns `false` or throws before the last reply, the
    /// connection is closed: Varlink has no other way to say that one has heard enough.
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

    /// Sends a call, and leaves its replies to ``nextReply(timeout:)``.
    ///
    /// - Parameter limit: for sending, where it is another time than the client's own.
    public func begin(
        _ method: String, more: Bool = false, within limit: Duration? = nil,
        _ write: (inout JSONWriter) -> Void = { _ in }
    ) throws(VarlinkClientError) {
        try send(CallFrame.encode(method, parameters: Self.object(write), more: more), within: limit)
    }

    /// Returns the next reply, or `nil` when none has come in time. Replies that have come already cost no reading.
    ///
    /// - Parameter timeout: zero looks without waiting; `nil` waits for ever.
    /// - Throws: also where the reply is an error.
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

    /// Whether ``nextReply(timeout:)`` has a reply without reading; poll(2) knows nothing of it.
    public var hasBufferedReply: Bool { decoder.hasFrame() }

    /// Hangs up. Later calls throw ``VarlinkClientError/closed``.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        decoder = FrameDecoder(maximumFrameSize: Self.maximumReplySize)
        _ = Glibc.close(fileDescriptor)
    }

    // MARK: -

    private static func object(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(write)
        return writer.bytes
    }

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

    /// Sends the whole frame. While the server does not take it, what the server sends is: two ends that only write
    /// would wait for each other.
    private func send(_ frame: [UInt8], within limit: Duration? = nil) throws(VarlinkClientError) {
        guard !isClosed else { throw .closed }
        let deadline = (limit ?? timeout).map { ContinuousClock.now + $0 }
        var sent = 0
        while sent < frame.count {
            // Sound: the pointer does not leave the closure, and MSG_NOSIGNAL spares us SIGPIPE.
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

    /// Takes what has come.
    /// - Returns: whether anything has, the end included.
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
    /// - Returns: what it is ready for; 0 when the time is over.
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
    var milliseconds: Int64 {
        let (seconds, fraction) = components
        return seconds.multipliedReportingOverflow(by: 1_000).overflow
            ? .max : seconds * 1_000 + fraction / 1_000_000_000_000_000
    }
}
