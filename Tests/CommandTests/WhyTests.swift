import Testing

@Suite("contactctl why")
struct WhyTests {
    private static let reasons = ##""the folder 2026-03-01T12:00:00Z, is not declared","until 2026-03-01T12:00:00Z""##
    private static let parts =
        ##"{"parts":[{"text":"the folder 2026-03-01T12:00:00Z, is not declared"}]},"##
        + ##"{"parts":[{"text":"until "},{"time":"2026-03-01T12:00:00Z"}]}"##

    private func lines(_ reply: String) throws -> [Substring] {
        let broker = try ScriptedBroker { method, _ in .reply(method == "ListGrants" ? #"{"grants":[]}"# : reply) }
        let outcome = try RunningProgram(
            "contactctl", ["why", "mail"], runtime: broker.folder, environment: ["TZ=Asia/Tokyo"]
        ).finish()
        #expect(outcome.code == 0, "\(outcome.error)")
        return outcome.output.split(separator: "\n").dropFirst().map { $0.drop { $0 == " " } }
    }

    @Test("Only a time is shown in local time, not a name that looks like one")
    func times() throws {
        #expect(
            try lines(#"{"status":"full","reasons":[\#(Self.reasons)],"explanation":[\#(Self.parts)]}"#)
                == ["the folder 2026-03-01T12:00:00Z, is not declared", "until 2026-03-01 21:00"])
    }

    @Test("The reasons of an earlier contact broker are shown as they are")
    func earlier() throws {
        #expect(
            try lines(#"{"status":"full","reasons":[\#(Self.reasons)]}"#)
                == ["the folder 2026-03-01T12:00:00Z, is not declared", "until 2026-03-01T12:00:00Z"])
    }
}
