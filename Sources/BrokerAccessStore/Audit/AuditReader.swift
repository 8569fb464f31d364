import BrokerSQLite

/// Reads the audit off the loop, on connections of its own: a question without an index looks at every record.
///
/// It sees what was committed. Only while the store is open.
public struct AuditReader: Sendable {
    let database: String
    /// The last record when the reader was made.
    let known: AuditPosition

    private func query() throws(AccessStoreError) -> AuditQuery {
        AuditQuery(connection: try Database.open(database, .readOnly))
    }

    /// Records that match, in the order of the chain. Looks at every record beyond `sequence` until it has enough.
    ///
    /// - Parameters:
    ///   - sequence: only records after this one; with `newestFirst`, only records before it.
    ///   - newestFirst: the order of the chain from its end.
    public func records(
        matching filter: AuditFilter, after sequence: Int64?, limit: Int, newestFirst: Bool = false
    ) throws(AccessStoreError) -> [AuditEntry] {
        try query().records(matching: filter, after: sequence, limit: limit, newestFirst: newestFirst)
    }

    /// Whether the chain has this record, with this hash.
    public func has(_ position: AuditPosition) throws(AccessStoreError) -> Bool {
        try query().position(at: position.sequence) == position
    }

    /// Walks the chain for at most `rows` records, from the first or where the last step ended.
    ///
    /// Finds every record that was changed, taken away, added or moved, and a tail cut off. Who can write the file can
    /// also compute a whole chain anew: only a head that was noted elsewhere shows that.
    public func verify(from: Int64?, budget rows: Int) throws(AccessStoreError) -> AuditVerification {
        try query().verify(from: from, budget: rows, known: known)
    }
}
