import CBrokerLinux
import Glibc

/// A Unix socket with as little code as possible, so that the other end is measured and not this one.
final class BlockingSocket {
    let descriptor: CInt
    /// The bytes that came last, up to the count that was returned.
    private(set) var buffer: [UInt8]

    init(path: String) throws {
        buffer = [UInt8](repeating: 0, count: Self.room)
        descriptor = clinux_connect(path, 5_000)
        guard descriptor >= 0 else { throw Failure(system: "could not connect to \(path)", -descriptor) }
        guard fcntl(descriptor, F_SETFL, 0) == 0 else { throw Failure(system: "fcntl") }
    }

    /// Bytes. Most replies fit; the buffer grows for others.
    private static let room = 256 * 1_024

    /// - Parameter room: bytes of the longest reply that is expected. Allocating more than that would be measured too.
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

    /// Waits for one whole reply. It ends with the first NUL, since JSON has none in it and only one call is pending.
    ///
    /// - Returns: its size in bytes, with the NUL.
    func receiveReply() throws -> Int {
        var size = 0
        repeat { size += try receive(at: size) } while buffer[size - 1] != 0
        return size
    }

    /// Waits until so many bytes have come.
    func receive(exactly size: Int) throws {
        var received = 0
        while received < size { received += try receive(at: received, atMost: size - received) }
    }

    /// Waits for a call's last reply, and drops those before it.
    ///
    /// - Returns: bytes of all its replies.
    func receiveReplies() throws -> Int {
        var size = 0
        var tail: [UInt8] = []
        while true {
            let count = try receive(at: 0)
            size += count
            tail = Array((tail + buffer[max(0, count - Self.continues.count)..<count]).suffix(Self.continues.count))
            // If the last byte ends a reply without `continues`, no other one follows.
            if tail.last == 0, tail != Self.continues { return size }
        }
    }

    private static let continues = Array("\"continues\":true}\0".utf8)

    private func receive(at offset: Int, atMost size: Int = .max) throws -> Int {
        if offset == buffer.count { buffer.append(contentsOf: [UInt8](repeating: 0, count: buffer.count)) }
        while true {
            // Waits with poll(2), as VarlinkClient does: recv(2) would also wake up when the other end reads what it was sent.
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
