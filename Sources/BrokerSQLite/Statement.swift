public import CBrokerSQLite

/// A prepared statement that can run many times. Only the thread that is using the connection may use the
/// statement. Parameters count from 1 and columns from 0, as in SQLite.
public final class Statement<Failure: SQLiteFailure> {
    @usableFromInline let handle: OpaquePointer
    /// Keeps the connection alive. `nil` for a statement in the connection's cache, because a reference cycle
    /// would keep the file open.
    private let connection: Connection<Failure>?
    /// The code of the last bind call that failed since the last run. That parameter keeps its old value or
    /// NULL, so the statement must not run: ``step()`` throws this code.
    @usableFromInline var bindingCode = SQLITE_OK

    public convenience init(_ sql: String, on connection: Connection<Failure>) throws(Failure) {
        try self.init(sql, on: connection, isKept: false)
    }

    /// - Parameter isKept: whether the connection's cache keeps the statement.
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

    /// `SQLITE_TRANSIENT`, which makes SQLite copy the bound value. Sound: the value -1 is documented. SQLite
    /// compares it but never calls or dereferences it.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private func note(_ code: Int32) -> Statement {
        if code != SQLITE_OK { bindingCode = code }
        return self
    }

    /// `nil` binds NULL, here and in the other overloads.
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

    /// Binds a text by its length, so a NUL byte does not end the text.
    @discardableResult
    public func bind(_ index: Int32, utf8 text: UnsafeRawBufferPointer) -> Statement {
        // An empty text still needs an address; without one SQLite would bind NULL.
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
        // SQLite would bind a null pointer as NULL, not as an empty blob.
        guard let start = blob.baseAddress, !blob.isEmpty else { return note(sqlite3_bind_zeroblob(handle, index, 0)) }
        return note(sqlite3_bind_blob64(handle, index, start, UInt64(blob.count), Self.transient))
    }

    // MARK: Rows

    /// Moves to the next row; returns `false` after the last one. The statement is reset after an error and
    /// after the last row.
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

    /// Runs the statement and discards any rows.
    public func run() throws(Failure) { while try step() {} }

    /// Reads the first row only. Returns `nil` if there is no row or `read` returns `nil`.
    @inlinable
    public func first<Value>(_ read: (Statement) throws(Failure) -> Value?) throws(Failure) -> Value? {
        defer { reset() }
        return try step() ? try read(self) : nil
    }

    /// Reads all rows in order.
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

    /// Ends the current run, even before the last row, and releases its read snapshot.
    @inlinable
    public func reset() { sqlite3_reset(handle) }

    // MARK: Columns of the current row

    @inlinable
    public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// NULL reads as 0.
    @inlinable
    public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// Returns the stored bytes of a blob or a text. NULL reads as an empty array.
    @inlinable
    public func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { [UInt8]($0) } }

    /// Like ``bytes(_:)``, without a copy. The pointer is valid while `body` runs.
    @inlinable
    public func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // The order matters: `sqlite3_column_blob` may convert the value, which changes the byte count.
        let start = sqlite3_column_blob(handle, column)
        let count = start == nil ? 0 : Int(sqlite3_column_bytes(handle, column))
        return body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// NULL reads as an empty text.
    public func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    public func integerOrNil(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
    public func textOrNil(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
    public func bytesOrNil(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }
}
