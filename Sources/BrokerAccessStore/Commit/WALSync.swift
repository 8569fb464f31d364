import Glibc
import Synchronization

/// Syncs committed transactions on a worker, while the event loop continues to commit.
///
/// This is sound because of how SQLite's WAL works:
///
/// - Before `COMMIT` returns, SQLite has written all frames of the transaction, the last of them with the
///   commit mark. `fdatasync` through any descriptor of the file therefore syncs every transaction committed
///   before the call.
/// - Of the transactions committed during the call, the first ones may survive a power cut, without gaps:
///   recovery stops at the first frame whose checksum does not follow from the one before.
/// - SQLite does not replace the WAL file as long as a connection is open. After a checkpoint, SQLite
///   overwrites the WAL from its start only once the database is synced.
/// - SQLite locks the database file and its shared memory, never the WAL. Closing this descriptor therefore
///   drops none of SQLite's locks.
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
            let error = AccessStoreError.failed("inspect", database)
            close(descriptor)
            throw error
        }
        self.log = log
        self.main = main
    }

    deinit { close(descriptor) }

    /// Syncs everything that was committed before the call. Blocks on the disk, so call it on a worker, never on the
    /// event loop.
    ///
    /// - Parameter committed: the state of the store when the sync was requested.
    /// - Throws: if the sync fails. Every later call then fails too, until the store is reopened: Linux
    ///   reports once that it could not write a page, and then treats the page as clean.
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

    /// Syncs the position that ``sync(_:)`` has written.
    func syncPosition() throws(AccessStoreError) { try position.sync() }

    /// Whether the log was removed. Commits then go into an unlinked file. This uses `fstat(2)` only, so the
    /// event loop may call it.
    var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_nlink == 0
    }

    /// Checks that the store's paths still name its files. It resolves paths, so it must not run on the event loop.
    private func checkNames() throws(AccessStoreError) {
        guard FileIdentity(at: database + "-wal") == log, FileIdentity(at: database) == main else {
            throw .removed(path: database)
        }
    }
}

/// Identifies the file that a path names.
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
