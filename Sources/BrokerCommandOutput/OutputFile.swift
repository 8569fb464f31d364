import Glibc

/// A file that is written completely or not at all. Bytes go to a temporary file, which is renamed into place
/// at the end (rename(2)). Only the owner can read the file.
public final class OutputFile {
    private let path: String
    private let temporary: String
    private let task: String
    private var descriptor: CInt
    /// For a program that writes to the file.
    public var fileDescriptor: CInt { descriptor }

    /// - Parameters:
    ///   - task: the verb phrase that follows `could not` in an error.
    ///   - followsLink: whether a path that is a symbolic link means its target. The link then stays, and its target is
    ///     replaced. Otherwise a link is an error.
    ///   - forGroupOfFolder: whether the group that owns the folder can read the file, too.
    public init(
        at path: String, to task: String, followsLink: Bool = true, forGroupOfFolder: Bool = false
    ) throws {
        self.task = task
        var target = path
        if followsLink {
            var resolved = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
            target = realpath(path, &resolved).map { String(cString: $0) } ?? path
        }
        self.path = target
        var status = stat()
        // A link that replaces the file after this check is itself replaced, because rename(2) does not follow it.
        if (followsLink ? stat(target, &status) : lstat(target, &status)) == 0, status.st_mode & S_IFMT != S_IFREG {
            let isLink = status.st_mode & S_IFMT == S_IFLNK
            throw CommandFailure(
                "could not \(task): \(Speech.clean(path)): \(isLink ? "a symbolic link" : "not a file")",
                try: isLink ? "name a file, not a link to one" : nil, .notTried)
        }
        var template = Array("\(target).XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        // No process is started between the two calls, so no process inherits the descriptor.
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        temporary = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        guard descriptor >= 0 else { throw OutputFile.failure(task, path, errno) }
        guard forGroupOfFolder else { return }
        let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? "."
        guard stat(folder, &status) == 0, fchown(descriptor, .max, status.st_gid) == 0, fchmod(descriptor, 0o640) == 0
        else { throw OutputFile.failure(task, path, errno) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        unlink(temporary)
    }

    public func write(_ bytes: [UInt8]) throws {
        guard OutputFile.write(bytes, to: descriptor) else { throw OutputFile.failure(task, path, errno) }
    }

    /// Syncs the file to disk and renames it into place.
    public func finish() throws { try finish(isSynced: true) }

    /// - Parameter isSynced: whether to sync the file before the rename.
    public func finish(isSynced: Bool) throws {
        guard !isSynced || fsync(descriptor) == 0, rename(temporary, path) == 0 else {
            throw OutputFile.failure(task, path, errno)
        }
        close(descriptor)
        descriptor = -1
    }

    public static func failure(_ task: String, _ path: String, _ code: CInt) -> CommandFailure {
        CommandFailure(
            "could not \(task): \(Speech.clean(path)): \(String(cString: strerror(code)).lowercased())", .notTried)
    }

    /// Writes all bytes. On failure, this returns `false` and errno contains the reason.
    public static func write(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        var done = 0
        while done < bytes.count {
            // Sound: the pointer does not leave the closure.
            let count = unsafe bytes[done...].withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                return false
            }
            done += count
        }
        return true
    }
}
