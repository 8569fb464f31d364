import CBrokerLinux
import Glibc
import Synchronization

/// The interpreters installed on this system, used to recognise a copy under another name.
final class SystemInterpreters: Sendable {
    private static let directories = ["/usr/bin", "/usr/local/bin"]

    private let table = Mutex(Table())

    private struct Table {
        /// The state of the directories when they were read. Installing a program changes it.
        var read: [FileIdentity?] = []
        var bySize: [UInt64: [String]] = [:]
    }

    /// Returns the path of the system's interpreter that is this file or has the same contents; `nil` if
    /// there is none.
    ///
    /// Only files of equal size are compared, so very few are hashed.
    func original(of file: FileIdentity, digest: Executable.Digest, hashes: HashCache) -> String? {
        guard case .sha256(let sha256) = digest else { return nil }
        return candidates(ofSize: file.size).first { path in
            let candidate = clinux_open_path(AT_FDCWD, path, 1)
            guard candidate >= 0 else { return false }
            defer { close(candidate) }
            var status = clinux_file()
            guard clinux_file_status(candidate, &status) == 0, status.size == file.size else { return false }
            return FileIdentity(status) == file || hashes.digest(of: candidate, status) == .sha256(sha256)
        }
    }

    func prepare() { _ = candidates(ofSize: 0) }

    private func candidates(ofSize size: UInt64) -> [String] {
        let now = Self.directories.map { Self.status(of: $0).map { FileIdentity($0) } }
        return table.withLock { table in
            if table.read != now {
                table.bySize = Self.readDirectories()
                table.read = now
            }
            return table.bySize[size] ?? []
        }
    }

    private static func readDirectories() -> [UInt64: [String]] {
        var bySize: [UInt64: [String]] = [:]
        for directory in directories {
            for path in paths(in: directory)
            where Interpreter.isInterpreter(name: String(path.dropFirst(directory.utf8.count + 1))) {
                guard let status = status(of: path), status.is_regular == 1 else { continue }
                bySize[status.size, default: []].append(path)
            }
        }
        return bySize
    }

    private static func paths(in directory: String) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(directory + "/*", GLOB_NOSORT, nil, &found) == 0 else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
    }

    private static func status(of path: String) -> clinux_file? {
        var status = clinux_file()
        return clinux_file_status_at(AT_FDCWD, path, 1, &status) == 0 ? status : nil
    }
}
