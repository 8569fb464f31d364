import Glibc

extension Connection {
    /// Creates a database that has a write-ahead log, and closes it. A crash, a power cut or an error at any moment leaves
    /// no file at the path, or the complete and synced one. It throws if there is a file at the path already.
    ///
    /// - Parameters:
    ///   - settings: as for ``init(path:_:patience:settings:)``.
    ///   - fill: makes the tables.
    public static func create(
        _ path: String, settings: String = "", _ fill: (Connection) throws -> Void
    ) throws {
        var status = stat()
        guard lstat(path, &status) != 0 else { throw Failure.unavailable(reason: "\(path) exists already") }
        let making = path + ".new"
        // SQLite would apply a journal or a log that another file left to this one.
        try remove([making, making + "-journal", making + "-wal", making + "-shm"])
        let file = open(making, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failed("create", making) }
        defer {
            Glibc.close(file)
            try? remove([making, making + "-journal", making + "-wal", making + "-shm"])
        }
        // The umask must not restrict the mode.
        guard fchmod(file, 0o600) == 0 else { throw failed("set the mode of", making) }
        // Nobody uses the file before it has its name, so SQLite need not protect it from a crash.
        let fast = "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;"
        let connection = try Connection(path: making, .readWrite, patience: 0, settings: fast + settings)
        defer { connection.close() }
        try connection.write(fill)
        try connection.useLog()
        connection.close()
        guard fsync(file) == 0 else { throw failed("sync", making) }
        try remove([path + "-journal", path + "-wal", path + "-shm"])
        // `link` fails if a file has appeared at the path meanwhile; `rename` would replace it.
        guard link(making, path) == 0 else { throw failed("create", path) }
        try remove([making])
        try syncFolder(of: path)
    }

    /// Turns the write-ahead log on.
    public func useLog() throws(Failure) {
        guard try text("PRAGMA journal_mode = WAL") == "wal" else {
            throw .unavailable(reason: "the folder's file system does not support SQLite's write-ahead log")
        }
    }

    /// Ends a rollback journal that is beside a database. Only a connection that may write can roll it back, so call this
    /// before a read-only one opens the file.
    ///
    /// Our databases have a write-ahead log and need a rollback journal only to turn the log on. The header then says
    /// so as soon as that is done. A journal beside such a header is therefore over, or belongs to another file, and
    /// SQLite must not apply it.
    public static func endRollbackJournal(of path: String) throws(Failure) {
        var status = stat()
        guard lstat(path + "-journal", &status) == 0 else { return }
        guard try hasLog(path) else {
            let connection = try Connection(path: path, .readWrite, patience: 5_000)
            defer { connection.close() }
            // The first read rolls back.
            _ = try connection.integer("PRAGMA schema_version")
            return
        }
        try remove([path + "-journal"])
        try syncFolder(of: path)
    }

    /// Whether the header says that the database has a write-ahead log (sqlite.org/fileformat2.html, section 1.3).
    private static func hasLog(_ path: String) throws(Failure) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw failed("open", path) }
        defer { Glibc.close(file) }
        var versions: [UInt8] = [0, 0]
        return pread(file, &versions, 2, 18) == 2 && versions == [2, 2]
    }

    /// Syncs the folder of a file, so that the file's name survives a power cut.
    public static func syncFolder(of path: String) throws(Failure) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw failed("open", folder) }
        defer { Glibc.close(file) }
        guard fsync(file) == 0 else { throw failed("sync", folder) }
    }

    private static func remove(_ paths: [String]) throws(Failure) {
        for path in paths where unlink(path) != 0 && errno != ENOENT { throw failed("remove", path) }
    }

    /// The error for a failed system call, described by `errno`.
    private static func failed(_ verb: String, _ path: String) -> Failure {
        .unavailable(reason: "could not \(verb) \(path): \(String(cString: strerror(errno)))")
    }
}
