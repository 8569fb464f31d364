import Glibc
import Testing

@Suite("contactctl with a long audit")
struct LongAuditTests {
    private static let batch = 1_000
    private static let batches = 110

    /// A broker with 110,000 records.
    private func broker() throws -> ScriptedBroker {
        let replies = (0..<Self.batches).map { number in
            let records = (0..<Self.batch).map {
                #"{"sequence":\#(number * Self.batch + $0 + 1),"time":"2026-03-01T12:00:00Z","uid":1000,"app":"mail","#
                    + #""event":"disclosure"}"#
            }
            return "{\"records\":[\(records.joined(separator: ","))]}"
        }
        return try ScriptedBroker { method, _ in method == "QueryAudit" ? .replies(replies) : .reply(#"{"grants":[]}"#)
        }
    }

    @Test("Comma-separated values have every record; a table has the latest 100,000, and says so")
    func all() throws {
        let csv = try run("contactctl", "audit", "--since", "2026-01-01", "--csv", with: broker())
        #expect(csv.code == 0 && csv.output.split(separator: "\n").count == Self.batches * Self.batch + 1)
        let table = try run("contactctl", "audit", "--since", "2026-01-01", with: broker())
        #expect(table.code == 0 && table.output.split(separator: "\n").count == 100_001)
        #expect(table.error == "shows the latest 100000 of 110000; for all: --csv\n")
    }

    @Test(
        "If the reader of its output is gone, the program ends without a word, like other filters",
        arguments: ["--csv", "--json"])
    func brokenPipe(format: String) throws {
        let broker = try broker()
        let outcome = try RunningProgram(
            "contactctl", ["audit", "--since", "2026-01-01", format], runtime: broker.folder
        ).finish(readsOutput: false)
        #expect(outcome.signal == SIGPIPE && outcome.error.isEmpty)
    }
}
