import BrokerJSON
import Glibc
import Testing

@testable import contactctl

@Suite("What contactctl tells administrators")
struct AdministratorTests {
    private func run(
        _ arguments: String..., with broker: ScriptedBroker, environment: [String] = []
    ) throws -> RunningProgram.Outcome {
        try RunningProgram("contactctl", arguments, runtime: broker.folder, environment: environment).finish()
    }

    private static func status(_ members: String) throws -> ScriptedBroker {
        try ScriptedBroker { _, _ in
            .reply(#"{"status":{"version":"1","mode":"system","openConnections":3,"ptraceScope":"0"\#(members)}}"#)
        }
    }

    @Test(
        "status begins with the state, and exits with 3 if apps are refused or the files differ from the rules in force",
        arguments: [
            (#","state":"serving""#, "serves apps", 0),
            (#","state":"outdated""#, "serves apps, but the policy files changed after they were loaded; ", 3),
            (
                #","state":"outdated","policyProblem":"the former rules stay in force: a.toml:5: x""#,
                "serves apps by former rules, because the policy files have a mistake: a.toml:5: x", 3
            ),
            (
                #","state":"refusing","policyProblem":"every app is refused: a.toml:5: x""#,
                "refuses every app: a.toml:5: x", 3
            ),
            // What an ordinary user gets, and an earlier broker.
            (
                #","state":"refusing","policyProblem":"every app is refused""#,
                "refuses every app: tell the administrator", 3
            ),
            (#","settingsProblem":"every app is refused: b.toml: y""#, "refuses every app: b.toml: y", 3),
            ("", "serves apps", 0),
        ])
    func state(members: String, line: String, code: Int) throws {
        let broker = try Self.status(members)
        let outcome = try run("status", with: broker)
        #expect(Int(outcome.code) == code && outcome.output.hasPrefix("contactbroker 1 \(line)"), "\(outcome)")
        #expect(Int(try run("status", "--json", with: broker).code) == code)
    }

    @Test("Internals are behind --verbose")
    func verbose() throws {
        let broker = try Self.status("")
        let brief = try run("status", with: broker).output
        #expect(!brief.contains("open connections") && brief.contains("weaker than it could be"))
        let verbose = try run("status", "--verbose", with: broker).output
        #expect(verbose.contains("open connections") && verbose.contains("ptrace scope"))
    }

    private static func grant(_ uid: Int, _ path: String) -> String {
        """
        {"uid":\(uid),"app":"\(path) sha256:ab","displayName":"tool","strength":"unverified","status":"full",\
        "contacts":0,"keys":["givenName"],"revision":4,"decidedBy":"person","decidedAt":"2026-03-01T12:00:00Z","uses":7}
        """
    }

    /// Two users run a copy of one program each, and another program has a similar name.
    private static func copies() throws -> ScriptedBroker {
        try ScriptedBroker { method, _ in
            switch method {
            case "ListGrants":
                .reply(
                    "{\"grants\":[\(grant(1, "/home/a/tool")),\(grant(2, "/home/b/tool")),"
                        + "\(grant(2, "/opt/toolbox").replacing("\"tool\"", with: "\"toolbox\""))]}")
            case "SetGrant": .reply(#"{"grants":[]}"#)
            default: .reply(#"{"count":1}"#)
            }
        }
    }

    @Test("revoke and reset for all users take every app of a name, after revoke has listed them, and no other")
    func everyCopy() throws {
        let broker = try Self.copies()
        let outcome = try run("revoke", "tool", "--all-users", with: broker)
        #expect(outcome.code == 0)
        #expect(
            outcome.error.hasPrefix(
                "2 apps are called tool, and all of them lose their access:\n  /home/a/tool\n  /home/b/tool\n"))
        #expect(outcome.output.split(separator: "\n").count == 2)
        let revoked = broker.asked.filter { $0.method == "SetGrant" }.map(\.parameters)
        #expect(revoked.count == 2 && !revoked.contains { $0.contains("toolbox") })
        // The hint works as it is printed.
        #expect(outcome.error.contains("to let it ask again: contactctl reset tool --all-users\n"))
        #expect(try run("reset", "tool", "--all-users", with: broker).code == 0)
        #expect(broker.asked.filter { $0.method == "ResetGrant" }.count == 2)
        // A part of a name must match one app, also for all users.
        #expect(try run("revoke", "too", "--all-users", with: broker).code == 1)
    }

    @Test("The hint after a revocation for another user names that user")
    func hint() throws {
        let outcome = try run("revoke", "toolbox", "--user", "nobody", with: Self.copies())
        #expect(outcome.error.contains("contactctl reset toolbox --user nobody\n"))
        let none = try run("revoke", "mail", "--user", "nobody", with: Self.copies())
        #expect(none.error.contains("list all apps: contactctl apps --user nobody\n"))
    }

    private static func record(_ second: Int, _ count: Int, _ more: String = "", app: String = "/usr/bin/contactbook")
        -> String
    {
        """
        {"time":"2026-03-01T12:00:\(second < 10 ? "0" : "")\(second)Z","uid":1,"app":"\(app) sha256:ab",\
        "strength":"unverified","event":"disclosure","status":"full","keys":["givenName"],"contacts":\(count)\(more)}
        """
    }

    private static func audit(_ records: [String]) throws -> ScriptedBroker {
        try ScriptedBroker { _, _ in .reply("{\"records\":[\(records.joined(separator: ","))]}") }
    }

    @Test("The replies of a list are one line of the audit, and programs get every record")
    func list() throws {
        let list = (0..<50).map { Self.record($0 / 10, 200) }
        let broker = try Self.audit(
            list + [Self.record(5, 1, #","repeats":2"#), Self.record(40, 3), Self.record(1, 7, app: "/opt/mail")])
        let lines = try run("audit", with: broker).output.split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines[1].contains("10,000 in 50 replies"), "\(lines)")
        // In the order of the times, not in that of the records.
        #expect(lines.map { $0.contains("mail") } == [false, false, true, false, false])
        #expect(broker.asked.last?.parameters == #"{"limit":1000}"#)
        #expect(try run("audit", "--csv", with: broker).output.split(separator: "\n").count == 54)
        #expect(try run("audit", "--limit", "2", with: broker).output.split(separator: "\n").count == 3)
    }

    @Test(
        "At 80 columns, audit and audit --follow say which app it was", arguments: [["audit"], ["audit", "--follow"]])
    func follow(arguments: [String]) throws {
        let path =
            "/home/somebody/a folder/with/a very/long path/that no terminal/of this width/would show/.build/release/"
        // Longer than what is left of the line.
        let details = #","detail":"\#(String(repeating: "a word ", count: 20))""#
        let broker = try Self.audit([
            Self.record(1, 1, details, app: path + "CallerID"), Self.record(2, 1, details, app: path + "SyncClient"),
        ])
        let outcome = try RunningProgram(
            "contactctl", arguments, runtime: broker.folder, environment: ["COLUMNS=80"]
        ).finish()
        let lines = outcome.output.split(separator: "\n").suffix(2)
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines.first?.contains("CallerID") == true && lines.last?.contains("SyncClient") == true, "\(lines)")
    }
}
