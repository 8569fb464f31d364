import Glibc

/// The folder and the name of a file to write.
///
/// A path may lead through symbolic links that the user or root made. A link of anybody else is refused: in a folder that
/// others can write to, such as `/tmp`, it could lead to one of the user's own files, which would be replaced. The kernel
/// does not prevent that, because fs.protected_symlinks (proc_sys_fs(5)) is only about opening a file.
final class OutputPlace {
    enum Failure: Error {
        case system(CInt)
        case notFile
        /// The path itself is a link, and may not be one.
        case isLink
        /// Another user made this link on the way.
        case linkOfAnother(String)
    }

    /// A descriptor for openat(2) and its like only (`O_PATH`), so the folder need not be readable.
    private(set) var folder: CInt = -1
    private(set) var name = ""

    /// The largest number of links in a path, as in path_resolution(7).
    private static let mostLinks = 40
    /// O_PATH of open(2), which Glibc's module lacks.
    private static let pathOnly: CInt = 0o10_000_000

    /// - Parameter followsLink: whether the path itself may be a link. Its target need not exist.
    init(_ path: String, followsLink: Bool) throws(Failure) {
        var rest = Array(path.split(separator: "/").reversed())
        var links = 0
        try enter(path.hasPrefix("/") ? "/" : ".", of: AT_FDCWD)
        while let part = rest.popLast().map(String.init) {
            let entry = openat(folder, part, Self.pathOnly | O_NOFOLLOW | O_CLOEXEC)
            guard entry >= 0 else {
                guard errno == ENOENT, rest.isEmpty else { throw .system(errno) }
                name = part
                return
            }
            defer { close(entry) }
            var status = stat()
            guard fstat(entry, &status) == 0 else { throw .system(errno) }
            switch status.st_mode & S_IFMT {
            case S_IFLNK:
                if rest.isEmpty, !followsLink { throw .isLink }
                guard status.st_uid == geteuid() || status.st_uid == 0 else { throw .linkOfAnother(part) }
                links += 1
                guard links <= Self.mostLinks else { throw .system(ELOOP) }
                var target = [CChar](repeating: 0, count: Int(PATH_MAX))
                // An empty name means the link that is open, so its owner and its target belong together.
                let count = readlinkat(entry, "", &target, target.count)
                guard count > 0 else { throw .system(count == 0 ? ENOENT : errno) }
                let text = String(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
                if text.hasPrefix("/") { try enter("/", of: AT_FDCWD) }
                rest += text.split(separator: "/").reversed()
            case S_IFREG where rest.isEmpty:
                name = part
                return
            case _ where rest.isEmpty: throw .notFile
            default: try enter(part, of: folder)
            }
        }
        throw path.isEmpty ? .system(ENOENT) : .notFile
    }

    deinit { if folder >= 0 { close(folder) } }

    private func enter(_ name: String, of parent: CInt) throws(Failure) {
        let next = openat(parent, name, Self.pathOnly | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard next >= 0 else { throw .system(errno) }
        if folder >= 0 { close(folder) }
        folder = next
    }
}
