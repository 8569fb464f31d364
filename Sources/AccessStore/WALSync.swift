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
    private let failed = Atomic(false)

    init(database: String) throws(AccessStoreError) {
        descriptor = open(database + "-wal", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            throw .unavailable(reason: "could not open \(database)-wal: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Returns when everything committed before the call is on the disk. From any thread; waits for the disk.
    ///
    /// - Throws: once it failed it goes on failing, until the store is opened anew: Linux reports a lost page once
    ///   and then forgets that it was lost.
    public func sync() throws(AccessStoreError) {
        guard !failed.load(ordering: .acquiring) else { throw .unavailable(reason: "an earlier sync failed") }
        while fdatasync(descriptor) != 0 {
            let reason = errno
            guard reason == EINTR else {
                failed.store(true, ordering: .releasing)
                throw .unavailable(reason: "could not sync the access database: \(String(cString: strerror(reason)))")
            }
        }
    }
}
