import BrokerJSON
import BrokerVarlink
import Glibc

/// A process that makes a test's connections. Copies of its program at different paths are different apps.
final class Companion {
    let path: String
    let process: ChildProcess
    private let wire: CInt
    private var received: [UInt8] = []
    private var lines: [UInt32: Line] = [:]
    private var scratch = [UInt8](repeating: 0, count: 256 * 1_024)

    static var program: String { DaemonFixture.programs + "/TestCompanion" }

    /// - Parameter prefix: a command that executes this program.
    init(at path: String, by prefix: [String] = []) throws {
        self.path = path
        let pair = try Pair()
        let words = prefix + [path]
        process = try ChildProcess(
            words[0], Array(words.dropFirst()), descriptors: [(0, pair.theirs), (1, pair.theirs), (2, 2)])
        wire = pair.handOver()
    }

    /// A companion and its child. Both have the parent's `process`.
    static func family(parent: String, child: String) throws -> (parent: Companion, child: Companion) {
        let (upper, lower) = (try Pair(), try Pair())
        let process = try ChildProcess(
            parent, [child],
            descriptors: [(0, upper.theirs), (1, upper.theirs), (2, 2), (3, lower.theirs), (4, lower.theirs)])
        return (
            Companion(path: parent, process: process, wire: upper.handOver()),
            Companion(path: child, process: process, wire: lower.handOver())
        )
    }

    private init(path: String, process: ChildProcess, wire: CInt) {
        self.path = path
        self.process = process
        self.wire = wire
    }

    deinit {
        close(wire)
    }

    /// Connects to a socket.
    func open(_ socket: String) throws -> Line {
        guard let line = try openIfAnswered(socket) else { throw Trouble("nobody answers at \(socket)") }
        return line
    }

    func openIfAnswered(_ socket: String) throws -> Line? {
        let line = Line(number: UInt32(lines.count), companion: self)
        lines[line.number] = line
        try order("o", line.number, Array(socket.utf8))
        try wait(for: "a connection") { line.isOpened || line.isClosed }
        return line.isOpened ? line : nil
    }

    /// Executes another program, which keeps the connections.
    func become(_ program: String) throws {
        try order("x", 0, Array(program.utf8))
    }

    // MARK: -

    func order(_ kind: Unicode.Scalar, _ number: UInt32, _ bytes: some Collection<UInt8>) throws {
        var message = [UInt8(ascii: kind)]
        for value in [number, UInt32(bytes.count)] {
            for shift in [0, 8, 16, 24] as [UInt32] { message.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
        message += bytes
        var start = 0
        let deadline = ContinuousClock.now + .seconds(30)
        while start < message.count {
            let count = message[start...].withUnsafeBytes { send(wire, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            if count > 0 {
                start += count
                continue
            }
            guard errno == EAGAIN || errno == EINTR else { throw Trouble("\(path) is gone") }
            // Also read while writing: if both ends only wrote, they would block each other.
            guard try pump(until: deadline, orWritable: true) else { throw Trouble("\(path) takes no orders") }
        }
    }

    func wait(for what: String, within time: Duration = .seconds(30), until isReached: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + time
        while try !isReached() {
            guard try pump(until: deadline, orWritable: false) else { throw Trouble("\(what) did not come") }
        }
    }

    /// Reads what has arrived. Returns `false` once the deadline has passed.
    private func pump(until deadline: ContinuousClock.Instant, orWritable: Bool) throws -> Bool {
        var waiting = pollfd(fd: wire, events: Int16(orWritable ? POLLIN | POLLOUT : POLLIN), revents: 0)
        let left = deadline.millisecondsLeft
        guard left > 1 else { return false }
        poll(&waiting, 1, left)
        guard waiting.revents & ~Int16(POLLOUT) != 0 else { return true }
        let count = read(wire, &scratch, scratch.count)
        if count == 0 { throw Trouble("\(path) has ended") }
        guard count > 0 else { return true }
        received += scratch[..<count]
        var start = 0
        while received.count - start >= 9 {
            let length = Int(Self.number(received[(start + 5)..<(start + 9)]))
            guard received.count - start - 9 >= length else { break }
            let bytes = received[(start + 9)..<(start + 9 + length)]
            lines[Self.number(received[(start + 1)..<(start + 5)])]?.take(received[start], bytes)
            start += 9 + length
        }
        received.removeFirst(start)
        return true
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// A pair of connected sockets.
private final class Pair {
    let theirs: CInt
    private let ours: CInt
    private var isHandedOver = false

    init() throws {
        var ends: [CInt] = [0, 0]
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Trouble("no pair of sockets") }
        (ours, theirs) = (ends[0], ends[1])
        _ = fcntl(ours, F_SETFL, O_NONBLOCK)
    }

    /// Returns the test's end. `deinit` closes the program's end here, so that each side sees when the other has gone.
    func handOver() -> CInt {
        isHandedOver = true
        return ours
    }

    deinit {
        close(theirs)
        if !isHandedOver { close(ours) }
    }
}
