import BrokerAccessControl
import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerAccessStore
@testable import BrokerCore

@Suite("Retention of the audit")
struct AuditRetentionTests {
    private let fixture: BrokerFixture
    private let root: TestApp

    init() throws { (fixture, root) = try Self.fixture(RetentionBounds(days: 30)) }

    private static func fixture(_ bounds: RetentionBounds) throws -> (BrokerFixture, TestApp) {
        let fixture = try BrokerFixture(retention: bounds)
        try fixture.keeper(adding: "Ada")
        return (fixture, TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin))
    }

    /// An app reads a contact on each of these days. The rest of each day passes in steps, so that what the broker does
    /// every hour ends before the next hour.
    private func pass(days: Int, reading name: String = "mail") throws {
        let app = try fixture.app(name, .full)
        for _ in 0..<days {
            _ = try app.fetch()
            for _ in 0..<4 {
                fixture.loop.advance(by: .seconds(6 * 3_600))
                try settle()
            }
        }
    }

    /// Lets the reads of the audit and the deletion end. The reads are in one queue, so these follow those of retention.
    private func settle() throws {
        for _ in 0..<4 { _ = try root.call("VerifyAudit") }
        fixture.loop.advance(by: .seconds(2))
        for _ in 0..<2 { _ = try root.call("VerifyAudit") }
        // A sync runs before the deletion.
        fixture.loop.advance(by: .seconds(2))
        try #require(fixture.loop.run { !fixture.access.audit.hasRemovedRecords })
    }

    private var reports: [String] {
        fixture.journal.lines.filter { $0.hasPrefix("retention removes audit records 1 to ") }
    }

    private func first() throws -> AuditEntry? {
        try fixture.access.audit.reader.records(matching: AuditFilter(), after: nil, limit: 1).first
    }

    @Test("Records older than the bound are removed, on record, in the journal and in the replies to an administrator")
    func removed() throws {
        try pass(days: 29)
        #expect(try first()?.sequence == 1 && reports.isEmpty && fixture.audit(.retention).isEmpty)
        #expect(try root.call("QueryAudit", #"{"allUsers":true}"#).parameters["removedUntil"] == nil)
        try pass(days: 4)
        let removals = try fixture.audit(.retention)
        #expect(!removals.isEmpty && reports.count == 1 && reports[0].hasSuffix(removals[0]))
        let removal = try #require(fixture.access.audit.removal)
        #expect(try first()?.sequence == removal.last.sequence + 1)
        #expect(!fixture.access.audit.hasRemovedRecords)
        let verified = try root.call("VerifyAudit").parameters
        #expect(verified["brokenAt"] == nil && verified["removed"]?["sequence"]?.integer == removal.last.sequence)
        #expect(verified["removed"]?["record"]?.integer == removal.record && verified["contradictions"] == nil)
        func removedUntil(_ method: String, _ parameters: String) throws -> String? {
            try root.call(method, parameters).parameters["removedUntil"]?.string
        }
        let day = removal.lastDay
        #expect(day == Timestamp.text(seconds: removal.ends / 1_000_000).prefix(10))
        #expect(try removedUntil("QueryAudit", #"{"allUsers":true}"#) == day)
        #expect(try removedUntil("QueryAudit", #"{"allUsers":true,"event":"alarm","since":"\#(day)"}"#) == day)
        let later = Timestamp.text(seconds: removal.ends / 1_000_000 + 1)
        #expect(try removedUntil("QueryAudit", #"{"allUsers":true,"since":"\#(later)"}"#) == nil)
    }

    @Test("Without bounds nothing is sealed or removed")
    func unbounded() throws {
        let (fixture, _) = try Self.fixture(RetentionBounds())
        fixture.loop.advance(by: .seconds(100 * 86_400))
        #expect(try fixture.access.audit.reader.segments().sealed.isEmpty)
        #expect(fixture.access.audit.removal == nil)
    }

    @Test("The reason of a grant survives the removal of its record, and says so")
    func decision() throws {
        func reasons() throws -> [String] {
            try root.call("ExplainDecision", #"{"app":"mail","uid":1000}"#).parameters["reasons"]?.elements?
                .compactMap(\.string) ?? []
        }
        try pass(days: 1)
        #expect(try reasons()[0].contains("allowed it all contacts on "))
        #expect(try !reasons().contains { $0.hasPrefix("retention removed") })
        let decided = try reasons()[0]
        let other = try fixture.app("other", .full)
        for _ in 0..<40 {
            _ = try other.fetch()
            fixture.loop.advance(by: .seconds(86_400))
            try settle()
        }
        #expect(try reasons()[0] == decided)
        #expect(try reasons()[1].hasPrefix("retention removed the audit's record of that decision on "))
    }

    @Test("A broken audit is not shortened")
    func broken() throws {
        try pass(days: 20)
        try fixture.crash(meanwhile: {
            let file = try Database.open(fixture.folder + "/access.sqlite", .readWrite)
            try file.execute(
                """
                DROP TRIGGER auditKeepsWords; UPDATE audit SET count = 9
                WHERE sequence = (SELECT min(sequence) FROM audit WHERE event = 'disclosure')
                """)
        })
        let root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        for _ in 0..<20 {
            fixture.loop.advance(by: .seconds(86_400))
            for _ in 0..<4 { _ = try root.call("VerifyAudit") }
        }
        #expect(fixture.access.audit.removal == nil)
        #expect(fixture.journal.lines.contains { $0.contains("so retention removes nothing") })
    }

    @Test("A table of segments that another program changed removes nothing early")
    func changedTable() throws {
        try pass(days: 10)
        try fixture.crash(meanwhile: {
            let file = try Database.open(fixture.folder + "/access.sqlite", .readWrite)
            try file.execute(
                """
                UPDATE auditSegment SET begins = begins - 9000000000000, ends = ends - 9000000000000
                WHERE last IN (SELECT last FROM auditSegment ORDER BY last LIMIT 2)
                """)
        })
        let root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        let segments = try fixture.access.audit.reader.segments()
        let now = BrokerFixture.start + 10 * 86_400_000_000
        let bounds = RetentionBounds(days: 30)
        #expect(bounds.removable(segments.sealed, open: segments.open, now: now) == 2)
        for _ in 0..<9 {
            fixture.loop.advance(by: .seconds(3_600))
            for _ in 0..<4 { _ = try root.call("VerifyAudit") }
        }
        #expect(try fixture.access.audit.removal == nil && fixture.audit(.retention).isEmpty)
    }

    @Test(
        "A restart in the middle of a removal ends it, and does not report it: the journal must not believe a forged one"
    )
    func restarted() throws {
        try pass(days: 20)
        let access = fixture.access
        let segments = try access.audit.reader.segments()
        access.audit.remove(Array(segments.sealed.prefix(5)), now: BrokerFixture.start + 20 * 86_400_000_000)
        try access.commit()
        #expect(try access.audit.deleteRemoved(2) && access.audit.hasRemovedRecords)
        let before = reports.count
        try fixture.crash()
        fixture.loop.advance(by: .seconds(2))
        #expect(fixture.loop.run { !fixture.access.audit.hasRemovedRecords })
        #expect(reports.count == before)
        let root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        #expect(try root.call("VerifyAudit").parameters["brokenAt"] == nil)
    }
}
