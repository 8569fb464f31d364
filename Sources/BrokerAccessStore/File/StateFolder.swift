import Glibc

/// The folder of the access database, held for one broker at a time.
///
/// The lock is `flock(2)` on a file of its own: it belongs to the open file, so that it conflicts between two stores
/// of one process too, and the kernel lets go of it whatever way the process ends.
final class StateFolder {
    let path: String
    let database: String
    private var lock: Int32

    /// Makes the folder where there is none, closes it to others, and takes the lock.
    init(path: String) throws(AccessStoreError) {
        try Self.make(path)
        // A person may keep the folder behind a link; below it none is followed, and SQLite looks at the whole path.
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
            // Once: `deinit` runs too where an initializer throws that has set everything, and the number may be another
            // file's by then.
            close(lock)
            lock = -1
            throw reason == EWOULDBLOCK ? .inUse : error
        }
    }

    deinit { release() }

    /// Lets another broker in.
    func release() {
        guard lock >= 0 else { return }
        // Said, and not left to the closing: a process that was forked and has not yet become another program holds
        // the open file too.
        _ = flock(lock, LOCK_UN)
        close(lock)
        lock = -1
    }

    private static func make(_ path: String) throws(AccessStoreError) {
        // Parents too: a person's state folder may not be there before the first start.
        for (index, character) in path.enumerated() where character == "/" && index > 0 {
            let parent = String(path.prefix(index))
            guard mkdir(parent, 0o700) == 0 || errno == EEXIST || access(parent, F_OK) == 0 else {
                throw .failed("make", parent)
            }
        }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .failed("make", path) }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .failed("open", path) }
        defer { close(folder) }
        var status = stat()
        guard fstat(folder, &status) == 0 else { throw .failed("look at", path) }
        guard status.st_uid == geteuid() else { throw .unavailable(reason: "\(path) belongs to another user") }
        guard status.st_mode & 0o7777 != 0o700 else { return }
        guard fchmod(folder, 0o700) == 0 else { throw .failed("close to others", path) }
    }

    /// Makes an empty database file that nobody else may read; SQLite gives its companions the same mode.
    ///
    /// - Returns: the file holds something.
    func prepareDatabase() throws(AccessStoreError) -> Bool {
        var status = stat()
        if lstat(database, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw .damaged(reason: "\(database) is not a regular file")
            }
            guard access(database, R_OK | W_OK) == 0 else { throw .failed("write", database) }
            guard status.st_mode & 0o077 == 0 || chmod(database, 0o600) == 0 else {
                throw .failed("close to others", database)
            }
            return status.st_size > 0
        }
        // Here and not through SQLite, whose file would take its mode from the process's umask. Nobody has the
        // file open yet, so that closing it drops no lock.
        let file = open(database, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .failed("make", database) }
        close(file)
        return false
    }

    /// Makes the names of new files in the folder survive a power cut.
    func syncNames() throws(AccessStoreError) {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .failed("open", path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw .failed("sync", path) }
    }
}
