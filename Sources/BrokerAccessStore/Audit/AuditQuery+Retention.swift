import BrokerAccessControl
import BrokerSQLite

/// Reads what retention needs.
extension AuditQuery {
    /// Returns the last removal; `nil` if retention never removed records, or if the audit lacks the record that
    /// announces the removal: then another program changed the file, and nothing counts as removed.
    func announcedRemoval() throws(AccessStoreError) -> AuditRemoval? {
        guard let removal = try removal(), try isAnnounced(removal) else { return nil }
        return removal
    }

    /// Returns the last removal that the table `auditRemoval` names, announced or not; `nil` if there is none, or if its
    /// numbers make no sense.
    func removal() throws(AccessStoreError) -> AuditRemoval? {
        try connection.statement("SELECT last, lastHash, first, begins, ends, time, record FROM auditRemoval").first {
            row in
            var removal = AuditRemoval(
                last: AuditPosition(sequence: row.integer(0), hash: row.bytes(1)), first: row.integer(2),
                begins: row.integer(3), ends: row.integer(4), time: row.integer(5))
            removal.record = row.integer(6)
            let last = removal.last.sequence
            return removal.first > 0 && removal.first <= last && last < removal.record ? removal : nil
        }
    }

    /// Whether the audit has the record that announces this removal. Verification checks that record's own hash.
    func isAnnounced(_ removal: AuditRemoval) throws(AccessStoreError) -> Bool {
        guard removal.record > removal.last.sequence else { return false }
        let detail = try connection.statement("SELECT detail FROM audit WHERE sequence = ? AND event = ?")
            .bind(1, removal.record).bind(2, AuditEvent.retention.rawValue).first { $0.textOrNil(0) }
        return detail == removal.detail
    }

    /// Whether a record is missing that verification up to `end` must find. It then names that one, which is the cause.
    func isMissing(_ sequence: Int64, upTo end: AuditPosition) throws(AccessStoreError) -> Bool {
        guard sequence <= end.sequence else { return false }
        return try position(at: sequence) == nil
    }

    /// Whether the chain contains this record with this hash. Nothing contradicts a record before the last removed one.
    func has(_ position: AuditPosition, after removal: AuditRemoval?) throws(AccessStoreError) -> Bool {
        guard let removal, position.sequence <= removal.last.sequence else {
            return try self.position(at: position.sequence) == position
        }
        return position.sequence < removal.last.sequence || position == removal.last
    }

    /// Returns the sealed segments, oldest first.
    func segments() throws(AccessStoreError) -> [AuditSegment] {
        try connection.statement(
            """
            SELECT last, lastHash, begins, ends, bytes FROM auditSegment
            WHERE last > coalesce((SELECT last FROM auditRemoval), 0) ORDER BY last
            """
        ).all { row in
            AuditSegment(
                last: AuditPosition(sequence: row.integer(0), hash: row.bytes(1)), begins: Self.time(row.integer(2)),
                ends: Self.time(row.integer(3)), bytes: Self.size(row.integer(4)))
        }
    }

    /// Divides the records after the last sealed segment, or after the last removal, into segments.
    func newSegments() throws(AccessStoreError) -> AuditSegments {
        let sealed = try connection.statement("SELECT max(last) FROM auditSegment").first { $0.integerOrNil(0) }
        return try segments(after: max(sealed ?? 0, removal()?.last.sequence ?? 0))
    }

    /// Divides the records after this one into segments.
    func segments(after sequence: Int64) throws(AccessStoreError) -> AuditSegments {
        let statement = try connection.statement(
            """
            SELECT sequence, hash, time, \(Self.recordSize) + coalesce(length(contacts), 0) + coalesce(length(detail), 0)
            FROM audit WHERE sequence > ?1 ORDER BY sequence
            """
        ).bind(1, sequence)
        defer { statement.reset() }
        var segments = AuditSegments()
        while try statement.step() {
            guard let sequence = statement.integerOrNil(0), let hash = statement.bytesOrNil(1),
                let time = statement.integerOrNil(2), let bytes = statement.integerOrNil(3)
            else { continue }
            segments.add(AuditPosition(sequence: sequence, hash: hash), time: Self.time(time), bytes: Self.size(bytes))
        }
        return segments
    }

    /// Another program may have changed the file, and arithmetic with any number in it must not overflow.
    private static func time(_ time: Int64) -> Int64 { min(max(time, -latest), latest) }
    private static func size(_ bytes: Int64) -> Int64 { min(max(bytes, 0), 1 << 40) }
    /// In the year 4253, in microseconds since 1970.
    private static let latest: Int64 = 72_057_594_037_927_936

    /// What a record takes in the file besides its contacts and its detail, in bytes.
    private static let recordSize = 80
}
