import BrokerJSON
import BrokerSystem
import Testing

@testable import contactctl

@Suite("verify compares the audit with the journal")
struct JournalHeadsTests {
    private static let hash = String(repeating: "0a", count: 32)
    /// 2026-03-01 12:00, in seconds since 1970.
    private static let noon: Int64 = 1_772_366_400

    private static func line(_ sequence: String, _ hash: String = hash, time: Int64 = noon) -> String {
        #"{"CONTACTBROKER_SEQUENCE":"\#(sequence)","CONTACTBROKER_HASH":"\#(hash)","#
            + #""__REALTIME_TIMESTAMP":"\#(time * 1_000_000)","MESSAGE":[1,2]}"#
    }

    @Test("The message has the identifier that the broker sends")
    func identifier() { #expect(JournalHeads.identifier == MessageIdentifier.auditHead.rawValue) }

    @Test("Lines of the journal without a position are skipped")
    func lines() {
        let lines = [
            Self.line("7"), "", "not JSON", "{}", Self.line("x"), Self.line("-1"), Self.line("8", "ab"),
            Self.line("9").replacing(#""__REALTIME_TIMESTAMP""#, with: #""other""#), Self.line("10"),
        ]
        #expect(JournalHeads(lines: Array(lines.joined(separator: "\n").utf8)).heads.map(\.sequence) == [7, 10])
    }

    private func contradiction(_ contradicted: String) throws -> JournalContradiction? {
        let heads = [10, 20, 30].map {
            JournalHeads.Head(sequence: $0, hash: Self.hash, time: Self.noon + $0 * 3_600)
        }
        let list = try JSONDocument(parsing: Array(contradicted.utf8)).root
        return JournalContradiction(heads, contradicted: list.elements.map(Array.init) ?? [])
    }

    @Test("A removed end, an older audit and rewritten records are told apart, and the last good record is named")
    func causes() throws {
        #expect(try contradiction("[]") == nil)
        let cut = try #require(try contradiction(#"[{"sequence":20},{"sequence":30}]"#))
        #expect(
            cut.reason(last: 14).hasPrefix(
                "the audit ends at record 14, before record 20, which the journal names on "))
        #expect(cut.advice.hasPrefix("its end was removed, or an older") && cut.advice.contains("up to record 10 "))
        let older = try #require(try contradiction(#"[{"sequence":20,"time":"2026-04-01T00:00:00Z"},{"sequence":30}]"#))
        #expect(older.reason(last: 25).hasPrefix("the audit lacks record 20, "))
        #expect(older.advice.hasPrefix("an older access.sqlite was put back, and the audit went on"))
        let rewritten = try #require(try contradiction(#"[{"sequence":10,"time":"2026-02-01T00:00:00Z"}]"#))
        #expect(rewritten.advice.hasPrefix("the records were rewritten; compare"))
    }
}
