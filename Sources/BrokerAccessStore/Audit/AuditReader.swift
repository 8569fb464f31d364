import BrokerSQLite

/// Reads the audit on a worker, because a query without an index reads every record. Each query opens its own
/// connection.
///
/// It sees committed records only. Use it only while the store is open.
public struct AuditReader: Sendable {
    let database: String
    /// The last record that was committed when the reader was created.
    let known: AuditPosition
    let summary: AuditSummary

    private func query() throws(AccessStoreError) -> AuditQuery {
        AuditQuery(connection: try Database.open(database, .readOnly))
    }

    /// Returns at most `limit` matching records, in the order in which the chain is read.
    ///
    /// - Parameters:
    ///   - sequence: only records after this one; with `newestFirst`, only records before it.
    ///   - newestFirst: whether to read the chain from its end.
    public func records(
        matching filter: AuditFilter, after sequence: Int64?, limit: Int, newestFirst: Bool = false
    ) throws(AccessStoreError) -> [AuditEntry] {
        try query().records(matching: filter, after: sequence, limit: limit, newestFirst: newestFirst, summary: summary)
    }

    /// Whether the chain contains this record with this hash.
    public func has(_ position: AuditPosition) throws(AccessStoreError) -> Bool {
        try query().position(at: position.sequence) == position
    }

    /// Returns those of the positions at which the chain has no record, or another one. It contains its time, in
    /// microseconds since 1970.
    public func contradicted(_ positions: [AuditPosition]) throws(AccessStoreError) -> [ContradictedPosition] {
        let query = try query()
        var found: [ContradictedPosition] = []
        for position in positions where try query.position(at: position.sequence) != position {
            found.append(
                ContradictedPosition(
                    sequence: position.sequence, time: try query.time(at: position.sequence)))
        }
        return found
    }

    /// Verifies at most `rows` records, from the first record or from where the last step ended.
    ///
    /// Finds every record that was changed, removed, added or moved, and a truncated end. A program that can
    /// write the file can also recompute the whole chain. Such a change is found only by comparison with a
    /// hash that was stored elsewhere.
    public func verify(from: Int64?, budget rows: Int) throws(AccessStoreError) -> AuditVerification {
        try query().verify(from: from, budget: rows, known: known)
    }
}
