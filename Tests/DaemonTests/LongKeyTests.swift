import BrokerJSON
import Glibc
import Testing

@Suite("Policies with nested tables", .timeLimit(.minutes(10)))
struct LongKeyTests {
    /// Policies whose second line has a key of so many parts, or values nested so deeply.
    private static func policies(_ parts: Int) -> [String: String] {
        func key(_ part: String) -> String { part + String(repeating: "." + part, count: parts - 1) }
        func nested(_ open: String, _ inner: String, _ close: String) -> String {
            String(repeating: open, count: parts) + inner + String(repeating: close, count: parts)
        }
        return [
            "key": key("a") + " = 1", "table": "[\(key("a"))]", "array of tables": "[[\(key("a"))]]",
            "inline table": "a = {\(key("a")) = 1}", "quoted": key(#""\"""#) + " = 1", "literal": key("'.'") + " = 1",
            "spaces": key(" a\t") + " = 1", "then a mistake": key("a") + " = 1\n=",
            "nested inline tables": "a = " + nested("{a=", "1", "}"), "nested arrays": "a = " + nested("[", "", "]"),
        ].mapValues { "# a comment\n" + $0 + "\n" }
    }

    @Test("A key of 200,000 parts and values nested 200,000 deep are mistakes with file and line, and end no program")
    func many() throws {
        let fixture = try DaemonFixture()
        let app = try fixture.companion("administrator").open(fixture.adminSocket)
        let file = fixture.policyFolder + "/10-test.toml"
        for (form, text) in Self.policies(200_000) {
            let problem =
                form.hasPrefix("nested")
                ? ":2: Error while parsing value: exceeded maximum nested value depth of 5"
                : ":2: a key has more than 64 parts; write a shorter key"
            var writer = JSONWriter()
            writer.object {
                $0.name("files")
                $0.array([text]) { writer, text in
                    writer.object {
                        $0.member("name", "tried.toml")
                        $0.member("text", text)
                    }
                }
            }
            let tried = try app.call(
                "io.contactbroker.Admin.TryPolicy", String(decoding: writer.bytes, as: UTF8.self))
            #expect(tried.error == "InvalidValue", "\(form)")
            #expect(tried["reason"]?.string?.contains("tried.toml" + problem) == true, "\(form): \(tried.text)")

            try fixture.write(policy: text)
            let checked = try Command(DaemonFixture.programs + "/contactctl", ["policy", "check", file], in: fixture)
            #expect(checked.end == .exited(1), "\(form)")
            #expect(checked.output.hasPrefix(file + problem), "\(form): \(checked.output)")
            let words = ["--check-configuration", "--session", "--config-dir", fixture.configuration]
            let daemon = try Command(DaemonFixture.programs + "/contactbrokerd", words, in: fixture)
            #expect(daemon.end == .exited(78), "\(form)")
            #expect(daemon.errors.contains(file + problem), "\(form): \(daemon.errors)")
            #expect(try fixture.reload().contains(file + problem), "\(form)")
        }
        try fixture.write(policy: #require(Self.policies(200_000)["key"]))
        try fixture.stop()
        fixture.end("administrator")
        try fixture.start()
        #expect(try fixture.app("mail").call("GetAuthorization").word == "restricted")
        #expect(fixture.journal.contains(file + ":2: a key has more than 64 parts"))
    }

    @Test("A key may have 64 parts, but not one more")
    func bound() throws {
        let fixture = try DaemonFixture(starting: false)
        let file = fixture.policyFolder + "/10-test.toml"
        for (parts, isTooLong) in [(64, false), (65, true)] {
            for (form, text) in Self.policies(parts) where !form.hasPrefix("nested") {
                try fixture.write(policy: text)
                let checked = try Command(
                    DaemonFixture.programs + "/contactctl", ["policy", "check", file], in: fixture)
                #expect(checked.end == .exited(1))
                #expect(checked.output.contains("more than 64 parts") == isTooLong, "\(form): \(checked.output)")
            }
        }
        // Names in texts have no parts.
        let apps = (0..<200).map { #""org.example.App\#($0)""# }.joined(separator: ", ")
        try fixture.write(
            policy:
                "# \(String(repeating: ". ", count: 100))\n[[rule]]\nstrengths = [\"sandboxed\"]\napps = [\(apps)]\ndeny = true\n"
        )
        let checked = try Command(DaemonFixture.programs + "/contactctl", ["policy", "check", file], in: fixture)
        #expect(checked.end == .exited(0), "\(checked.output)")
    }
}
