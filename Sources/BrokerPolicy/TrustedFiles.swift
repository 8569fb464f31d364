import Glibc

/// Files that say what the broker does, in folders that say so too: all of them must belong to ``owner`` or to root, nobody else may
/// write to them, and none may be a link or keep the broker waiting.
public struct TrustedFiles {
    /// Whose they may be beside root.
    let owner: uid_t
    /// What another owner could do, to stand behind `belongs to user 1000`.
    let mischief: String
    /// One file, in bytes.
    let maximumSize: Int
    /// In one folder.
    let maximumFiles: Int

    public init(owner: uid_t, mischief: String = "", maximumSize: Int, maximumFiles: Int) {
        self.owner = owner
        self.mischief = mischief
        self.maximumSize = maximumSize
        self.maximumFiles = maximumFiles
    }

    /// Opens a folder; whoever gets it closes it.
    ///
    /// - Parameters:
    ///   - parent: an open folder; without one the name is a path.
    ///   - path: what errors call it.
    /// - Returns: `nil` where it is not there.
    public func folder(
        _ name: String, in parent: CInt = AT_FDCWD, path: String? = nil
    ) throws(PolicyError) -> CInt? {
        let path = path ?? name
        let descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            guard errno != ENOENT else { return nil }
            throw PolicyError(file: path, reason: "the folder cannot be opened: \(Self.lastError)")
        }
        do throws(PolicyError) {
            try check(descriptor, S_IFDIR, path)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// The files that count, `*.toml`, sorted by bytes. A name that begins with a dot is an editor's or an installer's, half written.
    public func names(in folder: CInt, _ path: String) throws(PolicyError) -> [String] {
        // The stream takes its descriptor along when it closes.
        let copy = fcntl(folder, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0, let stream = fdopendir(copy) else {
            if copy >= 0 { close(copy) }
            throw PolicyError(file: path, reason: "the folder cannot be listed: \(Self.lastError)")
        }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".toml"), !name.hasPrefix(".") { names.append(name) }
            errno = 0
        }
        guard errno == 0 else {
            throw PolicyError(file: path, reason: "the folder cannot be listed: \(Self.lastError)")
        }
        guard names.count <= maximumFiles else {
            throw PolicyError(file: path, reason: "more than \(maximumFiles) files")
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// One file, whole.
    public func text(of name: String, in folder: CInt, _ file: String) throws(PolicyError) -> String {
        // Without waiting, so that a FIFO of that name does not stop the broker.
        let descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw PolicyError(
                file: file,
                reason: errno == ELOOP
                    ? "a symbolic link; put the file itself there" : "cannot be opened: \(Self.lastError)")
        }
        defer { close(descriptor) }
        try check(descriptor, S_IFREG, file)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw PolicyError(file: file, reason: "cannot be read: \(Self.lastError)")
            }
            guard count > 0 else { break }
            bytes += buffer[..<count]
            guard bytes.count <= maximumSize else {
                throw PolicyError(file: file, reason: "longer than \(maximumSize) bytes")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PolicyError(file: file, reason: "not UTF-8")
        }
        return text
    }

    private func check(_ descriptor: CInt, _ kind: mode_t, _ path: String) throws(PolicyError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw PolicyError(file: path, reason: "cannot be looked at: \(Self.lastError)")
        }
        guard status.st_mode & S_IFMT == kind else {
            throw PolicyError(file: path, reason: kind == S_IFDIR ? "no folder" : "no regular file")
        }
        guard status.st_uid == owner || status.st_uid == 0 else {
            throw PolicyError(
                file: path,
                reason: "belongs to user \(status.st_uid)\(mischief); it must be " + (owner == 0 ? "root's" : "yours"))
        }
        guard status.st_mode & 0o022 == 0 else {
            throw PolicyError(file: path, reason: "others can write to it: chmod go-w")
        }
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}
