import Approval
import Glibc
import Testing

/// What each command shows, in readable files (``Approval``).
@Suite("Screens of contactctl")
struct ContactctlScreens {
    /// The name of the approved file, and the command.
    private static let screens: [(name: String, arguments: [String])] = [
        ("apps", ["apps"]), ("apps-all-users", ["apps", "--all-users"]), ("apps-user", ["apps", "--user", "nobody"]),
        ("who", ["who", "saga"]), ("who-nobody", ["who", "nobody", "--since", "7d"]), ("who-several", ["who", "s"]),
        ("who-none", ["who", "x", "--user", "nobody"]), ("pending", ["pending", "--all-users"]),
        ("alarms", ["alarms"]), ("alarms-all-users", ["alarms", "--all-users"]),
        ("why", ["why", "mail"]),
        ("why-all-users", ["why", "mail", "--all-users"]),
        ("revoke", ["revoke", "mail"]), ("revoke-all-users", ["revoke", "mail", "--all-users"]),
        ("revoke-denied", ["revoke", "contactbook helper"]), ("revoke-ambiguous", ["revoke", "bin"]),
        ("revoke-contact", ["revoke", "ink", "--contact", "saga"]),
        ("revoke-contact-none", ["revoke", "ink", "--contact", "nobody"]),
        ("revoke-contact-several", ["revoke", "ink", "--contact", "s"]),
        ("narrow", ["narrow", "ink", "--contact", "saga"]), ("share", ["share", "ink", "--contact", "saga"]),
        ("end-session", ["end-session", "python3.11"]), ("end-session-none", ["end-session", "mail"]),
        ("reset", ["reset", "mail"]), ("set", ["set", "mail", "--level", "limited"]), ("verify", ["verify"]),
        ("reload", ["reload"]), ("status", ["status"]), ("policy-explain", ["policy", "explain"]),
        ("changes", ["changes"]), ("changes-app", ["changes", "contactbook"]),
        ("changes-none", ["changes", "nothing"]),
        ("put-back", ["put-back", "1209", "--yes"]), ("put-back-added", ["put-back", "1208", "--yes"]),
        ("put-back-dry-run", ["put-back", "--app", "mail", "--since", "7d", "--dry-run"]),
        ("put-back-unasked", ["put-back", "1209"]), ("put-back-mistaken", ["put-back", "--app", "mail"]),
        ("bin", ["bin"]), ("bin-longer", ["bin", "--days", "60"]), ("bin-shorter", ["bin", "--days", "0"]),
        ("bin-default", ["bin", "--days", "default"]), ("bin-mistaken", ["bin", "--days", "3651"]),
        ("bin-empty", ["bin", "--empty", "--yes"]), ("bin-empty-unasked", ["bin", "--empty"]),
        ("bin-remove", ["bin", "--remove", "Saga", "--save", "1209", "--yes"]),
        ("bin-remove-mistaken", ["bin", "--remove", "Saga"]),
        ("mistyped", ["shwo"]),
        ("nobody", ["apps", "--user", "no-such-user"]),
        ("both-users", ["apps", "--user", "nobody", "--all-users"]),
    ]
    /// Commands with absolute times.
    private static let dated: [(name: String, arguments: [String])] = [
        ("show", ["show", "mail"]), ("show-path", ["show", "/usr/bin/contactbook"]), ("audit", ["audit"]),
        ("audit-all-users", ["audit", "--all-users"]), ("apps-time", ["apps", "--time"]),
        ("audit-csv", ["audit", "--csv"]), ("policy-try", ["policy", "try", draft]),
        ("report-all-users", ["report", "--all-users", "--days", "7", "--until", "2026-03-01"]),
    ]
    /// Reports about a month. `Tests/Pictures/draw` makes pictures of the first one and of its page.
    private static let reports: [(name: String, arguments: [String])] = [
        ("report", ["report", "--until", ReportedMachine.lastDay]),
        ("report-none", ["report", "--days", "1", "--until", "2025-01-01"]),
    ]
    private static let json: [(name: String, arguments: [String])] = [
        ("apps", ["apps"]), ("who", ["who", "saga"]), ("pending", ["pending"]), ("alarms", ["alarms"]),
        ("why", ["why", "mail"]),
        ("show", ["show", "mail"]),
        ("audit", ["audit"]), ("verify", ["verify"]), ("status", ["status"]), ("revoke", ["revoke", "mail"]),
        ("narrow", ["narrow", "ink", "--contact", "saga"]),
        ("end-session", ["end-session", "python3.11"]), ("reset", ["reset", "mail"]),
        ("set", ["set", "mail", "--level", "limited"]), ("policy-try", ["policy", "try", draft]),
        ("policy-explain", ["policy", "explain"]), ("changes", ["changes"]),
        ("put-back", ["put-back", "1209", "--dry-run"]), ("bin", ["bin", "--days", "5"]),
    ]
    /// Stands for the path of a policy file.
    private static let draft = "draft.toml"

    /// Runs `contactctl`. A policy file with one rule takes the place of ``draft``.
    private static func run(
        _ arguments: [String], _ broker: ScriptedBroker, environment: [String] = []
    ) throws -> RunningProgram.Outcome {
        let path = broker.folder + "/" + draft
        let isNamed = arguments.contains(draft)
        if isNamed {
            let file = try #require(fopen(path, "we"))
            fputs("[[rule]]\nstrengths = [\"unverified\"]\nmaximum_lifetime = \"7d\"\n", file)
            fclose(file)
            try #require(chmod(path, 0o600) == 0)
        }
        defer { if isNamed { unlink(path) } }
        return try RunningProgram(
            "contactctl", arguments.map { $0 == draft ? path : $0 }, runtime: broker.folder, environment: environment
        ).finish()
    }

    @Test("Each approved file is one of these screens", .enabled(if: !Approval.isWriting))
    func files() {
        let screens = (Self.screens + Self.dated + Self.reports).map(\.name)
        let names =
            screens.map { "\($0)-80.txt" } + Self.json.map { "\($0.name).json" }
            + ["report.json", "report.csv", "report.html"]
        let wide = screens.map { "\($0)-120.txt" }
        let found = Approval.names(in: "contactctl")
        #expect(found.filter { !wide.contains($0) } == names.sorted())
    }

    /// Checks a screen of 80 columns, and one of 120 if that is another one.
    private static func check(_ name: String, _ arguments: [String], _ broker: ScriptedBroker) throws {
        let (narrow, wide) = (try screen(arguments, 80, broker), try screen(arguments, 120, broker))
        try Approval(folder: "contactctl", name: "\(name)-80.txt").check(narrow)
        let approval = Approval(folder: "contactctl", name: "\(name)-120.txt")
        if narrow == wide {
            #expect(approval.approved.isEmpty, "\(name): remove the file")
        } else {
            try approval.check(wide)
        }
    }

    @Test("Screens of 80 and of 120 columns")
    func screens() throws {
        let broker = try AuditedMachine(now: Int64(Glibc.time(nil))).broker()
        for (name, arguments) in Self.screens { try Self.check(name, arguments, broker) }
        let past = try AuditedMachine(now: AuditedMachine.past).broker()
        for (name, arguments) in Self.dated { try Self.check(name, arguments, past) }
    }

    @Test("A report at a terminal, as an HTML page, as JSON and as comma-separated values")
    func reports() throws {
        let broker = try ReportedMachine.broker()
        for (name, arguments) in Self.reports { try Self.check(name, arguments, broker) }
        let arguments = Self.reports[0].arguments
        for format in ["json", "csv"] {
            let outcome = try RunningProgram("contactctl", arguments + ["--\(format)"], runtime: broker.folder).finish()
            #expect(outcome.code == 0, "\(outcome.error)")
            try Approval(folder: "contactctl", name: "report.\(format)").check(outcome.output)
        }
        let path = broker.folder + "/report.html"
        defer { unlink(path) }
        let outcome = try RunningProgram("contactctl", arguments + ["--html", path], runtime: broker.folder).finish()
        #expect(outcome.code == 0, "\(outcome.error)")
        try Approval(folder: "contactctl", name: "report.html").check(try #require(Approval.read(path)))
    }

    @Test("JSON")
    func json() throws {
        let broker = try AuditedMachine(now: AuditedMachine.past).broker()
        for (name, arguments) in Self.json {
            let outcome = try Self.run(arguments + ["--json"], broker)
            #expect(outcome.code == 0, "\(name): \(outcome.error)")
            try Approval(folder: "contactctl", name: "\(name).json").check(outcome.output)
        }
    }

    @Test("No line is wider than a terminal of at least 20 columns", arguments: [20, 30, 40, 60, 80, 100])
    func narrow(columns: Int) throws {
        let broker = try AuditedMachine(now: AuditedMachine.past).broker()
        for arguments in [
            ["apps"], ["apps", "--all-users"], ["who", "saga"], ["pending"], ["audit"], ["audit", "--all-users"],
            ["changes"], ["put-back", "1209", "--dry-run"], ["report", "--until", "2026-03-01"],
            ["report", "--until", "2026-03-01", "--all-users"],
        ] {
            let outcome = try Self.run(arguments, broker, environment: ["COLUMNS=\(columns)"])
            #expect(outcome.code == 0)
            for line in outcome.output.split(separator: "\n") {
                #expect(line.count <= columns, "\(arguments): \(line)")
            }
        }
    }

    /// The command, its exit code, and what it prints on both streams.
    private static func screen(_ arguments: [String], _ columns: Int, _ broker: ScriptedBroker) throws -> String {
        let outcome = try run(arguments, broker, environment: ["COLUMNS=\(columns)"])
        let code = outcome.code == 0 ? "" : "(exit code \(outcome.code))\n"
        return "$ contactctl \(arguments.joined(separator: " "))\n" + outcome.output + outcome.error + code
    }
}
