import BrokerSQLite

/// The last audit record that was synced when a save was made. The book stores the record's number and hash.
///
/// The access database alone cannot show that an older copy of it was restored. A book is a separate file and
/// can show this: the audit must contain the record that the anchor in the book identifies.
public struct AuditAnchor: Hashable, Sendable {
    public let sequence: Int64
    /// SHA-256, 32 bytes.
    public let hash: [UInt8]

    public init(sequence: Int64, hash: [UInt8]) {
        self.sequence = sequence
        self.hash = hash
    }

    /// Reads the anchor of a user's book without changing the book. Returns `nil` if there is no book or no
    /// save has stored an anchor. Do not call this on the event loop, because it reads a file.
    ///
    /// - Parameter folder: the user's folder.
    public static func read(folder: String) throws(StoreError) -> AuditAnchor? {
        let file = BookFile(folder: folder)
        guard try file.isBook(mayBeOpen: true) else { return nil }
        let database = try BookConnection.reading(file)
        guard try database.integer("PRAGMA user_version") ?? 0 >= Schema.hasAnchor else { return nil }
        let row = try PreparedStatement("SELECT auditSequence, auditHash FROM book", on: database)
        guard try row.step(), !row.isNull(0), !row.isNull(1) else { return nil }
        return AuditAnchor(sequence: row.integer(0), hash: row.bytes(1))
    }
}
