import BrokerAccessControl
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
    /// Tells the reader to stop, and others how far it is.
    public let progress: AuditProgress

    init(database: String, known: AuditPosition, summary: AuditSummary, after removed: Int64 = 0) {
        self.database = database
        self.known = known
        self.summary = summary
        progress = AuditProgress(after: removed, upTo: known.sequence)
    }

    private func query() throws(AccessStoreError) -> AuditQuery {
        AuditQuery(connection: try Database.open(database, .readOnly))
    }

    /// Returns at most `limit` matching records, in the order in which the chain is read. Stops between two blocks if
    /// ``progress`` is over.
    ///
    /// - Parameters:
    ///   - sequence: only records after this one; with `newestFirst`, only records before it.
    ///   - newestFirst: whether to read the chain from its end.
    public func records(
        matching filter: AuditFilter, after sequence: Int64?, limit: Int, newestFirst: Bool = false
    ) throws(AccessStoreError) -> [AuditEntry] {
        try query().records(
            matching: filter, after: sequence, limit: limit, newestFirst: newestFirst, summary: summary,
            progress: progress)
    }

    /// The apps of a user that the audit ever named, also in records that retention removed.
    public func apps(of uid: UInt32) throws(AccessStoreError) -> Set<Principal> { try query().apps(of: uid) }

    /// Whether the chain contains this record with this hash, or retention removed it.
    public func has(_ position: AuditPosition) throws(AccessStoreError) -> Bool {
        let query = try query()
        return try query.has(position, after: query.announcedRemoval())
    }

    /// Returns those of the positions at which the chain has no record, or another one. It contains its time, in
    /// microseconds since 1970.
    public func contradicted(_ positions: [AuditPosition]) throws(AccessStoreError) -> [ContradictedPosition] {
        let query = try query()
        let removal = try query.announcedRemoval()
        var found: [ContradictedPosition] = []
        for position in positions where try !query.has(position, after: removal) {
            found.append(
                ContradictedPosition(
                    sequence: position.sequence, time: try query.time(at: position.sequence)))
        }
        return found
    }

    /// What retention removed last; `nil` if nothing, or if the audit lacks the record that announces it.
    public func removal() throws(AccessStoreError) -> AuditRemoval? {
        try query().announcedRemoval()
    }

    /// Whether retention removed nothing yet, or the audit has the record that announces the last removal.
    public func beginsOnRecord() throws(AccessStoreError) -> Bool {
        let query = try query()
        return try query.removal().map { (removal) throws(AccessStoreError) in try query.isAnnounced(removal) } ?? true
    }

    /// The audit's segments, oldest first: those that are sealed, those that ``AuditLog/seal(_:)`` has to seal, and the
    /// newest one.
    public typealias Segments = (sealed: [AuditSegment], new: [AuditSegment], open: AuditSegment?)

    /// Reads the sealed segments from their table.
    public func segments() throws(AccessStoreError) -> Segments {
        let query = try query()
        let new = try query.newSegments()
        return (try query.segments(), new.sealed, new.open)
    }

    /// Divides the records into segments again. Another program may have changed the table, but not the records without
    /// breaking the chain.
    public func recountedSegments() throws(AccessStoreError) -> (complete: [AuditSegment], open: AuditSegment?) {
        let query = try query()
        let segments = try query.segments(after: query.removal()?.last.sequence ?? 0)
        return (segments.sealed, segments.open)
    }

    /// Verifies at most `rows` records, from the first record or from where the last step ended.
    ///
    /// Finds every record that was changed, removed, added or moved, and a truncated end. A program that can
    /// write the file can also recompute the whole chain. Such a change is found only by comparison with a
    /// hash that was stored elsewhere.
    public func verify(from: Int64?, budget rows: Int) throws(AccessStoreError) -> AuditVerification {
        try query().verify(from: from, budget: rows, known: known)
    }

    /// Verifies the whole chain in steps, including records that are appended meanwhile. Stops after a step if
    /// ``progress`` is over.
    ///
    /// - Returns: the number of verified records, and the last step.
    public func verifyAll(rowsPerStep rows: Int = 10_000) throws(AccessStoreError) -> (
        checked: Int, last: AuditVerification
    ) {
        var checked = 0
        var from: Int64?
        while true {
            let step = try verify(from: from, budget: rows)
            checked += step.checked
            guard step.brokenAt == nil, let next = step.next, !progress.isOver else { return (checked, step) }
            from = next
            progress.reached(next - 1)
        }
    }
}
