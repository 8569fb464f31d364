import BrokerAccessControl
import BrokerModel
import BrokerSQLite
import CBrokerCrypto

/// One row of the audit as stored. Enumeration values are kept as strings, so that a row whose value this
/// version does not know can still be hashed.
///
/// `Text` is `String` for a row about to be written, and ``StoredColumn`` for a row read from the database, so that
/// invalid UTF-8 is hashed as stored.
struct AuditRow<Text: AuditText> {
    var sequence: Int64
    var time: Int64
    var uid: Int64
    var app: Text
    var strength: Text?
    var event: Text
    var status: Text?
    var keys: Int64?
    var count: Int64?
    var contacts: Text.Blob?
    var revision: Int64?
    var repeats: Int64?
    var detail: Text?
}

/// A text of an audit row, which gives access to its stored bytes.
protocol AuditText {
    /// The type of a blob in the same row.
    associatedtype Blob: AuditText
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

/// A text or a blob of a statement's current row, which is read where SQLite has it. Not to be used after the next step.
struct StoredColumn: AuditText {
    typealias Blob = StoredColumn
    private let statement: PreparedStatement
    private let column: Int32

    /// NULL reads as an empty text.
    init(_ statement: PreparedStatement, _ column: Int32) {
        self.statement = statement
        self.column = column
    }

    static func orNil(_ statement: PreparedStatement, _ column: Int32) -> StoredColumn? {
        statement.isNull(column) ? nil : StoredColumn(statement, column)
    }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        statement.withBytes(column, body)
    }

    var bytes: [UInt8] { withBytes { [UInt8]($0) } }
    var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }
}

extension [UInt8]: AuditText {
    typealias Blob = [UInt8]

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { withUnsafeBytes(body) }
}

extension String: AuditText {
    typealias Blob = [UInt8]

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var text = self
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}

extension Statement<AccessStoreError> {
    /// Binds text with an explicit length. The audit hashes the whole text, so a NUL byte must not truncate
    /// the stored text.
    @discardableResult
    func bind(_ index: Int32, text: (some AuditText)?) -> PreparedStatement {
        guard let text else { return bind(index, String?.none) }
        return text.withBytes { bind(index, utf8: $0) }
    }
}

/// The audit chain: each record's hash covers the record and its predecessor's hash.
///
/// The hash is SHA-256 over the canonical form:
///
///     version    1 byte, 1
///     previous   32 bytes: the predecessor's hash; zeros for the first record
///     then, in this order, each as a length of 4 bytes and that many bytes:
///     sequence, time, uid, app, strength, event, status, keys, count, contacts, revision, repeats, detail
///
/// Numbers are 8 bytes in two's complement; lengths and numbers are little endian. Texts are UTF-8. An absent
/// field has the length 0xffffffff and no bytes, which differs from an empty field. Every field is present
/// with its length, so no two different records have the same form.
enum AuditChain {
    static let hashSize = Int(CCRYPTO_SHA256_SIZE)
    static let beginning = [UInt8](repeating: 0, count: hashSize)
    private static let version: UInt8 = 1

    /// Writes the canonical form of a row into a reusable buffer. `previous` is the predecessor's hash.
    static func canonical(_ row: AuditRow<some AuditText>, after previous: [UInt8], into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(version)
        bytes.append(contentsOf: previous)
        append(row.sequence, to: &bytes)
        append(row.time, to: &bytes)
        append(row.uid, to: &bytes)
        append(row.app, to: &bytes)
        append(row.strength, to: &bytes)
        append(row.event, to: &bytes)
        append(row.status, to: &bytes)
        append(row.keys, to: &bytes)
        append(row.count, to: &bytes)
        append(row.contacts, to: &bytes)
        append(row.revision, to: &bytes)
        append(row.repeats, to: &bytes)
        append(row.detail, to: &bytes)
    }

    private static func append(_ value: Int64?, to bytes: inout [UInt8]) {
        guard let value else { return appendLength(.max, to: &bytes) }
        appendLength(8, to: &bytes)
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private static func append(_ value: (some AuditText)?, to bytes: inout [UInt8]) {
        guard let value else { return appendLength(.max, to: &bytes) }
        value.withBytes {
            // SQLite stores no value of 4 GiB, so the length fits and never equals the mark of an absent field.
            appendLength(UInt32(truncatingIfNeeded: $0.count), to: &bytes)
            bytes.append(contentsOf: $0)
        }
    }

    private static func appendLength(_ length: UInt32, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: length.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Returns `nil` if libcrypto is out of memory.
    static func hash(_ bytes: [UInt8]) -> [UInt8]? {
        var hash = beginning
        return ccrypto_sha256(bytes, bytes.count, &hash) == 1 ? hash : nil
    }

    /// Returns the hash of a row. `previous` is the predecessor's hash; `bytes` is a reusable buffer.
    static func hash(
        _ row: AuditRow<some AuditText>, after previous: [UInt8], _ bytes: inout [UInt8]
    ) throws(AccessStoreError) -> [UInt8] {
        canonical(row, after: previous, into: &bytes)
        guard let hash = hash(bytes) else { throw .unavailable(reason: "libcrypto could not hash") }
        return hash
    }
}
