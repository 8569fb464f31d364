import BrokerAccessControl
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerAccessStore

@Suite("Queries of a part of a long audit")
struct AuditPeriodTests {
    private static let size: Int64 = 20
    private static let events: [AuditEvent] = [.grant, .revocation, .save, .purge]
    private let fixture: StoreFixture
    private let store: AccessStore
    private let summary = AuditSummary(size: size, fewest: 0)

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    /// Adds a record each minute: disclosures to several apps, and now and then another event.
    private func append(_ count: Int) throws {
        let others: [AuditEvent] = [.grant, .refusal, .save, .prompt, .revocation, .withheld]
        for number in 0..<count {
            fixture.now += 60_000_000
            let isOther = number % 13 == 5
            store.audit.append(
                AuditRecord(
                    time: fixture.now, uid: UInt32(1_000 + number % 2),
                    app: number < 10 ? "former" : "app\(number % 3)",
                    strength: .installed, event: isOther ? others[number / 13 % others.count] : .disclosure, count: 1,
                    contacts: [RecordNumber(Int64(number))], detail: "\(number)"))
        }
        try store.commit()
    }

    private func records(_ filter: AuditFilter, after: Int64? = nil, limit: Int = .max) throws -> [AuditEntry] {
        try AuditQuery(connection: Database.open(fixture.database, .readOnly)).records(
            matching: filter, after: after, limit: limit, newestFirst: false, summary: summary)
    }

    /// What a query with `withEarlier` finds at least.
    private func needed(_ all: [AuditEntry], since: Int64) -> Set<Int64> {
        var (needed, lastUses): (Set<Int64>, [String: Int64]) = ([], [:])
        var known: Set<String> = []
        for entry in all {
            let app = "\(entry.uid) \(entry.app)"
            if entry.time >= since || Self.events.contains(entry.event) || known.insert(app).inserted {
                needed.insert(entry.sequence)
            }
            guard entry.time < since, entry.event == .disclosure else { continue }
            if known.insert("uses " + app).inserted { needed.insert(entry.sequence) }
            lastUses[app] = entry.sequence
        }
        return needed.union(lastUses.values)
    }

    @Test(
        "With the earlier records that a report needs, a query finds all of these and few others", arguments: [7, 500])
    func earlier(limit: Int) throws {
        try append(1_000)
        // The clock is set back by an hour, so later records are from before the time that is asked for.
        fixture.now -= 3_600_000_000
        try append(100)
        let all = try records(AuditFilter())
        for since in [fixture.now - 7_200_000_000, fixture.now, all[400].time, 0, fixture.now + 36_000_000_000] {
            for uid in [nil, 1_001] as [UInt32?] {
                let mine = all.filter { uid == nil || $0.uid == uid }
                var found: [AuditEntry] = []
                while true {
                    let filter = AuditFilter(uid: uid, since: since, withEarlier: true)
                    let more = try records(filter, after: found.last?.sequence, limit: limit)
                    found += more
                    guard more.count == limit else { break }
                }
                let needed = needed(mine, since: since)
                let sequences = Set(found.map(\.sequence))
                #expect(sequences.isSuperset(of: needed) && sequences.count == found.count)
                #expect(found == mine.filter { sequences.contains($0.sequence) })
                // All of a block that reaches into the time is read, and the records after the last complete block.
                let blocks = Set(all.filter { $0.time >= since }.map { ($0.sequence - 1) / Self.size })
                #expect(
                    sequences.subtracting(needed).allSatisfy {
                        blocks.contains(($0 - 1) / Self.size) || $0 > store.audit.last.sequence - Self.size
                    })
            }
        }
    }

    @Test("A query for the last day reads no record of a block before it, except those that a report needs")
    func lastDay() throws {
        try append(1_200)
        let all = try records(AuditFilter())
        let since = all[1_000].time
        let first = (all[1_000].sequence - 1) / Self.size * Self.size
        let expected = try records(AuditFilter(since: since))
        let withEarlier = try records(AuditFilter(since: since, withEarlier: true))
        // From now on, a query that reads one of the other records fails.
        let needed = needed(all, since: since).map { "\($0)" }.joined(separator: ",")
        try fixture.tamper(
            "UPDATE audit SET event = 'unreadable' WHERE sequence <= \(first) AND sequence NOT IN (\(needed))")
        #expect(throws: AccessStoreError.self) { try records(AuditFilter(until: since)) }
        #expect(try records(AuditFilter(since: since)) == expected)
        #expect(try records(AuditFilter(since: since, withEarlier: true)) == withEarlier)
        #expect(withEarlier.count > expected.count && withEarlier.count < 400)
        let blocks = try #require(
            try summary.blocks(upTo: store.audit.last.sequence, reading: Database.open(fixture.database, .readOnly)))
        let read = blocks.filter { $0.mayMatch(AuditFilter(since: since), nil) }
        #expect(read.count == blocks.count - Int(first / Self.size))
    }

    @Test("A query about a contact finds the records that name it, grants, revocations and lists")
    func concerning() throws {
        try append(300)
        store.disclose(7, 8)
        store.audit.append(
            AuditRecord(
                time: fixture.now, uid: 1_000, app: "list", strength: .installed, event: .disclosure, keys: .names,
                count: 300))
        try store.commit()
        let wanted = [7, 8, 9].map { store.audit.pseudonyms.pseudonym(of: RecordNumber($0), uid: 1_000) }
        var filter = AuditFilter(uid: 1_000)
        filter.concerning = wanted
        let found = try records(filter)
        let expected = try records(AuditFilter(uid: 1_000)).filter {
            $0.contacts?.contains(where: wanted.contains) ?? ($0.event == .disclosure)
                || [.grant, .revocation].contains($0.event)
        }
        #expect(found == expected && found.contains { $0.app == "list" } && found.count < 40)
        #expect(try records(filter).filter { $0.contacts?.contains(wanted[0]) ?? false }.count == 1)
        #expect(try store.audit.reader.apps(of: 1_000).map(\.app).sorted().contains("list"))
    }

    @Test("A read whose result nobody wants any more stops at the next block or step")
    func stops() throws {
        try append(1_000)
        let reader = store.audit.reader
        #expect(try reader.verifyAll(rowsPerStep: 100).checked == Int(store.audit.last.sequence))
        #expect(reader.progress.percent >= 90)
        let connection = try Database.open(fixture.database, .readOnly)
        let query = AuditQuery(connection: connection)
        reader.progress.end()
        #expect(try reader.verifyAll(rowsPerStep: 100).checked == 100)
        let filter = AuditFilter(event: .grant)
        func found(_ progress: AuditProgress?) throws -> Int {
            try query.records(
                matching: filter, after: nil, limit: .max, newestFirst: false, summary: summary, progress: progress
            ).count
        }
        // First without blocks, then with those that another query read.
        #expect(try found(reader.progress) == 0 && summary.blocks(upTo: 0, reading: connection)?.isEmpty == true)
        #expect(try found(nil) > 0)
        #expect(try found(reader.progress) == 0)
    }
}
