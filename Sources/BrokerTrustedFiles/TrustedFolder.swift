import Glibc

/// An open folder of files that control the broker. Folder and files must belong to ``Terms/owner`` or to
/// root, and nobody else may write to them. Neither the folder nor a file may be a symbolic link. A file must
/// be a regular file.
public struct TrustedFolder: ~Copyable {
    public struct Terms {
        /// The permitted owner, in addition to root.
        let owner: uid_t
        /// What another owner could do; appended to `belongs to user 1000` in an error.
        let mischief: String
        /// The maximum size of one file, in bytes.
        let maximumSize: Int
        let maximumFiles: Int

        public init(owner: uid_t, mischief: String = "", maximumSize: Int, maximumFiles: Int) {
            self.owner = owner
            self.mischief = mischief
            self.maximumSize = maximumSize
            self.maximumFiles = maximumFiles
        }
    }

    public let path: String
    private let terms: Terms
    private let descriptor: CInt

    private init(path: String, terms: Terms, descriptor: CInt) {
        self.path = path
        self.terms = terms
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Opens a folder.
    ///
    /// - Returns: `nil` if the folder does not exist.
    public static func open(_ path: String, _ terms: Terms) throws(TrustedFileError) -> TrustedFolder? {
        try open(path, in: AT_FDCWD, path, terms)
    }

    /// Opens a folder in this one, with the same terms; returns `nil` if it does not exist.
    public func folder(_ name: String) throws(TrustedFileError) -> TrustedFolder? {
        try Self.open(name, in: descriptor, path + "/" + name, terms)
    }

    private static func open(
        _ name: String, in parent: CInt, _ path: String, _ terms: Terms
    ) throws(TrustedFileError) -> TrustedFolder? {
        let descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            guard errno != ENOENT else { return nil }
            throw TrustedFileError(file: path, reason: "the folder cannot be opened: \(lastError)")
        }
        let folder = TrustedFolder(path: path, terms: terms, descriptor: descriptor)
        try check(descriptor, S_IFDIR, path, terms)
        return folder
    }

    /// Reads the files `*.toml`, sorted by the bytes of their names. Skips names that begin with a dot:
    /// editors and installers use them for unfinished files.
    ///
    /// - Returns: the problems of files that cannot be read or that `body` rejects.
    public func readFiles(
        _ body: (_ name: String, _ file: String, _ text: String) throws(TrustedFileError) -> Void
    ) throws(TrustedFileError) -> [TrustedFileError] {
        var problems: [TrustedFileError] = []
        for name in try names() {
            do throws(TrustedFileError) {
                try body(name, path + "/" + name, text(of: name))
            } catch {
                problems.append(error)
            }
        }
        return problems
    }

    /// Returns the paths of the entries that ``readFiles(_:)`` skips, sorted.
    public func unread() throws(TrustedFileError) -> [String] {
        try entries().filter { !Self.isRead($0) && $0 != "." && $0 != ".." }.sorted().map { path + "/" + $0 }
    }

    private static func isRead(_ name: String) -> Bool { name.hasSuffix(".toml") && !name.hasPrefix(".") }

    private func names() throws(TrustedFileError) -> [String] {
        let names = try entries().filter(Self.isRead)
        guard names.count <= terms.maximumFiles else {
            throw TrustedFileError(file: path, reason: "more than \(terms.maximumFiles) files")
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func entries() throws(TrustedFileError) -> [String] {
        // closedir(3) also closes the stream's descriptor, so the stream gets a copy.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0, let stream = fdopendir(copy) else {
            if copy >= 0 { close(copy) }
            throw TrustedFileError(file: path, reason: "the folder cannot be listed: \(Self.lastError)")
        }
        defer { closedir(stream) }
        // The copy shares its position with an earlier listing.
        rewinddir(stream)
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
            errno = 0
        }
        guard errno == 0 else {
            throw TrustedFileError(file: path, reason: "the folder cannot be listed: \(Self.lastError)")
        }
        return names
    }

    /// Whether the folder has an entry with this name, of any type. Also true if this cannot be determined.
    public func contains(_ name: String) -> Bool {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT
    }

    /// Reads one file completely.
    public func text(of name: String) throws(TrustedFileError) -> String {
        try Self.text(of: name, in: descriptor, path + "/" + name, terms)
    }

    /// Reads one file completely, regardless of who can write to its folder. The file must meet the terms.
    public static func text(ofFile path: String, _ terms: Terms) throws(TrustedFileError) -> String {
        try text(of: path, in: AT_FDCWD, path, terms)
    }

    private static func text(
        of name: String, in folder: CInt, _ file: String, _ terms: Terms
    ) throws(TrustedFileError) -> String {
        // Non-blocking, so that a FIFO with this name does not block the broker.
        let descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw TrustedFileError(
                file: file,
                reason: errno == ELOOP
                    ? "is a symbolic link; replace it with the file itself" : "cannot be opened: \(lastError)")
        }
        defer { close(descriptor) }
        try check(descriptor, S_IFREG, file, terms)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw TrustedFileError(file: file, reason: "cannot be read: \(lastError)")
            }
            guard count > 0 else { break }
            bytes += buffer[..<count]
            guard bytes.count <= terms.maximumSize else {
                throw TrustedFileError(file: file, reason: "longer than \(terms.maximumSize) bytes")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw TrustedFileError(file: file, reason: "not UTF-8")
        }
        return text
    }

    private static func check(
        _ descriptor: CInt, _ kind: mode_t, _ path: String, _ terms: Terms
    ) throws(TrustedFileError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw TrustedFileError(file: path, reason: "cannot be inspected: \(lastError)")
        }
        guard status.st_mode & S_IFMT == kind else {
            throw TrustedFileError(file: path, reason: kind == S_IFDIR ? "not a folder" : "not a regular file")
        }
        guard status.st_uid == terms.owner || status.st_uid == 0 else {
            throw TrustedFileError(
                file: path,
                reason: "belongs to user \(status.st_uid)\(terms.mischief); it must belong to "
                    + (terms.owner == 0 ? "root" : "you"))
        }
        guard status.st_mode & 0o022 == 0 else {
            throw TrustedFileError(file: path, reason: "others can write to it: chmod go-w")
        }
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}
