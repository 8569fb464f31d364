import BrokerCommandOutput
import BrokerJSON
import BrokerVarlinkClient
import Glibc
import Synchronization
import Testing

@testable import contactctl

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

    private static let results = [
        "VerifyAudit": #"{"records":12,"head":"ab12"}"#, "FindContactAccess": #"{"matches":1,"now":[],"seen":[]}"#,
        "QueryAudit": #"{"records":[]}"#,
    ]

    /// A broker that sends the result after two replies which say how far it is.
    ///
    /// - Parameter pause: before the first reply, in microseconds.
    private func slowBroker(pause: UInt32 = 0) throws -> ScriptedBroker {
        try ScriptedBroker { method, _ in
            usleep(pause)
            return Self.results[method].map {
                .replies([#"{"records":[],"progress":0}"#, #"{"records":[],"progress":42}"#, $0])
            }
                ?? .reply(#"{"grants":[{"app":"mail","uid":1000,"strength":"installed","status":"full"}]}"#)
        }
    }

    @Test(
        "If the broker reads for long, a terminal shows how far it is, and then only the result",
        arguments: [["verify"], ["who", "Ada"], ["report"], ["audit", "--csv", "--since", "7d"], ["show", "mail"]])
    func progress(arguments: [String]) throws {
        let broker = try slowBroker(pause: 1_000_000)
        let shown = try RunningProgram("contactctl", arguments, runtime: broker.folder, errorIsTerminal: true).finish()
        #expect(shown.code == 0 && shown.error.contains("\rreading the audit: 42 %\u{1B}[K\r\u{1B}[K"))
        let silent = try RunningProgram("contactctl", arguments, runtime: broker.folder).finish()
        #expect(silent.code == 0 && silent.output == shown.output && !silent.error.contains("reading"))
    }

    @Test("A report asks for its days, and for what it needs of earlier ones")
    func report() throws {
        let broker = try slowBroker()
        #expect(try run("contactctl", "report", "--days", "2", "--until", "2026-03-31", with: broker).code == 0)
        #expect(
            broker.asked.map(\.parameters) == [
                #"{"since":"2026-03-30T00:00:00Z","withEarlier":true,"until":"2026-04-01T00:00:00Z"}"#
            ])
    }

    @Test("It waits longer than for one reply, as long as replies arrive, and no longer if none does")
    func patience() throws {
        let limit = Duration.seconds(1)
        let longest = Mutex(Duration.zero)
        // 40 replies in 2 seconds.
        let replies = (0..<40).map { #"{"records":\#($0),"head":"","progress":1}"# }
        let broker = try ScriptedBroker { method, _ in
            method == "VerifyAudit"
                ? .paced(replies, every: .milliseconds(50)) { gap in
                    longest.withLock { $0 = max($0, gap) }
                } : .silence
        }
        func client(_ limit: Duration) throws -> AdminClient {
            AdminClient(
                to: "verify the audit",
                over: try VarlinkClient(path: broker.folder + "/admin/io.contactbroker.Admin", timeout: limit))
        }
        let began = ContinuousClock.now
        var last: Int64?
        do {
            last = try client(limit).read("VerifyAudit") { _ in }["records"]?.integer
        } catch {
            // On a machine that is so slow, the test says nothing.
            #expect(longest.withLock { $0 } > limit / 2, "\(error)")
            return
        }
        #expect(last == 39 && ContinuousClock.now - began > limit)
        #expect(throws: CommandFailure.self) { try client(.milliseconds(200)).read("QueryAudit") { _ in } }
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
