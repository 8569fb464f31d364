import BrokerSQLite

typealias Database = Connection<AccessStoreError>
typealias PreparedStatement = Statement<AccessStoreError>

extension Connection<AccessStoreError> {
    /// Opens a connection that waits up to 5 s for a lock. Only a checkpoint, or WAL recovery by another
    /// connection, takes such a lock, and both are short.
    static func open(_ path: String, _ mode: Mode) throws(AccessStoreError) -> Database {
        try Database(path: path, mode, patience: 5_000)
    }
}

extension Statement<AccessStoreError> {
    /// Returns a user ID or another number of 32 bits; `nil` also if the value is none.
    func numberOrNil(_ column: Int32) -> UInt32? { integerOrNil(column).flatMap(UInt32.init(exactly:)) }
}
