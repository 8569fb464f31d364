import Glibc
import Synchronization

/// Puts what was committed onto the disk, away from the loop, while the loop goes on committing.
///
/// Sound because of how SQLite's WAL works: the frames of a transaction, its commit mark in the last of them, have been
/// written to the file before `COMMIT` returns, so that `fdatasync` through any descriptor of the file puts every
/// transaction committed before the call onto the disk; of those committed meanwhile, a whole prefix counts after
/// a power cut, since recovery stops at the first frame whose checksum does not follow. The file stays the same one
/// as long as a connection is open; a checkpoint overwrites it from the start only after syncing the database.
/// SQLite locks the database file and its shared memory, never the WAL, so that closing this descriptor drops none of
/// its locks.
public final class WALSync: Sendable {
    private let descriptor: Int32
    private let database: String
    private let log: FileIdentity
    private let main: FileIdentity
    private let position: SyncedPosition
    private let failed = Atomic(false)

    init(database: String, position: SyncedPosition) throws(AccessStoreError) {
        self.database = database
        self.position = position
        let path = database + "-wal"
        descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .failed("open", path) }
        guard let log = FileIdentity(at: path), let main = FileIdentity(at: database) else {
            let error = AccessStoreError.failed("look at", database)
            close(descriptor)
            throw error
        }
        self.log = log
        self.main = main
    }

    deinit { close(descriptor) }

    /// Returns when everything committed before the call is on the disk. From any thread but the loop's; waits for the disk.
    ///
    /// - Parameter committed: what was committed when the sync was asked for.
    /// - Throws: once it failed it goes on failing, until the store is opened anew: Linux reports a lost page once
    ///   and then forgets that it was lost.
    public func sync(_ committed: Committed) throws(AccessStoreError) {
        guard !failed.load(ordering: .acquiring) else { throw .unavailable(reason: "an earlier sync failed") }
        do throws(AccessStoreError) {
            try checkNames()
            while fdatasync(descriptor) != 0 {
                guard errno != EINTR else { continue }
                throw .failed("sync", "the access database")
            }
            try position.write(SyncedPosition.Content(position: committed.position, revision: committed.revision))
        } catch {
            failed.store(true, ordering: .releasing)
            throw error
        }
    }

    /// Puts the position that ``sync(_:)`` has written onto the disk, too.
    func syncPosition() throws(AccessStoreError) { try position.sync() }

    /// The log was removed: what is committed goes into a file that nobody finds again. Asks the kernel alone, for the loop.
    var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_nlink == 0
    }

    /// The files of this store are still found under their names. Looks names up, so not for the loop.
    private func checkNames() throws(AccessStoreError) {
        guard FileIdentity(at: database + "-wal") == log, FileIdentity(at: database) == main else {
            throw .removed(path: database)
        }
    }
}

/// Which file a path names.
private struct FileIdentity: Equatable {
    let device: UInt64
    let number: UInt64

    init?(at path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}
