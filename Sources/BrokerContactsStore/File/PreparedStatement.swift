import GRDBSQLite

/// A statement that is prepared once and run again. It belongs to its connection, and runs where nothing else uses that.
/// Parameters count from 1, columns from 0, as in SQLite.
final class PreparedStatement {
    private let pointer: OpaquePointer

    init(_ db: Database, _ sql: String) throws(StoreError) { pointer = try db.prepare(sql) }

    deinit { sqlite3_finalize(pointer) }

    /// SQLite's `SQLITE_TRANSIENT`, a macro that Swift does not import: the pointer -1, never called, which says that
    /// SQLite makes its own copy.
    private static let transient = unsafeBitCast(OpaquePointer(bitPattern: -1), to: sqlite3_destructor_type.self)

    /// What went wrong with a parameter since the last run. The place would hold what it held before, or NULL, so that the
    /// statement must not run: ``step()`` says it.
    private var bindingCode = SQLITE_OK

    private func note(_ code: Int32) {
        if code != SQLITE_OK { bindingCode = code }
    }

    func bind(_ index: Int32, _ integer: Int64) { note(sqlite3_bind_int64(pointer, index, integer)) }

    func bind(_ index: Int32, _ text: String) {
        // The C string of an empty text is a pointer too; a null pointer would be NULL.
        note(
            text.withCString {
                sqlite3_bind_text64(
                    pointer, index, $0, UInt64(text.utf8.count), Self.transient, UInt8(SQLITE_UTF8))
            })
    }

    func bind(_ index: Int32, _ bytes: [UInt8]) {
        note(
            bytes.withUnsafeBytes {
                // A null pointer would be NULL, not an empty blob.
                $0.isEmpty
                    ? sqlite3_bind_zeroblob(pointer, index, 0)
                    : sqlite3_bind_blob64(pointer, index, $0.baseAddress, UInt64($0.count), Self.transient)
            })
    }

    /// A part of these bytes, which are UTF-8.
    func bind(_ index: Int32, text: FormRows.Text, of bytes: UnsafeBufferPointer<UInt8>) {
        // Of nothing there need be no pointer, and a null pointer would be NULL.
        guard let start = Self.start(of: text, bytes) else { return bind(index, "") }
        note(
            sqlite3_bind_text64(
                pointer, index, UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), UInt64(text.count),
                Self.transient, UInt8(SQLITE_UTF8)))
    }

    /// A part of these bytes.
    func bind(_ index: Int32, blob: FormRows.Text, of bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = Self.start(of: blob, bytes) else { return bind(index, []) }
        note(sqlite3_bind_blob64(pointer, index, start, UInt64(blob.count), Self.transient))
    }

    private static func start(of text: FormRows.Text, _ bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<UInt8>? {
        precondition(text.start >= 0 && text.count >= 0 && text.start + text.count <= bytes.count)
        return text.count == 0 ? nil : bytes.baseAddress.map { $0 + text.start }
    }

    func bindNull(_ index: Int32) { note(sqlite3_bind_null(pointer, index)) }

    func bind(_ values: [Binding], from first: Int32 = 1) {
        var index = first
        for value in values {
            switch value {
            case .integer(let integer): bind(index, integer)
            case .text(let text): bind(index, text)
            case .bytes(let bytes): bind(index, bytes)
            }
            index += 1
        }
    }

    /// Goes to the next row; `false` after the last one. After an error or the last row the statement is reset.
    func step() throws(StoreError) -> Bool {
        if bindingCode != SQLITE_OK {
            defer { bindingCode = SQLITE_OK }
            reset()
            throw StoreError(code: bindingCode, message: String(cString: sqlite3_errstr(bindingCode)))
        }
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            reset()
            return false
        case let code:
            let message = sqlite3_db_handle(pointer).flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
            reset()
            throw StoreError(code: code, message: message)
        }
    }

    /// Runs a statement without rows.
    func run() throws(StoreError) {
        while try step() {}
    }

    /// Ends the read, and with it the snapshot that it holds.
    func reset() { sqlite3_reset(pointer) }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

    func bytes(_ column: Int32) -> [UInt8] {
        // In this order: asking for the blob settles its form, and with it the count.
        guard let blob = sqlite3_column_blob(pointer, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_column_bytes(pointer, column))))
    }

    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }
}

/// A value for a place in a statement.
enum Binding: Hashable {
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}
