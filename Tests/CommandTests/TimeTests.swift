import BrokerCommandOutput
import BrokerJSON
import Testing

@testable import contactctl

@Suite("Times of contactctl")
struct TimeTests {
    private static let grant = """
        {"uid":1000,"app":"org.example.Ink","displayName":"Ink","strength":"sandboxed","status":"full","contacts":0,\
        "keys":["givenName"],"expires":"2026-12-01T08:00:00Z","revision":4,"decidedBy":"person",\
        "decidedAt":"2026-03-01T12:00:00Z","uses":7}
        """

    private func run(_ arguments: [String]) throws -> (outcome: RunningProgram.Outcome, sent: String) {
        let broker = try ScriptedBroker { method, _ in
            .reply(method == "QueryAudit" ? #"{"records":[]}"# : "{\"grants\":[\(Self.grant)]}")
        }
        let outcome = try RunningProgram(
            "contactctl", arguments, runtime: broker.folder, environment: ["TZ=America/Los_Angeles"]
        ).finish()
        return (outcome, broker.asked.last?.parameters ?? "")
    }

    @Test(
        "A date or a time without a zone is local, one with a zone is not",
        arguments: [
            ("2026-12-01", "2026-12-01T08:00:00Z"), ("2026-07-01", "2026-07-01T07:00:00Z"),
            ("2026-12-01 09:30", "2026-12-01T17:30:00Z"), ("2026-12-01T09:30:05", "2026-12-01T17:30:05Z"),
            ("2026-12-01T12:00:00Z", "2026-12-01T12:00:00Z"), ("2026-12-01 12:00+01:00", "2026-12-01T11:00:00Z"),
        ])
    func read(typed: String, sent: String) throws {
        let set = try run(["set", "ink", "--until", typed])
        #expect(set.outcome.code == 0 && set.sent.contains("\"expires\":\"\(sent)\""), "\(set)")
        #expect(try run(["audit", "--since", typed]).sent.contains("\"since\":\"\(sent)\""))
    }

    @Test("The time that is shown can be typed back, and JSON has its zone")
    func typedBack() throws {
        let shown = try #require(
            try run(["show", "ink"]).outcome.output.split(separator: "\n").first { $0.contains("until") })
        #expect(shown.hasSuffix("2026-12-01 00:00"))
        #expect(try run(["set", "ink", "--until", String(shown.suffix(16))]).sent.contains("2026-12-01T08:00:00Z"))
        #expect(try run(["apps", "--json"]).outcome.output.contains("2026-12-01T08:00:00Z"))
    }

    @Test("The days of a report are local, also the one on which summer time begins")
    func reportedDays() throws {
        let report = try run(["report", "--days", "2", "--until", "2026-03-08", "--json"])
        #expect(report.sent.contains(#""since":"2026-03-07T08:00:00Z""#), "\(report.sent)")
        #expect(report.sent.contains(#""until":"2026-03-09T07:00:00Z""#))
        let shown = try JSONDocument(parsing: Array(report.outcome.output.utf8)).root
        #expect(shown["from"]?.string == "2026-03-07" && shown["until"]?.string == "2026-03-08")
        #expect(shown["begin"]?.string == "2026-03-07T08:00:00Z" && shown["end"]?.string == "2026-03-09T07:00:00Z")
        #expect(
            try run(["report", "--days", "1", "--until", "2026-07-01"]).outcome.output.contains(
                "2026-07-01 to 2026-07-01 (1 day, PDT)"))
    }

    @Test(
        "What is no time is refused",
        arguments: [
            "2026-02-30", "2026-12-01 24:00", "2026-12-01 9:30", "2026-12-01 09:30 PST", "2026-12-01T", "x", "d",
        ])
    func refused(typed: String) throws { #expect(try run(["set", "ink", "--until", typed]).outcome.code != 0) }
}
