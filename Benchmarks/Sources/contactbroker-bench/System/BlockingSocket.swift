import CBrokerLinux
import Glibc

/// A Unix socket with as little code as possible, so that the times are those of the other process and not of
/// this code.
final class BlockingSocket {
    let descriptor: CInt
    /// The bytes that were received last, up to the returned count.
    private(set) var buffer: [UInt8]

    init(path: String) throws {
        buffer = [UInt8](repeating: 0, count: Self.room)
        descriptor = clinux_connect(path, 5_000)
        guard descriptor >= 0 else { throw Failure(system: "could not connect to \(path)", -descriptor) }
        guard fcntl(descriptor, F_SETFL, 0) == 0 else { throw Failure(system: "fcntl") }
    }

    /// The initial size of the buffer, in bytes. Most replies fit; the buffer grows for longer ones.
    private static let room = 256 * 1_024

    /// - Parameter room: the size of the longest expected reply, in bytes. A larger buffer would take
    ///   longer to allocate, which would be measured too.
    init(descriptor: CInt, room: Int = room) {
        self.descriptor = descriptor
        buffer = [UInt8](repeating: 0, count: room)
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress.map { $0 + sent }, $0.count - sent, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(system: "the other end has gone") }
            sent += count
        }
    }

    /// Waits for one whole reply. The reply ends with the first NUL, because JSON contains no NUL and only
    /// one call is pending.
    ///
    /// - Returns: the reply's size in bytes, with the NUL.
    func receiveReply() throws -> Int {
        var size = 0
        repeat { size += try receive(at: size) } while buffer[size - 1] != 0
        return size
    }

    /// Waits until exactly `size` bytes were received.
    func receive(exactly size: Int) throws {
        var received = 0
        while received < size { received += try receive(at: received, atMost: size - received) }
    }

    /// Waits for a call's last reply, and discards the replies before it.
    ///
    /// - Returns: the size of all replies, in bytes.
    func receiveReplies() throws -> Int {
        var size = 0
        var tail: [UInt8] = []
        while true {
            let count = try receive(at: 0)
            size += count
            tail = Array((tail + buffer[max(0, count - Self.continues.count)..<count]).suffix(Self.continues.count))
            // If the last byte ends a reply without `continues`, no other reply follows.
            if tail.last == 0, tail != Self.continues { return size }
        }
    }

    private static let continues = Array("\"continues\":true}\0".utf8)

    private func receive(at offset: Int, atMost size: Int = .max) throws -> Int {
        if offset == buffer.count { buffer.append(contentsOf: [UInt8](repeating: 0, count: buffer.count)) }
        while true {
            // Waits with poll(2), as VarlinkClient does, because recv(2) would also wake up when the other
            // process reads the sent bytes.
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, -1) >= 0 || errno == EINTR else { throw Failure(system: "poll") }
            let count = buffer.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress.map { $0 + offset }, min($0.count - offset, size), 0)
            }
            if count > 0 { return count }
            guard count < 0, errno == EINTR else { throw Failure(system: "the other end has gone") }
        }
    }
}
