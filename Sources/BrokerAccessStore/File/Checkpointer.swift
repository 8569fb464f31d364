import BrokerSQLite
import CBrokerSQLite

/// Checkpoints the access database on a worker.
///
/// The event loop's connection checkpoints only in ``AccessStore/close(now:)``, because a checkpoint waits
/// for the disk. Call ``run()`` on a worker when ``AccessStore/walPages`` exceeds ``pages``. Run only one at
/// a time, and only before ``AccessStore/close(now:)``.
public struct Checkpointer: Sendable {
    /// A run is worthwhile if the WAL has more pages than this.
    public static let pages = 1_000
    /// Beyond this many pages a run may block commits, to keep the WAL bounded. The WAL grows this large only
    /// if commits continued during every run.
    static let mostPages = 16_000

    let database: String

    /// Checkpoints as many pages as it can without blocking other connections. If the WAL has more than
    /// ``mostPages``, it then tries to checkpoint the remaining pages too, while commits wait.
    ///
    /// - Returns: the number of pages that were not checkpointed.
    @discardableResult
    public func run() throws(AccessStoreError) -> Int {
        // Each run opens its own connection, so that threads share none. Opening one takes about 0.1 ms.
        let connection = try Database.open(database, .readWrite)
        try connection.execute("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")
        // A run that blocks commits must not wait long for a reader of the audit.
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
        // Busy: a reader or the writer blocked the checkpoint. The next run continues.
        guard code & 0xff == SQLITE_BUSY else {
            try connection.check(code)
            return (Int(pages), Int(done))
        }
        return (Int(pages), Int(done))
    }
}
