import BrokerSQLite
import GRDBSQLite

/// Carries what is in the WAL over into the database file, away from the loop.
///
/// The loop's connection never does it by itself, because a checkpoint waits for the disk. Call ``run()`` on another
/// thread when ``AccessStore/walPages`` has passed ``pages`` after a commit, one run at a time, and before
/// ``AccessStore/close(now:)``, not after.
public struct Checkpointer: Sendable {
    /// Pages in the WAL from which a run is worth while.
    public static let pages = 1_000
    /// Pages from which the loop may be made to wait so that the WAL stays bounded: it has kept committing during every run.
    static let mostPages = 16_000

    let database: String

    /// Checkpoints as far as it goes without anybody waiting. Where the WAL has grown beyond all measure, the rest
    /// too: commits then wait for that rest, a few milliseconds.
    ///
    /// - Returns: pages that are still in the WAL only.
    @discardableResult
    public func run() throws(AccessStoreError) -> Int {
        // A connection of its own each time: opening costs 0.1 ms here and leaves nothing to share between threads.
        let connection = try Database.open(database, .readWrite)
        try connection.execute("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")
        // What keeps the loop's commits waiting must not itself wait long for a reader of the audit.
        sqlite3_busy_timeout(connection.handle, 100)
        let (pages, done) = try checkpoint(connection, SQLITE_CHECKPOINT_PASSIVE)
        guard pages > Self.mostPages else { return pages - done }
        let (left, doneNow) = try checkpoint(connection, SQLITE_CHECKPOINT_RESTART)
        return left - doneNow
    }

    private func checkpoint(
        _ connection: Database, _ mode: Int32
    ) throws(AccessStoreError) -> (pages: Int, done: Int) {
        var pages: Int32 = 0
        var done: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, mode, &pages, &done)
        // Busy: a reader or the writer was in the way. The next run gets further.
        guard code & 0xff == SQLITE_BUSY else {
            try connection.check(code)
            return (Int(pages), Int(done))
        }
        return (Int(pages), Int(done))
    }
}
