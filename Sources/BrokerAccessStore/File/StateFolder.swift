import BrokerSQLite
import Glibc

/// The folder of the access database, locked for one broker at a time.
///
/// The lock is `flock(2)` on a separate file. It belongs to the open file description, so it also conflicts between
/// two stores of one process. The kernel releases it however the process ends.
final class StateFolder {
    let path: String
    let database: String
    private var lock: Int32

    /// Creates the folder if it is missing, makes it private, and takes the lock.
    init(path: String) throws(AccessStoreError) {
        try Self.make(path)
        // Resolves symbolic links in the path to the folder, which are allowed. SQLite opens the database
        // with NOFOLLOW and refuses a link anywhere in the path.
        guard let real = realpath(path, nil) else { throw .failed("find", path) }
        defer { free(real) }
        let path = String(cString: real)
        self.path = path
        database = path + "/access.sqlite"
        lock = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw .failed("open", path + "/lock") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            let error = AccessStoreError.failed("lock", path + "/lock")
            // Prevents a second close: `deinit` also runs when the initializer throws after all members are set, and
            // by then the descriptor may belong to another file.
            close(lock)
            lock = -1
            throw reason == EWOULDBLOCK ? .inUse : error
        }
    }

    deinit { release() }

    /// Releases the lock.
    func release() {
        guard lock >= 0 else { return }
        // Closing the descriptor alone would not unlock it: a forked process that has not called `exec` yet also has
        // it open.
        _ = flock(lock, LOCK_UN)
        close(lock)
        lock = -1
    }

    private static func make(_ path: String) throws(AccessStoreError) {
        // Creates parents too: a person's state folder may be missing before the first start.
        for (index, character) in path.enumerated() where character == "/" && index > 0 {
            let parent = String(path.prefix(index))
            guard mkdir(parent, 0o700) == 0 || errno == EEXIST || access(parent, F_OK) == 0 else {
                throw .failed("create", parent)
            }
        }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .failed("create", path) }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .failed("open", path) }
        defer { close(folder) }
        var status = stat()
        guard fstat(folder, &status) == 0 else { throw .failed("inspect", path) }
        guard status.st_uid == geteuid() else { throw .unavailable(reason: "\(path) belongs to another user") }
        guard status.st_mode & 0o7777 != 0o700 else { return }
        guard fchmod(folder, 0o700) == 0 else { throw .failed("restrict the mode of", path) }
    }

    /// Makes the database file private, if there is one. SQLite gives the files beside it the same mode.
    ///
    /// - Returns: whether there is a file with content. ``Schema/create(_:)`` makes one if not.
    func prepareDatabase() throws(AccessStoreError) -> Bool {
        var status = stat()
        guard lstat(database, &status) == 0 else { return false }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .damaged(reason: "\(database) is not a regular file")
        }
        guard access(database, R_OK | W_OK) == 0 else { throw .failed("write", database) }
        guard status.st_mode & 0o077 == 0 || chmod(database, 0o600) == 0 else {
            throw .failed("restrict the mode of", database)
        }
        try Database.endRollbackJournal(of: database)
        guard lstat(database, &status) == 0, status.st_size == 0 else { return true }
        // An earlier version created the file before its content, and a crash came between.
        guard unlink(database) == 0 else { throw .failed("remove", database) }
        return false
    }

    /// Syncs the folder, so that the names of new files survive a power cut.
    func syncNames() throws(AccessStoreError) { try Self.syncNames(in: path) }

    static func syncNames(in path: String) throws(AccessStoreError) { try Database.syncFolder(of: path + "/") }
}
