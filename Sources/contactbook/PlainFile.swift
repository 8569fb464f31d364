import Glibc

/// Reads regular files of limited size, and lists folders.
enum PlainFile {
    enum Failure: Error {
        case notRegular
        case tooLarge
        case system(CInt)
    }

    /// Returns all bytes of a regular file. This does not follow a symbolic link at the end of the path, and
    /// does not block on other file types.
    static func read(_ name: String, in folder: CInt = AT_FDCWD, atMost limit: Int) throws(Failure) -> [UInt8] {
        let descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw errno == ELOOP ? .notRegular : .system(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        let size = Int(status.st_size)
        guard size <= limit else { throw .tooLarge }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(errno) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
            // The file may have grown while it was read.
            guard bytes.count <= limit else { throw .tooLarge }
        }
    }

    /// The names in a folder, sorted, without those that begin with a dot.
    static func names(in folder: CInt) throws(Failure) -> [String] {
        let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let directory = fdopendir(copy) else { throw .system(errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}

extension PlainFile.Failure: CustomStringConvertible {
    var description: String {
        switch self {
        case .notRegular: "not a file, or a link to one"
        case .tooLarge: "too large"
        case .system(let code): String(cString: strerror(code)).lowercased()
        }
    }
}
