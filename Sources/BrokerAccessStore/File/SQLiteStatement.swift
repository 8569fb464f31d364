import GRDBSQLite

/// A prepared statement. Parameters count from 1, columns from 0, as in SQLite.
final class SQLiteStatement {
    private let handle: OpaquePointer
    /// Held for as long as the statement is there, but for one that the connection keeps itself: the two would hold each
    /// other, and its file would stay open.
    private let connection: SQLiteConnection?

    /// - Parameter isKept: the connection itself keeps the statement.
    init(_ sql: String, on connection: SQLiteConnection, isKept: Bool = false) throws(AccessStoreError) {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        try connection.check(code)
        guard let prepared else { throw .unavailable(reason: "an empty statement") }
        handle = prepared
        self.connection = isKept ? nil : connection
    }

    deinit { sqlite3_finalize(handle) }

    /// Makes SQLite copy what is bound. It is SQLite's documented value -1 for a destructor: a mark that is compared
    /// and never called or followed.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// What went wrong with a parameter since the last run: said when it runs, so that it cannot run without.
    private var bindingCode = SQLITE_OK

    private func note(_ code: Int32) -> SQLiteStatement {
        if code != SQLITE_OK { bindingCode = code }
        return self
    }

    @discardableResult
    func bind(_ index: Int32, _ value: Int64?) -> SQLiteStatement {
        note(value.map { sqlite3_bind_int64(handle, index, $0) } ?? sqlite3_bind_null(handle, index))
    }

    @discardableResult
    func bind(_ index: Int32, _ value: String?) -> SQLiteStatement { bind(index, text: value) }

    /// A text, by its length: a NUL inside must not end what is hashed elsewhere in full.
    @discardableResult
    func bind(_ index: Int32, text: (some AuditText)?) -> SQLiteStatement {
        guard let text else { return note(sqlite3_bind_null(handle, index)) }
        return text.withBytes { bytes in
            // A text without bytes still needs an address, or it would be NULL.
            let start = bytes.isEmpty ? nil : bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            guard let start else {
                return note(sqlite3_bind_text64(handle, index, "", 0, Self.copied, UInt8(SQLITE_UTF8)))
            }
            let size = UInt64(bytes.count)
            return note(sqlite3_bind_text64(handle, index, start, size, Self.copied, UInt8(SQLITE_UTF8)))
        }
    }

    @discardableResult
    func bind(_ index: Int32, _ value: [UInt8]?) -> SQLiteStatement {
        guard let value else { return note(sqlite3_bind_null(handle, index)) }
        return value.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, !bytes.isEmpty else {
                return note(sqlite3_bind_zeroblob(handle, index, 0))
            }
            return note(sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), Self.copied))
        }
    }

    /// Goes to the next row; `false` and ready to be used again when there is none.
    func next() throws(AccessStoreError) -> Bool {
        if bindingCode != SQLITE_OK {
            defer { bindingCode = SQLITE_OK }
            sqlite3_reset(handle)
            throw .unavailable(reason: String(cString: sqlite3_errstr(bindingCode)))
        }
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            sqlite3_reset(handle)
            return false
        case let code:
            let error = AccessStoreError(code: code, connection: sqlite3_db_handle(handle))
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Runs a statement that gives no rows.
    func run() throws(AccessStoreError) { while try next() {} }

    /// Ends reading before the last row.
    func reset() { sqlite3_reset(handle) }

    // MARK: Columns of the row at hand

    func integer(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
    }

    func text(_ column: Int32) -> String? {
        guard let start = sqlite3_column_text(handle, column) else { return nil }
        let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes as they are stored, of a text too; `nil` for NULL.
    func bytes(_ column: Int32) -> [UInt8]? {
        guard sqlite3_column_type(handle, column) != SQLITE_NULL else { return nil }
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
