import BrokerAccessControl
import BrokerSQLite
import Glibc

/// Removes old records from the audit, in three steps:
///
/// 1. ``seal(_:)`` stores where segments end, so that looking for old ones is quick.
/// 2. ``remove(_:now:)`` records the removal in the audit. From its commit on, the chain begins after it.
/// 3. ``deleteRemoved(_:)`` deletes the records in slices. A restart continues here.
extension AuditLog {
    /// Seals segments in a transaction of its own.
    public func seal(_ segments: [AuditSegment]) throws(AccessStoreError) {
        guard !segments.isEmpty else { return }
        let writer = try file.openWriter()
        try file.check()
        try writer.transaction { () throws(AccessStoreError) in
            let insert = try writer.connection.statement("INSERT INTO auditSegment VALUES (?, ?, ?, ?, ?)")
            for segment in segments {
                try insert.bind(1, segment.last.sequence).bind(2, segment.last.hash).bind(3, segment.begins)
                    .bind(4, segment.ends).bind(5, segment.bytes).run()
            }
        }
    }

    /// Removes these segments, the oldest ones. The next commit records the removal.
    ///
    /// - Parameters:
    ///   - segments: segments whose records were verified. The newest record is in none of them.
    ///   - now: microseconds since 1970.
    /// - Returns: the removal; `nil` if the segments were removed already.
    @discardableResult
    public func remove(_ segments: [AuditSegment], now: Int64) -> AuditRemoval? {
        guard let last = segments.last?.last, last.sequence > removal?.last.sequence ?? 0,
            last.sequence < self.last.sequence
        else { return nil }
        let removal = AuditRemoval(
            last: last, first: (self.removal?.last.sequence ?? 0) + 1, begins: segments.map(\.begins).min() ?? now,
            ends: segments.map(\.ends).max() ?? now, time: now)
        append(AuditRecord(time: now, uid: geteuid(), event: .retention, detail: removal.detail))
        announced = removal
        return removal
    }

    /// Writes the removal in the transaction that contains its record.
    func writeRemoval(_ connection: Database) throws(AccessStoreError) {
        guard let place = records.lastIndex(where: { $0.event == .retention }), let removal = announced else { return }
        let record = last.sequence + Int64(place) + 1
        announced?.record = record
        try connection.statement(
            """
            INSERT OR REPLACE INTO auditRemoval (id, last, lastHash, first, begins, ends, time, record)
            VALUES (1, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        .bind(1, removal.last.sequence).bind(2, removal.last.hash).bind(3, removal.first).bind(4, removal.begins)
        .bind(5, removal.ends).bind(6, removal.time).bind(7, record).run()
    }

    /// Deletes at most this many removed records, in a transaction of its own.
    ///
    /// - Returns: whether removed records remain.
    public func deleteRemoved(_ most: Int) throws(AccessStoreError) -> Bool {
        guard let removal else { return false }
        let writer = try file.openWriter()
        try file.check()
        let slice =
            "SELECT max(sequence) FROM (SELECT sequence FROM audit WHERE sequence <= ? ORDER BY sequence LIMIT ?)"
        let end = try writer.connection.statement(slice).bind(1, removal.last.sequence).bind(2, Int64(max(1, most)))
            .first { $0.integerOrNil(0) }
        guard let end else { return false }
        try writer.transaction { () throws(AccessStoreError) in
            try writer.connection.statement("DELETE FROM audit WHERE sequence <= ?").bind(1, end).run()
            try writer.connection.statement("DELETE FROM auditSegment WHERE last <= ?").bind(1, end).run()
        }
        return end < removal.last.sequence
    }

    /// Whether removed records are still in the file.
    public var hasRemovedRecords: Bool {
        guard let removal, let first = try? firstRecord() else { return false }
        return first <= removal.last.sequence
    }

    private func firstRecord() throws(AccessStoreError) -> Int64? {
        try file.openWriter().connection.statement("SELECT min(sequence) FROM audit").first { $0.integerOrNil(0) }
    }
}
