import BrokerJSON
import CBrokerLinux
import Glibc

/// A peer that sends any bytes, Varlink or not. Every wait ends after half a minute.
final class RawClient {
    let descriptor: CInt
    private var received: [UInt8] = []
    /// The start of the next frame, and the position before which that frame has no NUL.
    private var start = 0
    private var searched = 0
    private var hasEnded = false

    init(_ path: String) throws {
        descriptor = clinux_connect(path, 30_000)
        guard descriptor >= 0 else {
            errno = -descriptor
            throw SystemError()
        }
    }

    deinit { close(descriptor) }

    /// Sends everything, unless the server hangs up.
    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                guard wait(CInt(POLLOUT)) else { return }
            } else {
                return
            }
        }
    }

    func send(_ text: String) { send(Array(text.utf8) + [0]) }

    func call(_ method: String, _ parameters: String = "{}", _ flags: String = "") {
        send(#"{"method":"a.b.\#(method)","parameters":\#(parameters)\#(flags)}"#)
    }

    /// Sends as many bytes as the socket accepts at once.
    /// - Returns: how many bytes.
    func sendSome(_ bytes: [UInt8]) -> Int {
        max(0, bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) })
    }

    func endInput() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// The next frame; `nil` if the server hangs up or sends nothing.
    func frame() -> String? {
        while true {
            if let end = received[searched...].firstIndex(of: 0) {
                let frame = String(decoding: received[start..<end], as: UTF8.self)
                start = end + 1
                searched = start
                return frame
            }
            received.removeFirst(start)
            start = 0
            searched = received.count
            guard receive() else { return nil }
        }
    }

    /// The next reply's parameters as text.
    func reply() -> String? {
        guard let frame = frame(), let value = try? JSONDocument(parsing: Array(frame.utf8)).root else { return nil }
        return value["parameters"].map { String(decoding: $0.text, as: UTF8.self) }
    }

    /// The number of frames before the server hangs up, and whether it does.
    func framesUntilEnd() -> (count: Int, ended: Bool) {
        var count = received[start...].count { $0 == 0 }
        received = []
        start = 0
        searched = 0
        while receive() {
            count += received.count { $0 == 0 }
            received = []
        }
        return (count, hasEnded)
    }

    /// Whether the server hangs up; bytes before that are dropped.
    var isHungUp: Bool { framesUntilEnd().ended }

    private func receive() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count > 0 {
                received += bytes[..<count]
                return true
            }
            if count < 0, errno == EAGAIN {
                guard wait(CInt(POLLIN)) else { return false }
                continue
            }
            hasEnded = true
            return false
        }
    }

    private func wait(_ events: CInt) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return poll(&waiting, 1, 30_000) > 0
    }
}
