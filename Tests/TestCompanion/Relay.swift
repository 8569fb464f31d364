import CBrokerLinux
import Glibc

/// Messages in both directions: a kind (1 byte), a connection's number (4 bytes), the length of the rest (4 bytes), and
/// that many bytes. Both numbers are little-endian.
///
/// Orders: `o` open (a path), `d` send, `c` close, `p` stop reading, `r` read again, `x` execute another program (a
/// path). Events: `o` opened, `f` could not be opened, `d` received, `c` closed by the peer.
struct Relay {
    private struct Connection {
        let descriptor: CInt
        var unsent: [UInt8] = []
        var isPaused = false
    }

    private var connections: [UInt32: Connection] = [:]
    private var orders: [UInt8] = []
    private var scratch = [UInt8](repeating: 0, count: 256 * 1_024)

    /// Runs until standard input ends.
    mutating func run() {
        while true {
            let numbers = Array(connections.keys)
            var waiting = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)]
            for number in numbers {
                guard let connection = connections[number] else { continue }
                let events = (connection.isPaused ? 0 : POLLIN) | (connection.unsent.isEmpty ? 0 : POLLOUT)
                waiting.append(
                    pollfd(fd: events == 0 ? -1 : connection.descriptor, events: Int16(events), revents: 0))
            }
            guard poll(&waiting, nfds_t(waiting.count), -1) >= 0 || errno == EINTR else { return }
            for (place, number) in numbers.enumerated() {
                let ready = waiting[place + 1].revents
                if ready & Int16(POLLOUT) != 0 { send(number) }
                if ready & ~Int16(POLLOUT) != 0 { receive(number) }
            }
            if waiting[0].revents != 0, !takeOrders() { return }
        }
    }

    private mutating func takeOrders() -> Bool {
        let count = read(STDIN_FILENO, &scratch, scratch.count)
        guard count > 0 else { return count < 0 && errno == EINTR }
        orders += scratch[..<count]
        var start = 0
        while orders.count - start >= 9 {
            let length = Int(Self.number(orders[(start + 5)..<(start + 9)]))
            guard orders.count - start - 9 >= length else { break }
            follow(
                orders[start], Self.number(orders[(start + 1)..<(start + 5)]),
                Array(orders[(start + 9)..<(start + 9 + length)]))
            start += 9 + length
        }
        orders.removeFirst(start)
        return true
    }

    private mutating func follow(_ kind: UInt8, _ number: UInt32, _ bytes: [UInt8]) {
        switch kind {
        case UInt8(ascii: "o"):
            let descriptor = clinux_connect(String(decoding: bytes, as: UTF8.self), 10_000)
            if descriptor >= 0 { connections[number] = Connection(descriptor: descriptor) }
            tell(descriptor >= 0 ? "o" : "f", number, [])
        case UInt8(ascii: "d"):
            connections[number]?.unsent += bytes
            send(number)
        case UInt8(ascii: "c"): end(number)
        case UInt8(ascii: "p"): connections[number]?.isPaused = true
        case UInt8(ascii: "r"): connections[number]?.isPaused = false
        case UInt8(ascii: "x"):
            // The connections must survive execv.
            for connection in connections.values { _ = fcntl(connection.descriptor, F_SETFD, 0) }
            let path = String(decoding: bytes, as: UTF8.self)
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(path), strdup("300"), nil]
            execv(path, &arguments)
            exit(1)
        default: exit(1)
        }
    }

    private mutating func send(_ number: UInt32) {
        guard let connection = connections[number], !connection.unsent.isEmpty else { return }
        let count = Glibc.send(
            connection.descriptor, connection.unsent, connection.unsent.count, CInt(MSG_NOSIGNAL))
        if count > 0 {
            connections[number]?.unsent.removeFirst(count)
        } else if errno != EAGAIN, errno != EINTR {
            // The peer has stopped reading, but the bytes that it sent before may still be unread.
            connections[number]?.unsent = []
        }
    }

    private mutating func receive(_ number: UInt32) {
        guard let connection = connections[number] else { return }
        let count = recv(connection.descriptor, &scratch, scratch.count, 0)
        if count > 0 {
            tell("d", number, scratch[..<count])
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            end(number)
            tell("c", number, [])
        }
    }

    private mutating func end(_ number: UInt32) {
        guard let connection = connections.removeValue(forKey: number) else { return }
        close(connection.descriptor)
    }

    private func tell(_ kind: Unicode.Scalar, _ number: UInt32, _ bytes: some Collection<UInt8>) {
        var message = [UInt8(ascii: kind)]
        for value in [number, UInt32(bytes.count)] {
            for shift in [0, 8, 16, 24] as [UInt32] { message.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
        message += bytes
        var rest = message[...]
        while !rest.isEmpty {
            let count = write(STDOUT_FILENO, Array(rest), rest.count)
            guard count > 0 || errno == EINTR else { exit(0) }
            rest = rest.dropFirst(max(0, count))
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
