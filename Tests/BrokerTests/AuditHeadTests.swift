import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import Testing

@testable import BrokerCore

@Suite("The audit's last record, as the journal gets it")
struct AuditHeadTests {
    private let fixture: BrokerFixture
    private let root: TestApp

    init() throws {
        fixture = try BrokerFixture()
        root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        try fixture.keeper(adding: "Ada")
    }

    /// The sequence number and the hash of each report.
    private var reports: [(sequence: Int64, hash: String)] {
        fixture.journal.lines.compactMap { line in
            guard
                let match = line.wholeMatch(
                    of: /the audit has (\d+) records; the hash of the last one is ([0-9a-f]{64})/)
            else { return nil }
            return Int64(match.1).map { ($0, String(match.2)) }
        }
    }

    private func pass(hours: Int64) throws {
        let before = reports.count
        fixture.loop.advance(by: .seconds(hours * 3_600))
        _ = fixture.loop.run { reports.count > before }
    }

    private func contradicted(_ heads: [(sequence: Int64, hash: String)]) throws -> [JSONValue] {
        let list = heads.map { #"{"sequence":\#($0.sequence),"hash":"\#($0.hash)"}"# }.joined(separator: ",")
        let answer = try root.call("VerifyAudit", #"{"heads":[\#(list)]}"#)
        #expect(answer.error == nil && answer.parameters["brokenAt"] == nil)
        return answer.parameters["contradictedHeads"]?.elements.map(Array.init) ?? []
    }

    @Test("Every hour and at the stop the journal gets the last record, and nothing if there is no other one since")
    func reported() throws {
        #expect(reports.isEmpty)
        try pass(hours: 1)
        let head = try root.call("VerifyAudit").parameters
        #expect(reports.count == 1 && reports[0].hash == head["head"]?.string)
        #expect(reports[0].sequence == head["records"]?.integer)
        try pass(hours: 3)
        #expect(reports.count == 1)
        try fixture.restart()
        #expect(reports.count == 2 && reports[1].sequence > reports[0].sequence)
        // The report at the stop has the record of the stop.
        let stop = try fixture.access.audit.reader.records(
            matching: AuditFilter(event: .stop), after: nil, limit: 10)
        #expect(stop.map(\.sequence) == [reports[1].sequence] && stop.map(\.hash) == [reports[1].hash])
    }

    @Test("Verification accepts the reports, and names those that the audit contradicts")
    func verified() throws {
        try pass(hours: 1)
        let head = try #require(reports.first)
        let other = (head.sequence, String(repeating: "ab", count: 32))
        let later = (head.sequence + 50, head.hash)
        #expect(try contradicted([head]).isEmpty)
        let found = try contradicted([head, other, later])
        #expect(found.map { $0["sequence"]?.integer } == [head.sequence, head.sequence + 50])
        #expect(found.map { $0["time"] != nil } == [true, false])
    }

    @Test("An older audit that was put back with all its files contradicts the reports since")
    func putBack() throws {
        let older = fixture.files()
        _ = try fixture.app("mail", .full).fetch()
        try pass(hours: 1)
        let head = try #require(reports.first)
        try fixture.crash(losing: older)
        let root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        let answer = try root.call(
            "VerifyAudit", #"{"heads":[{"sequence":\#(head.sequence),"hash":"\#(head.hash)"}]}"#)
        #expect(answer.parameters["contradictedHeads"]?.count == 1)
    }

    @Test(
        "A position that cannot be one is refused",
        arguments: [
            #"{"sequence":0,"hash":"\#(String(repeating: "a", count: 64))"}"#, #"{"sequence":1,"hash":"ab"}"#,
            #"{"sequence":1}"#, #"{"hash":"\#(String(repeating: "a", count: 64))"}"#, "5",
            #"{"sequence":1,"hash":"\#(String(repeating: "a", count: 64))","more":1}"#,
        ])
    func malformed(head: String) throws {
        #expect(try root.call("VerifyAudit", #"{"heads":[\#(head)]}"#).error?.hasSuffix("InvalidParameter") == true)
    }
}
