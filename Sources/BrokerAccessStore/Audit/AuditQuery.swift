import BrokerAccessControl
import BrokerDisclosure
import BrokerModel
import BrokerSQLite

/// Reads the audit over one connection.
struct AuditQuery {
    let connection: Database

    /// A left join: a record whose caller row is missing must still be found.
    private static let table = "audit LEFT JOIN auditCaller ON auditCaller.id = caller"
    private static let columns = """
        sequence, time, uid, app, strength, event, status, keys, count, contacts, revision, repeats, detail, hash
        """
    private static let rows = "SELECT \(columns) FROM \(table)"

    /// - Parameters:
    ///   - summary: helps to skip records that cannot match; `nil` reads all of them.
    ///   - progress: if it is over, the result is incomplete.
    func records(
        matching filter: AuditFilter, after sequence: Int64?, limit: Int, newestFirst: Bool,
        summary: AuditSummary? = nil, progress: AuditProgress? = nil
    ) throws(AccessStoreError) -> [AuditEntry] {
        var pseudonym: [UInt8]?
        if let contact = filter.contact {
            guard let bytes = Hexadecimal.bytes(contact), bytes.count == Pseudonyms.size else { return [] }
            pseudonym = bytes
        }
        // Removed records may still be in the file, because they are deleted in slices.
        let base = try announcedRemoval()?.last.sequence ?? 0
        let first = newestFirst ? base + 1 : max(base, sequence ?? 0) + 1
        let end = newestFirst ? (sequence ?? .max) - 1 : .max
        guard first <= end else { return [] }
        let all = first...end
        let statement = try statement(matching: filter, pseudonym, newestFirst: newestFirst)
        var entries: [AuditEntry] = []
        guard let summary, filter != AuditFilter(),
            let last = try connection.statement("SELECT max(sequence) FROM audit").first({ $0.integerOrNil(0) }),
            let blocks = try summary.blocks(upTo: last, reading: connection, progress)
        else {
            try add(&entries, upTo: limit, pseudonym, in: all, statement)
            return entries
        }
        let callers = try callers(matching: filter)
        if callers?.isEmpty == true { return [] }
        let since = filter.withEarlier ? filter.since : nil
        let earlier = since.map { blocks.earlier(than: $0, of: callers, in: all) } ?? [:]
        for place in newestFirst ? Array(blocks.indices.reversed()) : Array(blocks.indices) {
            guard entries.count < limit, progress?.isOver != true else { return entries }
            let block = blocks[place]
            guard block.range.overlaps(all) else { continue }
            let ranges = block.mayMatch(filter, pseudonym) ? block.ranges(of: callers) : earlier[place] ?? []
            for range in newestFirst ? ranges.reversed() : ranges where range.overlaps(all) && entries.count < limit {
                try add(&entries, upTo: limit, pseudonym, in: range.clamped(to: all), statement)
            }
            if newestFirst {
                progress?.reached(backTo: block.range.lowerBound)
            } else {
                progress?.reached(block.range.upperBound)
            }
        }
        return entries
    }

    /// The callers that the filter permits; `nil` if it permits all.
    private func callers(matching filter: AuditFilter) throws(AccessStoreError) -> Set<Int64>? {
        guard filter.uid != nil || filter.app != nil || filter.strength != nil else { return nil }
        let statement = try connection.statement(
            """
            SELECT id FROM auditCaller
            WHERE (?1 IS NULL OR uid = ?1) AND (?2 IS NULL OR app = ?2) AND (?3 IS NULL OR strength = ?3)
            """)
        statement.bind(1, filter.uid.map(Int64.init)).bind(2, filter.app).bind(3, filter.strength?.rawValue)
        return Set(try statement.all { $0.integerOrNil(0) ?? 0 })
    }

    private func statement(
        matching filter: AuditFilter, _ pseudonym: [UInt8]?, newestFirst: Bool
    ) throws(AccessStoreError) -> PreparedStatement {
        let concerned = filter.concerning?.map { Hexadecimal.bytes($0) } ?? []
        let values = concerned.indices.map { "(?\($0 + 10))" }.joined(separator: ", ")
        let statement = try connection.statement(
            """
            \(concerned.isEmpty ? "" : "WITH concerned (pseudonym) AS (VALUES \(values))")
            \(Self.rows) WHERE sequence BETWEEN ?1 AND ?9
                AND (?2 IS NULL OR uid = ?2) AND (?3 IS NULL OR app = ?3) AND (?4 IS NULL OR strength = ?4)
                AND (?5 IS NULL OR time >= ?5) AND (?6 IS NULL OR time < ?6) AND (?7 IS NULL OR event = ?7)
                AND (?8 IS NULL OR instr(contacts, ?8) > 0)
                \(concerned.isEmpty ? "" : Self.concerns)
            ORDER BY sequence \(newestFirst ? "DESC" : "ASC")
            """
        )
        .bind(2, filter.uid.map(Int64.init)).bind(3, filter.app).bind(4, filter.strength?.rawValue)
        .bind(5, filter.withEarlier ? nil : filter.since).bind(6, filter.until).bind(7, filter.event?.rawValue).bind(
            8, pseudonym)
        for (index, pseudonym) in concerned.enumerated() { statement.bind(Int32(index) + 10, pseudonym) }
        return statement
    }

    /// See ``AuditFilter/concerning``.
    private static let concerns = """
        AND (event IN ('\(AuditEvent.grant.rawValue)', '\(AuditEvent.revocation.rawValue)')
            OR event = '\(AuditEvent.disclosure.rawValue)' AND contacts IS NULL
            OR EXISTS (SELECT 1 FROM concerned WHERE instr(contacts, pseudonym) > 0))
        """

    private func add(
        _ entries: inout [AuditEntry], upTo limit: Int, _ pseudonym: [UInt8]?, in range: ClosedRange<Int64>,
        _ statement: PreparedStatement
    ) throws(AccessStoreError) {
        defer { statement.reset() }
        statement.bind(1, range.lowerBound).bind(9, range.upperBound)
        while entries.count < limit, try statement.step() {
            let row = Self.row(statement)
            // `instr` may match across the boundary of two pseudonyms.
            if let pseudonym, !Self.pseudonyms(row.contacts?.bytes ?? []).contains(pseudonym[...]) { continue }
            let hash = statement.bytesOrNil(13) ?? []
            let before = entries.last.flatMap { $0.sequence == row.sequence - 1 ? $0.hash : nil }
            let previous = if let before { before } else { Hexadecimal.text(try self.hash(before: row.sequence)) }
            guard let entry = AuditEntry(row, previous: previous, hash: hash) else {
                throw .damaged(reason: "audit record \(row.sequence) cannot be read; verify the audit")
            }
            entries.append(entry)
        }
    }

    /// The hash of the record before this one, which may be one that retention removed.
    private func hash(before sequence: Int64) throws(AccessStoreError) -> [UInt8] {
        try connection.statement(
            """
            SELECT coalesce(
                (SELECT hash FROM audit WHERE sequence = ?1), (SELECT lastHash FROM auditRemoval WHERE last = ?1))
            """
        ).bind(1, sequence - 1).first { $0.bytesOrNil(0) } ?? AuditChain.beginning
    }

    /// The apps of a user that the audit ever named.
    func apps(of uid: UInt32) throws(AccessStoreError) -> Set<Principal> {
        let rows = try connection.statement("SELECT strength, app FROM auditCaller WHERE uid = ? AND app <> ''")
        return Set(
            try rows.bind(1, Int64(uid)).all { row in
                row.textOrNil(0).flatMap(IdentityStrength.init(rawValue:)).map {
                    Principal(uid: uid, strength: $0, app: row.text(1))
                }
            }.compactMap(\.self))
    }

    /// Verifies one step of the chain in one read transaction, so that all its reads see the same state.
    ///
    /// - Parameter end: a record that is known to be in the chain.
    func verify(from: Int64?, budget rows: Int, known end: AuditPosition) throws(AccessStoreError)
        -> AuditVerification
    {
        try connection.execute("BEGIN")
        defer { try? connection.execute("COMMIT") }
        let removal = try removal()
        let base = removal?.last ?? .beginning
        let first = max(base.sequence + 1, from ?? 1)
        var previous = base.hash
        var expected = first
        func found(brokenAt: Int64?, missingTo: Int64? = nil, next: Int64?) -> AuditVerification {
            AuditVerification(
                checked: Int(expected - first), head: Hexadecimal.text(previous), brokenAt: brokenAt,
                missingTo: missingTo, next: next)
        }
        if let removal, first == base.sequence + 1, try !isAnnounced(removal), try !isMissing(removal.record, upTo: end)
        {
            return found(brokenAt: removal.first, missingTo: base.sequence, next: nil)
        }
        if first > base.sequence + 1 {
            guard let before = try position(at: first - 1) else {
                return found(brokenAt: first - 1, missingTo: first - 1, next: nil)
            }
            previous = before.hash
        }
        let statement = try connection.statement("\(Self.rows) WHERE sequence >= ?1 ORDER BY sequence").bind(1, first)
        defer { statement.reset() }
        var canonical: [UInt8] = []
        while try statement.step() {
            guard expected - first < Int64(max(1, rows)) else { return found(brokenAt: nil, next: expected) }
            guard let link = try Self.link(statement, at: expected, after: previous, &canonical),
                link.sequence != end.sequence || link == end
            else {
                let there = statement.integerOrNil(0) ?? expected
                return found(brokenAt: expected, missingTo: there > expected ? there - 1 : nil, next: nil)
            }
            previous = link.hash
            expected += 1
        }
        // The chain is intact; it must also reach the known record.
        guard expected > end.sequence else {
            return found(brokenAt: expected, missingTo: end.sequence, next: nil)
        }
        return found(brokenAt: nil, next: nil)
    }

    /// Returns the position of the last audit record, as stored in the table `state`.
    func counted() throws(AccessStoreError) -> AuditPosition {
        let state = try connection.statement("SELECT auditSequence, auditHead FROM state WHERE id = 1").first { row in
            row.integerOrNil(0).map { AuditPosition(sequence: $0, hash: row.bytes(1)) }
        }
        guard let state, state.hash.count == AuditChain.hashSize else {
            throw .damaged(reason: "the counters are missing")
        }
        return state
    }

    /// Returns the position and hash of the record with this sequence number; `nil` if there is none.
    func position(at sequence: Int64) throws(AccessStoreError) -> AuditPosition? {
        try connection.statement("SELECT hash FROM audit WHERE sequence = ?").bind(1, sequence)
            .first { row in row.bytesOrNil(0).map { AuditPosition(sequence: sequence, hash: $0) } }
    }

    /// Returns the time of the record with this sequence number, in microseconds since 1970; `nil` if there is none.
    func time(at sequence: Int64) throws(AccessStoreError) -> Int64? {
        try connection.statement("SELECT time FROM audit WHERE sequence = ?").bind(1, sequence).first {
            $0.integerOrNil(0)
        }
    }

    /// Follows the chain from `link` and returns the position of its last record, which is `link` if no
    /// record follows; `nil` if the chain is broken after `link`.
    func end(after link: AuditPosition) throws(AccessStoreError) -> AuditPosition? {
        let statement = try connection.statement("\(Self.rows) WHERE sequence > ?1 ORDER BY sequence")
        defer { statement.reset() }
        statement.bind(1, link.sequence)
        var last = link
        var canonical: [UInt8] = []
        while try statement.step() {
            guard let next = try Self.link(statement, at: last.sequence + 1, after: last.hash, &canonical) else {
                return nil
            }
            last = next
        }
        return last
    }

    /// Returns the current row's position; `nil` if the row does not have this sequence number, or if its hash
    /// does not follow from `previous`. `canonical` is a reusable buffer.
    private static func link(
        _ statement: PreparedStatement, at sequence: Int64, after previous: [UInt8], _ canonical: inout [UInt8]
    ) throws(AccessStoreError) -> AuditPosition? {
        let row = row(statement)
        guard row.sequence == sequence, let hash = statement.bytesOrNil(13),
            try AuditChain.hash(row, after: previous, &canonical) == hash
        else { return nil }
        return AuditPosition(sequence: sequence, hash: hash)
    }

    private static func row(_ statement: PreparedStatement) -> AuditRow<StoredColumn> {
        AuditRow(
            sequence: statement.integerOrNil(0) ?? 0, time: statement.integerOrNil(1) ?? 0,
            uid: statement.integerOrNil(2) ?? 0, app: StoredColumn(statement, 3),
            strength: StoredColumn.orNil(statement, 4),
            event: StoredColumn(statement, 5), status: StoredColumn.orNil(statement, 6),
            keys: statement.integerOrNil(7),
            count: statement.integerOrNil(8), contacts: StoredColumn.orNil(statement, 9),
            revision: statement.integerOrNil(10),
            repeats: statement.integerOrNil(11), detail: StoredColumn.orNil(statement, 12))
    }

    private static func pseudonyms(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: bytes.count, by: Pseudonyms.size).map {
            bytes[$0..<min($0 + Pseudonyms.size, bytes.count)]
        }
    }
}

extension AuditEntry {
    /// Fails if the row contains a value that is malformed or unknown to this version of the broker.
    init?(_ row: AuditRow<StoredColumn>, previous: String, hash: [UInt8]) {
        func word<Word: RawRepresentable<String>>(_ text: StoredColumn?, as type: Word.Type) -> Word?? {
            guard let text else { return .some(nil) }
            return Word(rawValue: text.text).map { .some($0) }
        }
        let contacts = row.contacts?.bytes
        guard let uid = UInt32(exactly: row.uid),
            let strength = word(row.strength, as: IdentityStrength.self),
            let event = AuditEvent(rawValue: row.event.text),
            let status = word(row.status, as: AuthorizationStatus.self),
            contacts.map({ $0.count.isMultiple(of: Pseudonyms.size) }) ?? true
        else { return nil }
        self.init(
            sequence: row.sequence, time: row.time, uid: uid, app: row.app.text,
            strength: strength, event: event, status: status,
            keys: row.keys.map { ContactKeySet(rawValue: UInt64(bitPattern: $0)) },
            count: row.count.map(Int.init),
            contacts: contacts.map { bytes in
                stride(from: 0, to: bytes.count, by: Pseudonyms.size).map {
                    Hexadecimal.text(bytes[$0..<$0 + Pseudonyms.size])
                }
            },
            revision: row.revision, repeats: row.repeats.map(Int.init), detail: row.detail?.text,
            previous: previous, hash: Hexadecimal.text(hash))
    }
}
