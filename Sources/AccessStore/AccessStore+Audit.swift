import AccessControl
import ContactsModel

extension AccessStore {
    /// Adds a record to the batch. It has its place in the chain once ``commit()`` has returned.
    public func append(_ record: AuditRecord) { batch.records.append(record) }

    /// Records in the chain.
    public var auditCount: Int64 { writtenCounters.auditSequence }

    /// The last record's hash, in hexadecimal digits.
    public var auditHead: String { Hexadecimal.text(writtenCounters.auditHead) }

    /// Records that match, in the order of the chain.
    ///
    /// Looks at every record beyond `sequence` until it has enough; off the loop use ``auditReader``.
    ///
    /// - Parameters:
    ///   - sequence: only records after this one; with `newestFirst`, only records before it.
    ///   - newestFirst: the order of the chain from its end.
    public func records(
        matching filter: AuditFilter, after sequence: Int64?, limit: Int, newestFirst: Bool = false
    ) throws(AccessStoreError) -> [AuditEntry] {
        let query = AuditQuery(connection: try openWriter().connection)
        return try query.records(matching: filter, after: sequence, limit: limit, newestFirst: newestFirst)
    }

    /// Walks the chain for at most `rows` records, from the first or where the last step ended.
    ///
    /// Finds every record that was changed, taken away, added or moved, and a tail cut off. Who can write the file can
    /// also compute a whole chain anew: only a head that was noted elsewhere shows that.
    public func verify(from: Int64?, budget rows: Int) throws(AccessStoreError) -> AuditVerification {
        try AuditQuery(connection: try openWriter().connection).verify(from: from, budget: rows)
    }

    /// Reads the audit off the loop.
    public var auditReader: AuditReader { AuditReader(database: folder.database) }
}
