import BrokerAccessControl
import BrokerBounds
import BrokerModel
import Testing

@testable import BrokerAccessStore

/// One second, in the audit's microseconds.
private let second: Int64 = 1_000_000

@Suite("Deduplication windows of the audit")
struct DeduplicationTests {
    private let fixture: StoreFixture
    private let store: AccessStore
    private let start: Int64

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        start = fixture.now
    }

    /// Records and commits what an app got or was refused. `time` is relative to the start. Returns the number of
    /// records that the store wrote.
    @discardableResult
    private func record(
        _ event: AuditEvent = .disclosure, _ contacts: [Int64]? = [7], to principal: Principal = mail, at time: Int64,
        keys: ContactKeySet = .names, revision: Int64 = 3, count: Int? = nil, detail: String? = nil, part: Int? = nil
    ) throws -> Int {
        let before = store.audit.last.sequence
        store.audit.append(
            AuditRecord(
                time: start + time, uid: principal.uid, app: principal.app, strength: principal.strength, event: event,
                status: .limited, keys: keys, count: count ?? contacts?.count,
                contacts: contacts?.map { RecordNumber($0) }, revision: revision, detail: detail, part: part))
        try store.commit()
        return Int(store.audit.last.sequence - before)
    }

    private func repeats() throws -> [Int?] {
        try store.records(matching: AuditFilter(app: mail.app), after: nil, limit: .max).map(\.repeats)
    }

    @Test("A disclosure repeated within ten seconds is counted; after ten seconds there is a new record")
    func disclosures() throws {
        #expect(try record(at: 0) == 1)
        #expect(try record(at: 1) == 0)
        #expect(try record(at: 10 * second - 1) == 0)
        // The store writes the count and the first record of a new window.
        #expect(try record(at: 10 * second) == 2)
        #expect(try repeats() == [nil, 2, nil])
        let count = try #require(
            try store.records(matching: AuditFilter(app: mail.app), after: nil, limit: .max)[1...].first)
        #expect(count.time == start + 10 * second - 1 && count.count == 1 && count.keys == .names)
        #expect(count.contacts == [store.audit.pseudonyms.pseudonym(of: RecordNumber(7), uid: mail.uid)])
        #expect(try store.verifyAll().brokenAt == nil)
    }

    @Test("Equal refusals within a minute are counted; after a minute there is a new record")
    func refusals() throws {
        #expect(try record(.refusal, nil, at: 0, detail: "FetchContacts") == 1)
        #expect(try record(.refusal, nil, at: 60 * second - 1, detail: "FetchContacts") == 0)
        #expect(try record(.refusal, nil, at: 60 * second, detail: "FetchContacts") == 2)
        #expect(try repeats() == [nil, 1, nil])
    }

    @Test("A window without a repeat leaves no count")
    func noRepeat() throws {
        try record(at: 0)
        #expect(try record(at: 10 * second) == 1)
        store.audit.closeWindows(at: nil)
        #expect(!store.hasUncommitted && store.audit.nextWindowEnd == nil)
    }

    @Test("A record with another app, event, keys, contacts, revision or detail is not a repeat")
    func differences() throws {
        try record(at: 0)
        #expect(try record(.disclosure, [8], at: 1) == 1)
        #expect(try record(.disclosure, [7, 8], at: 2) == 1)
        #expect(try record(.disclosure, [8, 7], at: 3) == 1)
        #expect(try record(to: notes, at: 4) == 1)
        #expect(try record(to: elsewhere, at: 5) == 1)
        #expect(try record(at: 6, keys: .names.union(ContactKeySet([.phoneNumbers]))) == 1)
        #expect(try record(at: 7, revision: 4) == 1)
        #expect(try record(at: 8, detail: "other") == 1)
        #expect(try record(.refusal, [7], at: 9) == 1)
        #expect(try record(.refusal, [7], at: 10, detail: "other") == 1)
        // Recording the same events again gives repeats.
        #expect(try record(.disclosure, [7, 8], at: 11) == 0)
        #expect(try record(to: elsewhere, at: 12) == 0)
        #expect(try record(.refusal, [7], at: 13, detail: "other") == 0)
    }

    @Test(
        "Two parts of a list are two records; the same part again is a repeat, and a record without a part is not"
    )
    func parts() throws {
        #expect(try record(.disclosure, nil, at: 0, count: 250, part: 1) == 1)
        #expect(try record(.disclosure, nil, at: 1, count: 250, part: 2) == 1)
        #expect(try record(.disclosure, nil, at: 2, count: 250, part: 1) == 0)
        #expect(try record(.disclosure, nil, at: 3, count: 250) == 1)
        #expect(try record(.disclosure, nil, at: 4, count: 250) == 1)
    }

    @Test(
        "Grants, revocations, answers, saves and prompts are never deduplicated",
        arguments: [
            AuditEvent.grant, .revocation, .answer, .save, .withheld, .prompt, .agentSearch,
        ])
    func others(event: AuditEvent) throws {
        #expect(try record(event, at: 0) == 1)
        #expect(try record(event, at: 1) == 1)
    }

    @Test("Authentications are deduplicated like refusals, and counted separately")
    func authentications() throws {
        #expect(try record(.authentication, nil, at: 0) == 1)
        #expect(try record(.refusal, nil, at: 1) == 1)
        #expect(try record(.authentication, nil, at: 2) == 0)
        store.audit.closeWindows(at: start + 61 * second)
        try store.commit()
        #expect(try repeats() == [nil, nil, 1])
        #expect(try store.events().last == .authentication)
    }

    @Test("A window's count is written when the window ends, and no sooner")
    func closing() throws {
        try record(at: 0)
        try record(at: 1)
        try record(.refusal, nil, at: 2)
        try record(.refusal, nil, at: 3)
        #expect(store.audit.nextWindowEnd == start + 10 * second)
        store.audit.closeWindows(at: start + 10 * second - 1)
        #expect(!store.hasUncommitted)
        store.audit.closeWindows(at: start + 10 * second)
        #expect(store.hasUncommitted)
        try store.commit()
        #expect(store.audit.nextWindowEnd == start + 60 * second + 2)
        store.audit.closeWindows(at: start + 61 * second)
        try store.commit()
        #expect(store.audit.nextWindowEnd == nil)
        #expect(try repeats() == [nil, nil, 1, 1])
    }

    @Test("A clock that is set back closes the windows")
    func clockSetBack() throws {
        try record(at: 0)
        #expect(try record(at: -3_600 * second) == 1)
    }

    @Test("Stopping writes the counts before the stop")
    func stopping() throws {
        try record(at: 0)
        for time in 1...3 { try record(at: Int64(time)) }
        store.close(now: start + second)
        let next = try fixture.open()
        let records = try next.records(matching: AuditFilter(), after: nil, limit: .max)
        #expect(records.map(\.event) == [.start, .disclosure, .disclosure, .stop, .start])
        #expect(records.map(\.repeats) == [nil, nil, 3, nil, nil])
        #expect(try next.verifyAll().brokenAt == nil)
    }

    @Test("A repeat counts as one use, and not again when the count is written")
    func uses() throws {
        store.decide(.limited(to: contacts(7)), for: mail)
        try record(at: 0)
        for time in 1...4 { try record(at: Int64(time) * second) }
        #expect(store.usage(of: mail) == ((start + 4 * second) / second, 5, 1, start / second))
        store.audit.closeWindows(at: nil)
        try store.commit()
        // A repeat tells the app nothing new.
        #expect(store.usage(of: mail) == ((start + 4 * second) / second, 5, 1, (start + 4 * second) / second))
    }

    @Test("A record whose commit failed is written again, not counted")
    func failedCommit() throws {
        try record(at: 0)
        try store.diskIsFull(true)
        store.audit.append(
            AuditRecord(
                time: start + 1, uid: mail.uid, app: mail.app, strength: mail.strength, event: .disclosure,
                count: 1, contacts: [RecordNumber(9)], detail: String(repeating: "x", count: 5_000)))
        #expect(throws: AccessStoreError.self) { try store.commit() }
        try store.diskIsFull(false)
        #expect(try record(.disclosure, [9], at: 2, detail: String(repeating: "x", count: 5_000)) == 1)
        // The earlier record is still known, and its repeats are counted.
        #expect(try record(at: 3) == 0)
    }

    @Test("An app's windows are limited: above the limit its oldest is closed, and no other app's")
    func windowsOfOneApp() throws {
        store.audit.bounds.windowsPerApp = 3
        try record(to: notes, at: 0)
        for number in 1...3 { try record(.disclosure, [Int64(number)], at: Int64(number)) }
        #expect(try record(.disclosure, [1], at: 4) == 0)
        // The fourth window is above the limit. The store writes the count of the first one, and the fourth record.
        #expect(try record(.disclosure, [4], at: 5) == 2)
        #expect(try record(.disclosure, [2], at: 6) == 0)
        #expect(try record(.disclosure, [1], at: 7) == 2)
        #expect(try record(to: notes, at: 8) == 0)
    }

    @Test("All windows together are limited: above the limit, every record of an app without a window is written")
    func allWindows() throws {
        store.audit.bounds.windows = 2
        for number in 1...2 { try record(.disclosure, [Int64(number)], at: Int64(number)) }
        #expect(try record(to: notes, at: 3) == 1)
        #expect(try record(to: notes, at: 4) == 1)
        #expect(try record(.disclosure, [1], at: 5) == 0)
        #expect(try record(.disclosure, [3], at: 6) == 2)
    }

    @Test("A long list of contacts weighs as much as many windows")
    func weight() throws {
        store.audit.bounds.windowsPerApp = 16
        try record(at: 0)
        // This window weighs 1 + 240 / 16 = 16, which is the whole limit, so the first one must be closed.
        try record(.disclosure, Array(1...240), at: 1)
        #expect(try record(.disclosure, Array(1...240), at: 2) == 0)
        #expect(try record(at: 3) == 2)
        // A record that weighs more than the limit is never deduplicated.
        #expect(try record(.disclosure, Array(1...256), at: 4) >= 1)
        #expect(try record(.disclosure, Array(1...256), at: 5) == 1)
    }

    @Test("Many distinct disclosures, deduplicated or not, are all in the audit")
    func churn() throws {
        store.audit.bounds.windowsPerApp = 50
        var told: [Int64: Int] = [:]
        var generator = SystemRandomNumberGenerator()
        for step in 0..<3_000 {
            let number = Int64.random(in: 0..<90, using: &generator)
            told[number, default: 0] += 1
            try record(.disclosure, [number], at: Int64(step) * second / 20)
        }
        store.audit.closeWindows(at: nil)
        try store.commit()
        var onRecord: [String: Int] = [:]
        for entry in try store.records(matching: AuditFilter(app: mail.app), after: nil, limit: .max) {
            onRecord[entry.contacts?.first ?? "", default: 0] += entry.repeats ?? 1
        }
        for (number, count) in told {
            #expect(onRecord[store.audit.pseudonyms.pseudonym(of: RecordNumber(number), uid: mail.uid)] == count)
        }
        #expect(try store.verifyAll().brokenAt == nil)
    }
}
