import CCrypto
import Glibc

/// The folder of the administrator's files, `CONFIG/policy.d/*.toml` and `CONFIG/contactbroker.toml`.
///
/// Folders and files must belong to ``owner`` or to root, and nobody else may write to them: who can write a policy decides
/// what every app gets.
public struct PolicyFolder: Hashable, Sendable {
    /// The folder that holds `policy.d`.
    public let configuration: String
    public var path: String { configuration + "/policy.d" }
    /// Whose it may be beside root.
    public let owner: uid_t

    /// One file, in bytes.
    static let maximumSize = 1_048_576
    static let maximumFiles = 256

    public init(configuration: String, owner: uid_t = geteuid()) {
        self.configuration = configuration
        self.owner = owner
    }

    /// What holds: the files' rules, or that nobody gets anything because they cannot be read.
    public func policy() -> Policy {
        do throws(PolicyError) {
            return try read()
        } catch {
            return Policy(unreadable: error)
        }
    }

    /// The rules of all files, in the order of the files' names. No folder is no rules.
    public func read() throws(PolicyError) -> Policy {
        guard let configuration = try open(configuration, folderIn: AT_FDCWD, path: configuration) else {
            return Policy()
        }
        defer { close(configuration) }
        guard let folder = try open("policy.d", folderIn: configuration, path: path) else { return Policy() }
        defer { close(folder) }
        var policy = Policy()
        var read: [UInt8] = []
        for name in try names(in: folder) {
            let file = path + "/" + name
            let text = try text(of: name, in: folder, file)
            policy = policy.joined(with: try PolicyReader.read(text, file: file))
            read += Array(name.utf8) + [0] + Array(text.utf8) + [0]
        }
        if !read.isEmpty { policy.digest = Self.digest(read) }
        return policy
    }

    /// How the broker is to run. No file is as if nothing were said in it.
    public func readSettings() throws(PolicyError) -> Settings {
        guard let configuration = try open(configuration, folderIn: AT_FDCWD, path: configuration) else {
            return Settings()
        }
        defer { close(configuration) }
        var status = stat()
        guard fstatat(configuration, Settings.fileName, &status, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT else {
            return Settings()
        }
        let file = self.configuration + "/" + Settings.fileName
        return try Settings(text(of: Settings.fileName, in: configuration, file), file: file)
    }

    private static func digest(_ bytes: [UInt8]) -> String? {
        var digest = [UInt8](repeating: 0, count: Int(CCRYPTO_SHA256_SIZE))
        guard ccrypto_sha256(bytes, bytes.count, &digest) == 1 else { return nil }
        let digits = Array("0123456789abcdef")
        return digest.reduce(into: "") {
            $0.append(digits[Int($1 >> 4)])
            $0.append(digits[Int($1 & 15)])
        }
    }

    // MARK: Folders

    /// - Returns: `nil` where it is not there.
    private func open(_ name: String, folderIn parent: CInt, path: String) throws(PolicyError) -> CInt? {
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

    /// The files that count, sorted by bytes. A name that begins with a dot is an editor's, not the administrator's.
    private func names(in folder: CInt) throws(PolicyError) -> [String] {
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
        guard names.count <= Self.maximumFiles else {
            throw PolicyError(file: path, reason: "more than \(Self.maximumFiles) files")
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    // MARK: Files

    private func text(of name: String, in folder: CInt, _ file: String) throws(PolicyError) -> String {
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
            guard bytes.count <= Self.maximumSize else {
                throw PolicyError(file: file, reason: "longer than \(Self.maximumSize) bytes")
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
                reason: "belongs to user \(status.st_uid), who would decide what every app gets; it must be "
                    + (owner == 0 ? "root's" : "yours"))
        }
        guard status.st_mode & 0o022 == 0 else {
            throw PolicyError(file: path, reason: "others can write to it: chmod go-w")
        }
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}
