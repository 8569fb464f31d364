public import GRDBSQLite

/// A statement that is prepared once and run again. It belongs to its connection, and runs where nothing else uses that. Parameters
/// count from 1, columns from 0, as in SQLite.
public final class Statement<Failure: SQLiteFailure> {
    @usableFromInline let handle: OpaquePointer
    /// Held for as long as the statement is there, but for one that the connection keeps itself: the two would hold each other, and its
    /// file would stay open.
    private let connection: Connection<Failure>?
    /// What went wrong with a parameter since the last run. The place would hold what it held before, or NULL, so that the statement must
    /// not run: ``step()`` throws it.
    @usableFromInline var bindingCode = SQLITE_OK

    public convenience init(_ sql: String, on connection: Connection<Failure>) throws(Failure) {
        try self.init(sql, on: connection, isKept: false)
    }

    /// - Parameter isKept: the connection itself keeps the statement.
    init(_ sql: String, on connection: Connection<Failure>, isKept: Bool) throws(Failure) {
        var prepared: OpaquePointer?
        try connection.check(
            sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil))
        guard let prepared else { throw Failure(code: SQLITE_ERROR, message: "an empty statement") }
        handle = prepared
        self.connection = isKept ? nil : connection
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: Parameters

    /// Makes SQLite copy what is bound: its `SQLITE_TRANSIENT`, the documented value -1 for a destructor, which is compared and never
    /// called or followed.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private func note(_ code: Int32) -> Statement {
        if code != SQLITE_OK { bindingCode = code }
        return self
    }

    /// `nil` is NULL, here and in the others.
    @discardableResult
    public func bind(_ index: Int32, _ value: Int64?) -> Statement {
        note(value.map { sqlite3_bind_int64(handle, index, $0) } ?? sqlite3_bind_null(handle, index))
    }

    @discardableResult
    public func bind(_ index: Int32, _ value: String?) -> Statement {
        guard var value else { return note(sqlite3_bind_null(handle, index)) }
        return value.withUTF8 { bind(index, utf8: UnsafeRawBufferPointer($0)) }
    }

    @discardableResult
    public func bind(_ index: Int32, _ value: [UInt8]?) -> Statement {
        guard let value else { return note(sqlite3_bind_null(handle, index)) }
        return value.withUnsafeBytes { bind(index, blob: $0) }
    }

    /// A text, by its length: a NUL inside does not end it.
    @discardableResult
    public func bind(_ index: Int32, utf8 text: UnsafeRawBufferPointer) -> Statement {
        // A text without bytes still needs an address, or it would be NULL.
        guard let start = text.baseAddress, !text.isEmpty else {
            return note(sqlite3_bind_text64(handle, index, "", 0, Self.transient, UInt8(SQLITE_UTF8)))
        }
        return note(
            sqlite3_bind_text64(
                handle, index, start.assumingMemoryBound(to: CChar.self), UInt64(text.count), Self.transient,
                UInt8(SQLITE_UTF8)))
    }

    @discardableResult
    public func bind(_ index: Int32, blob: UnsafeRawBufferPointer) -> Statement {
        // A null pointer would be NULL, not an empty blob.
        guard let start = blob.baseAddress, !blob.isEmpty else { return note(sqlite3_bind_zeroblob(handle, index, 0)) }
        return note(sqlite3_bind_blob64(handle, index, start, UInt64(blob.count), Self.transient))
    }

    // MARK: Rows

    /// Goes to the next row; `false` after the last one. After an error or the last row the statement is reset.
    @inlinable
    public func step() throws(Failure) -> Bool {
        if bindingCode == SQLITE_OK {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: return true
            case SQLITE_DONE:
                reset()
                return false
            case let code: throw failure(code)
            }
        }
        defer { bindingCode = SQLITE_OK }
        reset()
        throw Failure(code: bindingCode, message: String(cString: sqlite3_errstr(bindingCode)))
    }

    @usableFromInline
    func failure(_ code: Int32) -> Failure {
        let message = sqlite3_db_handle(handle).flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
        reset()
        return Failure(code: code, message: message ?? "no message")
    }

    /// Runs a statement that gives no rows.
    public func run() throws(Failure) { while try step() {} }

    /// What the first row says, without the others; `nil` where there is no row, or `read` gives none.
    @inlinable
    public func first<Value>(_ read: (Statement) throws(Failure) -> Value?) throws(Failure) -> Value? {
        defer { reset() }
        return try step() ? try read(self) : nil
    }

    /// What all rows say, in their order.
    @inlinable
    public func all<Value>(_ read: (Statement) throws(Failure) -> Value) throws(Failure) -> [Value] {
        defer { reset() }
        var values: [Value] = []
        while try step() { values.append(try read(self)) }
        return values
    }

    /// Whether there is a row.
    public func hasRow() throws(Failure) -> Bool {
        defer { reset() }
        return try step()
    }

    /// Ends reading before the last row, and with it the snapshot that it holds.
    @inlinable
    public func reset() { sqlite3_reset(handle) }

    // MARK: Columns of the row at hand

    @inlinable
    public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// NULL reads as 0.
    @inlinable
    public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// The bytes as they are stored, of a text too. NULL reads as none.
    @inlinable
    public func bytes(_ column: Int32) -> [UInt8] {
        // In this order: asking for the blob settles its form, and with it the count.
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// NULL reads as an empty text.
    public func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    public func integerOrNil(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
    public func textOrNil(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
    public func bytesOrNil(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }
}
