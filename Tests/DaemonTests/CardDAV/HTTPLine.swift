import Glibc

/// A TCP connection to a service on the loopback, for requests that a real client would not send.
final class HTTPLine {
    private let descriptor: CInt
    private var received: [UInt8] = []

    struct Response {
        let status: Int
        /// By their names in lower case.
        let fields: [String: String]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Trouble("nobody listens on port \(port)") }
    }

    deinit { close(descriptor) }

    /// Ends the connection with a reset.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        shutdown(descriptor, CInt(SHUT_RDWR))
    }

    /// Sends as much as the service takes.
    func send(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    func send(_ text: String) { send(text.utf8) }

    /// Reads one response. Returns `nil` if the service closes the connection without a whole one.
    func response(toHead: Bool = false, within time: Duration = .seconds(30)) throws -> Response? {
        let deadline = ContinuousClock.now + time
        while true {
            if let response = parse(toHead: toHead, isEnd: false) { return response }
            guard try receive(until: deadline) else { return parse(toHead: toHead, isEnd: true) }
        }
    }

    /// Whether the service closes the connection, whatever it sends before.
    func isClosed(within time: Duration = .seconds(30)) throws -> Bool {
        let deadline = ContinuousClock.now + time
        while try receive(until: deadline) {}
        return true
    }

    /// - Returns: `false` at the end of the connection.
    private func receive(until deadline: ContinuousClock.Instant) throws -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, deadline.millisecondsLeft) > 0 else { throw Trouble("the service does not answer") }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return false }
        received += bytes[..<count]
        return true
    }

    private func parse(toHead: Bool, isEnd: Bool) -> Response? {
        guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[parts[0].lowercased()] = parts.count == 2 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let rest = received[end.upperBound...]
        if status == 100 || toHead || status == 304 {
            received = Array(rest)
            return Response(status: status, fields: fields, body: [])
        }
        guard let (body, left) = fields["transfer-encoding"] == "chunked" ? chunks(rest) : whole(rest, fields) else {
            return nil
        }
        received = Array(left)
        return Response(status: status, fields: fields, body: body)
    }

    private func whole(_ bytes: ArraySlice<UInt8>, _ fields: [String: String]) -> ([UInt8], ArraySlice<UInt8>)? {
        let length = fields["content-length"].flatMap { Int($0) } ?? 0
        return bytes.count < length ? nil : (Array(bytes.prefix(length)), bytes.dropFirst(length))
    }

    private func chunks(_ bytes: ArraySlice<UInt8>) -> ([UInt8], ArraySlice<UInt8>)? {
        var (body, rest): ([UInt8], ArraySlice<UInt8>) = ([], bytes)
        while let line = rest.firstRange(of: Array("\r\n".utf8)),
            let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16)
        {
            let chunk = rest[line.upperBound...]
            guard chunk.count >= size + 2 else { return nil }
            body += chunk.prefix(size)
            rest = chunk.dropFirst(size + 2)
            if size == 0 { return (body, rest) }
        }
        return nil
    }
}
