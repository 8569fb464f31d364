import Glibc

/// Reads a small file that the kernel provides, at most 64 KiB.
func contents(ofFile path: String) -> Observation<[UInt8]> {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return errno == ENOENT ? .absent : .unreadable(errno: errno) }
    defer { close(file) }
    return readAll(file, limit: 65_536)
}

/// Reads to the end of the file. Returns `unreadable` if it has more than `limit` bytes, never a truncated result.
func readAll(_ file: CInt, limit: Int) -> Observation<[UInt8]> {
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
