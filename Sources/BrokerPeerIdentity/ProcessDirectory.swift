import BrokerAccessControl
import CBrokerLinux
import Glibc
import Synchronization

/// `/proc/PID` of one process, held open: what is read through it is never of another process that got the number later.
final class ProcessDirectory: Sendable {
    let descriptor: CInt
    private let statusFile: KernelFile
    private let controlGroupFile: KernelFile

    /// - Throws: `errno` as ``PeerError/unreadable(what:errno:)``; where the process has ended, whoever holds its
    ///   pidfd can tell.
    init(pid: Int32) throws(PeerError) {
        descriptor = clinux_open_path(AT_FDCWD, "/proc/\(pid)", 0)
        statusFile = KernelFile(descriptor, "stat")
        controlGroupFile = KernelFile(descriptor, "cgroup")
        guard descriptor >= 0 else { throw PeerError.unreadable(what: "process", errno: -descriptor) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The text of `/proc/PID/cgroup`.
    func controlGroup() -> Reading<[UInt8]> { controlGroupFile.contents(limit: 65_536) }

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
        switch statusFile.contents(limit: 4_096) {
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

/// A file of one process below `/proc`, opened when it is first read and then held: each reading is of that moment, and of
/// no other process.
private final class KernelFile: Sendable {
    private let directory: CInt
    private let name: String
    private let opened = Mutex<CInt?>(nil)

    init(_ directory: CInt, _ name: String) {
        self.directory = directory
        self.name = name
    }

    deinit { opened.withLock { if let file = $0 { close(file) } } }

    /// Such a file tells no size beforehand, and all of itself in one piece if there is room for it. More than `limit`
    /// bytes are unreadable, never cut.
    func contents(limit: Int) -> Reading<[UInt8]> {
        let file = opened.withLock { opened in
            if let file = opened { return file }
            let file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            if file >= 0 { opened = file }
            return file >= 0 ? file : -errno
        }
        guard file >= 0 else { return -file == ENOENT ? .absent : .unreadable(errno: -file) }
        for room in [1_024, limit + 1] {
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: room) { piece, size in
                repeat { count = pread(file, piece.baseAddress, room, 0) } while count < 0 && errno == EINTR
                if count < 0 { count = -Int(errno) }
                size = max(0, count)
            }
            if count < 0 { return .unreadable(errno: CInt(-count)) }
            if count < room { return .found(bytes) }
        }
        return .unreadable(errno: EFBIG)
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
