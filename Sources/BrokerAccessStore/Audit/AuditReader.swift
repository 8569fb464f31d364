import BrokerSQLite

/// Reads the audit off the loop, on connections of its own: a question without an index looks at every record.
///
/// It sees what was committed. Only while the store is open.
public struct AuditReader: Sendable {
    let database: String
    /// The last record when the reader was made.
    var known: AuditPosition?

    /// As ``AccessStore/records(matching:after:limit:newestFirst:)``.
    public func records(
        matching filter: AuditFilter, after sequence: Int64?, limit: Int, newestFirst: Bool = false
    ) throws(AccessStoreError) -> [AuditEntry] {
        let query = AuditQuery(connection: try Database.open(database, .readOnly))
        return try query.records(matching: filter, after: sequence, limit: limit, newestFirst: newestFirst)
    }

    /// Whether the chain has this record, with this hash.
    public func has(_ position: AuditPosition) throws(AccessStoreError) -> Bool {
        let query = AuditQuery(connection: try Database.open(database, .readOnly))
        return try query.position(at: position.sequence) == position
    }

    /// As ``AccessStore/verify(from:budget:)``.
    public func verify(from: Int64?, budget rows: Int) throws(AccessStoreError) -> AuditVerification {
        let query = AuditQuery(connection: try Database.open(database, .readOnly))
        return try query.verify(from: from, budget: rows, known: known)
    }
}
