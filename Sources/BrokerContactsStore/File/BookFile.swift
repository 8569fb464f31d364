import BrokerSQLite
import CBrokerSQLite
import Glibc

/// The file of a book. It is checked before SQLite opens it, because SQLite would repair, checkpoint or lock
/// another program's file.
struct BookFile {
    let folder: String
    var path: String { folder + "/contacts.sqlite" }
    /// SQLite's write-ahead log.
    var log: String { path + "-wal" }

    /// Whether there is a book. Checks the folder, the file and the file's header.
    ///
    /// - Parameter mayBeOpen: whether this process may have the book open. The header is then not read: if a process closes
    ///   any descriptor of a file, the kernel drops all its locks on the file, also SQLite's. Another process that looks
    ///   into the book would take it for one that nobody uses, and remove its log.
    func isBook(mayBeOpen: Bool = false) throws(StoreError) -> Bool {
        var status = stat()
        guard lstat(folder, &status) == 0 else {
            if errno == ENOENT { return false }
            throw .unavailable(reason: "cannot inspect the folder: \(Self.errorText)")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .unavailable(reason: "the path is not a folder") }
        guard status.st_uid == geteuid() else { throw .unavailable(reason: "the folder belongs to another user") }
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return false }
            throw .unavailable(reason: "cannot inspect the file: \(Self.errorText)")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unavailable(reason: "the file is not a regular file") }
        guard status.st_uid == geteuid() else { throw .unavailable(reason: "the file belongs to another user") }
        // Checks the mode too, because `access` always succeeds for root.
        guard status.st_mode & S_IWUSR != 0, access(path, R_OK | W_OK) == 0, access(folder, W_OK) == 0 else {
            throw .unavailable(reason: "the file is read-only")
        }
        if !mayBeOpen { try checkHeader(size: Int(status.st_size)) }
        return true
    }

    /// Checks the header (sqlite.org/fileformat2.html, section 1.3).
    private func checkHeader(size: Int) throws(StoreError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .unavailable(reason: "cannot open the file: \(Self.errorText)") }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: 100)
        let count = read(descriptor, &header, header.count)
        guard count == header.count, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw .damaged(reason: "the file is not an SQLite database")
        }
        let number = { (offset: Int) in header[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }
        guard number(68) == Schema.applicationIdentifier else {
            throw .damaged(reason: "the file is an SQLite database of another program")
        }
        guard number(60) <= Schema.version else { throw .newerSchema }
        guard number(60) > 0 else { throw .damaged(reason: "the file has no version") }
        let pageSize = header[16] == 0 && header[17] == 1 ? 65_536 : Int(header[16]) << 8 | Int(header[17])
        guard pageSize >= 512, pageSize.nonzeroBitCount == 1 else {
            throw .damaged(reason: "the file has no valid page size")
        }
        // If there is a log, the file may be shorter than its header says, because the log has the missing
        // pages.
        var log = stat()
        let hasLog = lstat(self.log, &log) == 0 && log.st_size > 0
        guard hasLog || size >= Int(number(28)) * pageSize else { throw .damaged(reason: "the file is truncated") }
    }

    /// The size of the write-ahead log's file in bytes; 0 if the file does not exist. The size includes parts
    /// that SQLite no longer needs.
    var logSize: Int64 {
        var status = stat()
        return lstat(log, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Creates an empty book; see ``Connection/create(_:settings:_:)``.
    func create(owner: StoreOwner, forms: String) throws(StoreError) {
        try makeFolder()
        do {
            try Database.create(path) { database in
                try Schema.migrator.apply(to: database)
                try PreparedStatement(
                    "INSERT INTO book (only, uid, userName, firstUse, forms) VALUES (1, ?, ?, unixepoch(), ?)",
                    on: database
                )
                .bind(1, Int64(owner.uid)).bind(2, owner.name).bind(3, forms).run()
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Creates an empty file in a new folder, for SQLite to write a copy to. SQLite would apply the umask to the mode.
    func makeEmpty() throws(StoreError) {
        try makeFolder()
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unavailable(reason: "cannot create the file: \(Self.errorText)") }
        close(descriptor)
    }

    private func makeFolder() throws(StoreError) {
        let slashes = folder.indices.dropFirst().filter { folder[$0] == "/" }
        for end in slashes + [folder.endIndex] {
            let made = String(folder[..<end])
            if mkdir(made, 0o700) == 0 {
                // The umask must not restrict the mode.
                guard chmod(made, 0o700) == 0 else {
                    throw .unavailable(reason: "cannot set the folder's mode: \(Self.errorText)")
                }
                try Database.syncFolder(of: made)
            } else if errno != EEXIST {
                throw .unavailable(reason: "cannot create the folder: \(Self.errorText)")
            }
        }
    }

    /// Removes other users' permissions on the folder and the file. SQLite creates the log with the file's
    /// mode.
    func tighten() throws(StoreError) {
        guard chmod(folder, 0o700) == 0, chmod(path, 0o600) == 0 else {
            throw .unavailable(reason: "cannot set the modes of folder and file: \(Self.errorText)")
        }
    }

    /// Removes the folder and the files in it, and syncs the parent folder.
    func remove() throws(StoreError) {
        guard let names = Self.names(in: folder) else {
            if errno == ENOENT { return }
            throw .unavailable(reason: "cannot list the folder: \(Self.errorText)")
        }
        for name in names {
            guard unlink(folder + "/" + name) == 0 || errno == ENOENT else {
                throw .unavailable(reason: "cannot remove \(name): \(Self.errorText)")
            }
        }
        guard rmdir(folder) == 0 || errno == ENOENT else {
            throw .unavailable(reason: "cannot remove the folder: \(Self.errorText)")
        }
        try Database.syncFolder(of: folder)
    }

    /// Removes all folders in a folder, such as those that an earlier process left. Those that cannot be removed stay.
    static func removeAll(in folder: String) {
        for name in names(in: folder) ?? [] { try? BookFile(folder: folder + "/" + name).remove() }
    }

    /// Returns the names in a folder; `nil` and `errno` if it cannot be listed.
    private static func names(in folder: String) -> [String]? {
        guard let directory = opendir(folder) else { return nil }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.filter { $0 != "." && $0 != ".." }
    }

    /// Returns the device and inode numbers of the file at the path, which change if the file is replaced.
    /// Returns `nil` if there is no file.
    func identity() -> [UInt64]? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }

    private static var errorText: String { String(cString: strerror(errno)) }
}
