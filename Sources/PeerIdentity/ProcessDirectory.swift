import AccessControl
import CLinux
import Glibc

/// `/proc/PID` of one process, held open: what is read through it is never of another process that got the number later.
final class ProcessDirectory {
    private let descriptor: CInt

    /// - Throws: `errno` as ``PeerError/unreadable(what:errno:)``; where the process has ended, whoever holds its
    ///   pidfd can tell.
    init(pid: Int32) throws(PeerError) {
        descriptor = clinux_open_path(AT_FDCWD, "/proc/\(pid)", 0)
        guard descriptor >= 0 else { throw PeerError.unreadable(what: "process", errno: -descriptor) }
    }

    deinit { close(descriptor) }

    /// The whole of a small file; files of procfs tell no size beforehand.
    func contents(of name: String, limit: Int = 65_536) -> Reading<[UInt8]> {
        let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return errno == ENOENT ? .absent : .unreadable(errno: errno) }
        defer { close(file) }
        return readAll(file, limit: limit)
    }

    /// The text of a link. A text longer than a path can be is unreadable, never cut.
    func link(_ name: String) -> Reading<[UInt8]> {
        let capacity = Int(PATH_MAX) + 64
        var text = [CChar](repeating: 0, count: capacity)
        let count = readlinkat(descriptor, name, &text, capacity)
        guard count >= 0 else { return errno == ENOENT ? .absent : .unreadable(errno: errno) }
        guard count < capacity else { return .unreadable(errno: ENAMETOOLONG) }
        return .found(text[..<count].map { UInt8(bitPattern: $0) })
    }

    func status() throws(PeerError) -> ProcessStatus {
        switch contents(of: "stat", limit: 4_096) {
        case .found(let line):
            guard let status = ProcessStatus(line: line) else {
                throw PeerError.unreadable(what: "status", errno: EINVAL)
            }
            return status
        case .absent: throw PeerError.unreadable(what: "status", errno: ESRCH)
        case .unreadable(let errno): throw PeerError.unreadable(what: "status", errno: errno)
        }
    }

    /// The number in `mnt:[4026531832]`, namespaces(7).
    func namespace(_ name: String) -> Reading<UInt64> {
        switch link("ns/\(name)") {
        case .found(let text):
            guard let open = text.firstIndex(of: UInt8(ascii: "[")), text.last == UInt8(ascii: "]"),
                let number = UInt64(String(decoding: text[(open + 1)...].dropLast(), as: UTF8.self))
            else { return .unreadable(errno: EINVAL) }
            return .found(number)
        case .absent: return .absent
        case .unreadable(let errno): return .unreadable(errno: errno)
        }
    }

    func namespaces() -> Evidence.Namespaces {
        Evidence.Namespaces(mount: namespace("mnt"), user: namespace("user"))
    }
}

/// Reads to the end. More than `limit` bytes are unreadable, never cut.
func readAll(_ file: CInt, limit: Int) -> Reading<[UInt8]> {
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    let size = piece.count
    while true {
        let count = read(file, &piece, size)
        if count == 0 { return .found(all) }
        if count < 0 {
            if errno == EINTR { continue }
            return .unreadable(errno: errno)
        }
        guard all.count + count <= limit else { return .unreadable(errno: EFBIG) }
        all.append(contentsOf: piece[..<count])
    }
}
