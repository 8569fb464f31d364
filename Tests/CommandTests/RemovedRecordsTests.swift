import BrokerJSON
import BrokerSystem
import Testing

@testable import contactctl

@Suite("What contactctl says about audit records that retention removed")
struct RemovedRecordsTests {
    private static let hash = String(repeating: "0a", count: 32)
    private static let removed =
        #""removed":{"sequence":51,"hash":"\#(hash)","until":"2026-02-01","time":"2026-03-01T12:00:00Z","record":202}"#
    /// 2026-03-01 12:00, in seconds since 1970: when the records were removed.
    private static let noon: Int64 = 1_772_366_400

    private func broker(verify: String = "") throws -> ScriptedBroker {
        try ScriptedBroker { method, parameters in
            switch method {
            case "VerifyAudit": .reply("{\"records\":151,\"head\":\"ab12\"\(verify)}")
            case "QueryAudit" where parameters["event"]?.string == "alarm":
                .reply(#"{"records":[],"removedUntil":"2026-02-01"}"#)
            case "QueryAudit":
                .reply(
                    #"{"records":[{"sequence":52,"time":"2026-02-02T12:00:00Z","uid":1000,"app":"org.example.Ink","#
                        + #""strength":"sandboxed","event":"disclosure","status":"limited","keys":["givenName"],"contacts":3}],"#
                        + #""removedUntil":"2026-02-01"}"#)
            case "FindContactAccess": .reply(#"{"matches":1,"now":[],"seen":[],"removedUntil":"2026-02-01"}"#)
            case "ListGrants": .reply(#"{"grants":[]}"#)
            default: .error("org.varlink.service.MethodNotFound")
            }
        }
    }

    @Test("verify accepts a removal that is on record, and says which records it was")
    func verified() throws {
        let outcome = try run("contactctl", "verify", with: broker(verify: "," + Self.removed))
        #expect(outcome.code == 0)
        #expect(
            outcome.output.contains(
                "151 records are unchanged\nrecords 1 to 51, up to 2026-02-01, removed by retention on "))
        #expect(outcome.output.contains("; record 202 says so\nhead ab12\n"))
        let json = try run("contactctl", "verify", "--json", with: broker(verify: "," + Self.removed)).output
        #expect(json.contains(Self.removed))
    }

    @Test("verify says which records are missing without a removal on record")
    func missing() throws {
        let many = try run("contactctl", "verify", with: broker(verify: #","brokenAt":1,"missingTo":51"#))
        #expect(many.code == 1)
        #expect(
            many.error.hasPrefix(
                "contactctl: the audit is broken: records 1 to 51 are missing, and no record says that retention removed them\n"
            ))
        let one = try run("contactctl", "verify", with: broker(verify: #","brokenAt":7,"missingTo":7"#))
        #expect(one.error.contains("record 7 is missing, and no record says that retention removed it\n"))
        let changed = try run("contactctl", "verify", with: broker(verify: #","brokenAt":7"#))
        #expect(changed.error.contains("the audit is broken: record 7 does not follow from the one before\n"))
    }

    @Test("Commands that show the past say if records of the period were removed")
    func said() throws {
        let words = "retention removed the audit's records up to 2026-02-01, so they are not shown\n"
        for command in [["audit"], ["audit", "--since", "2026-01-01"], ["alarms"], ["who", "saga"]] {
            let broker = try broker()
            let outcome = try RunningProgram("contactctl", command, runtime: broker.folder).finish()
            #expect(outcome.error.contains(words), "\(command)")
        }
        // The latest record is all that the person asked for.
        #expect(try !run("contactctl", "audit", "--limit", "1", with: broker()).error.contains(words))
        let report = try run("contactctl", "report", "--until", "2026-02-10", with: broker())
        #expect(report.output.contains("Retention removed the audit's records up to 2026-02-01."))
        let json = try run("contactctl", "report", "--until", "2026-02-10", "--json", with: broker()).output
        #expect(json.contains(#""removedUntil":"2026-02-01""#))
    }

    @Test("The messages have the identifiers that the broker sends")
    func identifier() { #expect(JournalHeads.removalIdentifier == MessageIdentifier.auditRemoved.rawValue) }

    private func journal(_ lines: [(identifier: String, sequence: Int64, hash: String, time: Int64)]) -> JournalHeads {
        let text = lines.map {
            #"{"MESSAGE_ID":"\#($0.identifier)","CONTACTBROKER_SEQUENCE":"\#($0.sequence)","CONTACTBROKER_HASH":"\#($0.hash)","#
                + #""__REALTIME_TIMESTAMP":"\#($0.time * 1_000_000)"}"#
        }
        return JournalHeads(lines: Array(text.joined(separator: "\n").utf8))
    }

    @Test("A removal that the journal should know, and does not, is a contradiction")
    func journal() throws {
        let removal = try #require(
            VerifiedRemoval(JSONDocument(parsing: Array("{\(Self.removed)}".utf8)).root["removed"]))
        let (head, report) = (JournalHeads.identifier, JournalHeads.removalIdentifier)
        let earlier = (head, Int64(40), Self.hash, Self.noon - 100)
        let later = (head, Int64(300), Self.hash, Self.noon + 100)
        let reported = (report, Int64(51), Self.hash, Self.noon + 1)
        let other = String(repeating: "0b", count: 32)
        #expect(journal([earlier, later, reported]).heads.map(\.sequence) == [40, 300])
        #expect(removal.contradiction(journal([earlier, later, reported])) == nil)
        // A journal that begins after the removal cannot tell.
        #expect(removal.contradiction(journal([later])) == nil && removal.contradiction(journal([])) == nil)
        #expect(removal.contradiction(journal([earlier, later]))?.contains("has no report of it") == true)
        // The time in the record does not matter, because the forger chose it.
        let forged = Self.removed.replacing("2026-03-01", with: "2020-03-01")
        let early = try #require(VerifiedRemoval(JSONDocument(parsing: Array("{\(forged)}".utf8)).root["removed"]))
        #expect(early.contradiction(journal([earlier, later])) != nil)
        // A report of another removal does not count, nor does the report of a last record.
        #expect(removal.contradiction(journal([earlier, (report, 50, Self.hash, Self.noon)])) != nil)
        #expect(removal.contradiction(journal([earlier, (report, 51, other, Self.noon)])) != nil)
        #expect(removal.contradiction(journal([earlier, (head, 51, Self.hash, Self.noon)])) != nil)
    }
}
