import Glibc

/// A file that is written completely or not at all. Only the owner can read the file.
///
/// The bytes go to a file without a name (`O_TMPFILE`), which gets its name at the end. The kernel removes it when this
/// process ends before, however it ends.
public final class OutputFile {
    private let path: String
    private let place: OutputPlace
    private let task: String
    private var descriptor: CInt
    /// The file's name while it is not in place; `nil` if it has none.
    private var temporary: String?
    /// For a program that writes to the file.
    public var fileDescriptor: CInt { descriptor }

    /// - Parameters:
    ///   - task: the verb phrase that follows `could not` in an error.
    ///   - followsLink: whether a path that is a symbolic link means its target. The link then stays, and its target is
    ///     replaced. Otherwise a link is an error. A link that neither the user nor root made is always an error.
    ///   - forGroupOfFolder: whether the group that owns the folder can read the file, too.
    public init(
        at path: String, to task: String, followsLink: Bool = true, forGroupOfFolder: Bool = false
    ) throws {
        (self.path, self.task) = (path, task)
        do throws(OutputPlace.Failure) {
            place = try OutputPlace(path, followsLink: followsLink)
        } catch {
            throw Self.failure(task, path, error)
        }
        descriptor = openat(place.folder, ".", Self.unnamed | O_RDWR | O_CLOEXEC, 0o600)
        // Without /proc, the file could not get its name.
        if descriptor >= 0, access(Self.link(to: descriptor), F_OK) != 0 {
            close(descriptor)
            descriptor = -1
        }
        if descriptor < 0 {
            // The file system has no files without names.
            temporary = spareName { name in
                descriptor = openat(place.folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
                return descriptor >= 0
            }
        }
        guard descriptor >= 0 else { throw Self.failure(task, path, errno) }
        guard forGroupOfFolder else { return }
        var status = stat()
        guard fstat(place.folder, &status) == 0, fchown(descriptor, .max, status.st_gid) == 0,
            fchmod(descriptor, 0o640) == 0
        else { throw Self.failure(task, path, errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if let temporary { unlinkat(place.folder, temporary, 0) }
    }

    /// O_TMPFILE of open(2), which Glibc's module lacks.
    private static let unnamed: CInt = 0o20_000_000 | O_DIRECTORY

    private static func link(to descriptor: CInt) -> String { "/proc/self/fd/\(descriptor)" }

    /// Tries names until one is not in use.
    ///
    /// - Returns: `nil` if another error occurred, which errno contains.
    private func spareName(_ use: (String) -> Bool) -> String? {
        for _ in 0..<100 {
            let name = "\(place.name).\(String(UInt32.random(in: 0 ... .max), radix: 36))"
            if use(name) { return name }
            guard errno == EEXIST else { return nil }
        }
        return nil
    }

    public func write(_ bytes: [UInt8]) throws {
        guard OutputFile.write(bytes, to: descriptor) else { throw OutputFile.failure(task, path, errno) }
    }

    /// Syncs the file to disk, puts it in place, and syncs the folder.
    public func finish() throws { try finish(isSynced: true) }

    /// - Parameter isSynced: whether to sync the file before it gets its name, and the folder afterwards.
    public func finish(isSynced: Bool) throws {
        guard !isSynced || fsync(descriptor) == 0, putInPlace(), !isSynced || syncFolder() else {
            throw OutputFile.failure(task, path, errno)
        }
        close(descriptor)
        descriptor = -1
    }

    /// Gives the file its name. A file or link that has the name is replaced, and a link is not followed.
    private func putInPlace() -> Bool {
        if temporary == nil {
            func link(as name: String) -> Bool {
                linkat(AT_FDCWD, Self.link(to: descriptor), place.folder, name, AT_SYMLINK_FOLLOW) == 0
            }
            if link(as: place.name) { return true }
            guard errno == EEXIST else { return false }
            // linkat(2) replaces nothing. A kill between it and the rename leaves a whole file with the spare name.
            temporary = spareName(link)
        }
        guard let name = temporary, renameat(place.folder, name, place.folder, place.name) == 0 else { return false }
        temporary = nil
        return true
    }

    private func syncFolder() -> Bool {
        let folder = openat(place.folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder that the user can write to but not read cannot be synced.
        guard folder >= 0 else { return errno == EACCES }
        defer { close(folder) }
        // EINVAL: the file system does not sync folders.
        return fsync(folder) == 0 || errno == EINVAL
    }

    private static func failure(_ task: String, _ path: String, _ failure: OutputPlace.Failure) -> CommandFailure {
        func refused(_ reason: String, try advice: String?) -> CommandFailure {
            CommandFailure("could not \(task): \(Speech.clean(path)): \(reason)", try: advice, .notTried)
        }
        return switch failure {
        case .system(let code): self.failure(task, path, code)
        case .notFile: refused("not a file", try: nil)
        case .isLink: refused("a symbolic link", try: "name a file, not a link to one")
        case .linkOfAnother(let name):
            refused(
                "another user made the symbolic link \(Speech.clean(name))",
                try: "name the file itself, or one in a folder of your own")
        }
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
