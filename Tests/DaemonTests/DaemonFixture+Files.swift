import Glibc

extension DaemonFixture {
    static func bytes(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 256 * 1_024)
        while true {
            let count = read(file, &piece, piece.count)
            guard count > 0 else { return count == 0 ? all : nil }
            all += piece[..<count]
        }
    }

    static func text(of path: String) -> String { String(decoding: bytes(of: path) ?? [], as: UTF8.self) }

    static func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o600) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count, Glibc.close(file) == 0 else {
            throw Trouble("could not write \(path)")
        }
    }

    static func copy(_ path: String, to other: String) throws {
        guard let bytes = bytes(of: path) else { throw Trouble("could not read \(path)") }
        // A file that any process has open for writing cannot be executed (ETXTBSY). A child that another test starts
        // now would inherit the descriptor until it executes its own program, so a separate process writes the copy.
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        let copying = try ChildProcess(
            "/bin/cp", ["--", path, other], descriptors: [(0, nothing), (1, nothing), (2, nothing)])
        guard try copying.waitForEnd() == .exited(0), !bytes.isEmpty else { throw Trouble("could not copy \(path)") }
    }

    /// The bytes of every file below a folder, by path.
    static func contents(of folder: String) -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for path in paths(below: folder) { found[path] = bytes(of: path) ?? [] }
        return found
    }

    /// The paths of all files below a folder.
    static func paths(below folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var paths: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name != ".", name != ".." else { continue }
            let path = folder + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { paths += Self.paths(below: path) } else { paths.append(path) }
        }
        return paths
    }

    static func remove(_ folder: String) {
        guard let directory = opendir(folder) else { return }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        closedir(directory)
        for name in names where name != "." && name != ".." {
            let path = folder + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                chmod(path, 0o700)
                remove(path)
            } else {
                unlink(path)
            }
        }
        rmdir(folder)
    }
}
