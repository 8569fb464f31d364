import BrokerSQLite
import GRDBSQLite

typealias Database = Connection<StoreError>
typealias PreparedStatement = Statement<StoreError>

extension Connection<StoreError> {
    /// Has every statement of this connection ask from time to time whether it is to go on. To be called once.
    func obey(_ bound: ReadBound) {
        context = bound
        // The object lives as long as the connection, which holds it.
        let context = Unmanaged.passUnretained(bound).toOpaque()
        sqlite3_progress_handler(
            handle, ReadBound.steps,
            { context in
                guard let context else { return 0 }
                return Unmanaged<ReadBound>.fromOpaque(context).takeUnretainedValue().isSpent() ? 1 : 0
            }, context)
    }

    /// Empties the write-ahead log into the file. A reader in the way is an error, and the log stays as it is.
    func checkpoint() throws(StoreError) {
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Bytes of pages that are held.
    var cacheSize: Int {
        var (current, highest): (CInt, CInt) = (0, 0)
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &current, &highest, 0)
        return Int(current)
    }
}
