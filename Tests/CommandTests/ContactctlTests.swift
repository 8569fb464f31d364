import BrokerCommandOutput
import BrokerJSON
import BrokerModel
import PseudoTerminal
import Testing

@testable import contactctl

@Suite("contactctl")
struct ContactctlTests {
    private static let ink = """
        {"uid":1000,"app":"org.example.Ink","displayName":"Ink","strength":"sandboxed","status":"limited","contacts":3,\
        "keys":["givenName"],"revision":4,"decidedBy":"person","decidedAt":"2026-03-01T12:00:00Z",\
        "lastUsedAt":"2026-03-02T08:30:00Z","uses":7}
        """
    private static let mail = """
        {"uid":1000,"app":"org.example.Mail","displayName":"Mail\\u001b[31m\\nroot","strength":"claimed","status":"full",\
        "contacts":0,"expires":"2026-05-01T00:00:00Z","revision":1,"decidedBy":"person",\
        "decidedAt":"2026-03-01T12:00:00Z","uses":0}
        """
    private static let inkBeta = """
        {"uid":1000,"app":"org.example.InkBeta","displayName":"Ink Beta","strength":"sandboxed","status":"denied",\
        "contacts":0,"revision":1,"decidedBy":"person","decidedAt":"2026-03-01T12:00:00Z","uses":0}
        """

    private func broker(_ grants: [String] = [ink, mail, inkBeta]) throws -> ScriptedBroker {
        try ScriptedBroker { method, parameters in
            switch method {
            case "ListGrants": .reply("{\"grants\":[\(grants.joined(separator: ","))]}")
            case "SetGrant": .reply("{\"grants\":[]}")
            case "ResetGrant": .reply("{\"count\":1}")
            case "VerifyAudit": .reply("{\"records\":12,\"head\":\"ab12\"}")
            case "GetStatus":
                .reply(
                    "{\"status\":{\"version\":\"1\",\"startedAt\":\"2026-03-01T12:00:00Z\",\"openPrompts\":0,\"legacyTIOCSTI\":1,\"polkit\":false,\"addressBookLimitMB\":2048,"
                        + "\"addressBooks\":[{\"uid\":1000,\"MB\":12},{\"uid\":1001,\"MB\":1}]}}"
                )
            // Without `more` there is one reply.
            case "QueryAudit" where parameters["limit"]?.integer == 100: .reply("{\"records\":[\(Self.record(1))]}")
            case "QueryAudit":
                .replies(["{\"records\":[\(Self.record(1))]}", "{\"records\":[\(Self.record(2))]}"])
            default: .error("org.varlink.service.MethodNotFound")
            }
        }
    }

    private static func record(_ sequence: Int) -> String {
        """
        {"sequence":\(sequence),"time":"2026-03-01T12:00:0\(sequence)Z","uid":1000,"app":"org.example.Ink",\
        "strength":"sandboxed","event":"disclosure","status":"limited","keys":["givenName"],"contacts":3,"repeats":1}
        """
    }

    @Test("An app whose prompts the person has silenced has nothing to revoke, and can be reset by its name")
    func silenced() throws {
        let game = """
            {"uid":1000,"app":"/opt/game/run sha256:ab","displayName":"run","strength":"unverified",\
            "status":"notDetermined","contacts":0,"revision":0,"decidedBy":"person",\
            "decidedAt":"2026-03-01T12:00:00Z","silenced":true,"uses":0}
            """
        let broker = try broker([Self.ink, game])
        let revoked = try run("contactctl", "revoke", "run", with: broker)
        #expect(revoked.error == "run (/opt/game/run) has no access\n" && revoked.code == 0)
        #expect(try run("contactctl", "set", "run", "--level", "denied", with: broker).code == 1)
        #expect(broker.asked.allSatisfy { $0.method == "ListGrants" })
        #expect(try run("contactctl", "reset", "run", with: broker).code == 0)
        #expect(broker.asked.last?.parameters == #"{"app":"/opt/game/run sha256:ab"}"#)
    }

    @Test("If no app has asked, apps says so on standard error and prints nothing else")
    func noApps() throws {
        let outcome = try run("contactctl", "apps", with: broker([]))
        #expect(outcome.output.isEmpty && outcome.code == 0)
        #expect(outcome.error == "no app has requested contacts yet\n")
        let json = try run("contactctl", "apps", "--json", with: broker([])).output
        #expect(json == "{\"version\":1,\"grants\":[]}\n")
    }

    @Test("revoke denies the app at every strength, and reports its former access")
    func revoke() throws {
        let broker = try broker()
        let outcome = try run("contactctl", "revoke", "ink", with: broker)
        #expect(outcome.output == "revoked: Ink (org.example.Ink) could see 3 contacts: givenName\n")
        #expect(outcome.error.contains("contactctl reset ink"))
        #expect(broker.asked.last?.parameters == #"{"app":"org.example.Ink","status":"denied"}"#)
    }

    @Test("revoke --strength applies to that strength only, and fails if the app does not have it")
    func revokeStrength() throws {
        let broker = try broker()
        #expect(try run("contactctl", "revoke", "mail", "--strength", "claimed", with: broker).code == 0)
        #expect(
            broker.asked.last?.parameters == #"{"app":"org.example.Mail","strength":"claimed","status":"denied"}"#)
        let wrong = try run("contactctl", "revoke", "mail", "--strength", "service", with: broker)
        #expect(wrong.code == 1)
        #expect(
            wrong.error
                == "contactctl: could not revoke access: no app matches \"mail\" at strength service\nlist all apps: contactctl apps\n"
        )
    }

    @Test("revoke does not deny an app twice")
    func revokedAlready() throws {
        let broker = try broker()
        let outcome = try run("contactctl", "revoke", "Ink Beta", with: broker)
        #expect(outcome.error == "'Ink Beta' (org.example.InkBeta) is already denied\n" && outcome.code == 0)
        #expect(broker.asked.map(\.method) == ["ListGrants"])
    }

    @Test("An ambiguous app name changes nothing")
    func ambiguous() throws {
        let broker = try broker()
        let outcome = try run("contactctl", "reset", "in", with: broker)
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(
            outcome.error == """
                contactctl: could not reset: "in" matches 2 apps
                name one of them: org.example.Ink, org.example.InkBeta

                """)
        #expect(broker.asked.map(\.method) == ["ListGrants"])
    }

    @Test("reset removes the decision about one app")
    func reset() throws {
        let broker = try broker()
        #expect(try run("contactctl", "reset", "Ink", with: broker).code == 0)
        #expect(broker.asked.last?.method == "ResetGrant")
        #expect(broker.asked.last?.parameters == #"{"app":"org.example.Ink"}"#)
    }

    @Test("set changes the given values and keeps the level")
    func set() throws {
        let broker = try broker()
        let outcome = try run(
            "contactctl", "set", "ink", "--keys", "givenName,phoneNumbers, groups", "--until", "2030-01-31",
            with: broker)
        #expect(outcome.code == 0)
        #expect(
            broker.asked.last?.parameters
                == #"{"app":"org.example.Ink","strength":"sandboxed","status":"limited","#
                + #""keys":["givenName","phoneNumbers","groups"],"expires":"2030-01-31T00:00:00Z"}"#)
    }

    @Test("set without a value, or with an invalid level, key or time, changes nothing")
    func setWrongly() throws {
        let broker = try broker()
        let wrong: [[String]] = [
            [], ["--level", "everything"], ["--keys", "shoeSize"], ["--keys", ","], ["--until", "tomorrow"],
        ]
        for each in wrong {
            let outcome = try RunningProgram("contactctl", ["set", "ink"] + each, runtime: broker.folder).finish()
            #expect(outcome.code != 0 && outcome.output.isEmpty, "\(each)")
        }
        #expect(broker.asked.isEmpty)
    }

    @Test("set asks for the strength if the app is known with several")
    func setAmbiguous() throws {
        let claimed = Self.ink.replacing("sandboxed", with: "claimed")
        let broker = try broker([Self.ink, claimed])
        let outcome = try run("contactctl", "set", "ink", "--level", "full", with: broker)
        #expect(outcome.code == 1)
        #expect(outcome.error.contains("choose one: --strength claimed or --strength sandboxed"))
        #expect(broker.asked.map(\.method) == ["ListGrants"])
    }

    @Test("audit prints all batches, oldest first")
    func audit() throws {
        let lines = try run("contactctl", "audit", with: broker()).output.split(separator: "\n")
        #expect(
            lines.count == 3 && lines[1].hasPrefix("2026-03-01 12:00:01") && lines[2].hasPrefix("2026-03-01 12:00:02"))
    }

    @Test("audit --follow prints each record on its own line, and fails when the broker is gone")
    func follow() throws {
        let broker = try broker()
        let outcome = try run("contactctl", "audit", "--follow", "--event", "disclosure", with: broker)
        #expect(
            outcome.output == """
                2026-03-01 12:00:01  org.example.Ink  disclosure (1 more)  limited   3    givenName
                2026-03-01 12:00:02  org.example.Ink  disclosure (1 more)  limited   3    givenName

                """)
        let asked = broker.asked.first { $0.method == "QueryAudit" }
        #expect(asked?.parameters == #"{"event":"disclosure","limit":10,"follow":true}"#)
        let lines = try run("contactctl", "audit", "--follow", "--json", "--app", "ink", with: self.broker())
        let texts = lines.output.split(separator: "\n")
        #expect(texts.count == 2)
        for text in texts { #expect(try JSONDocument(parsing: Array(text.utf8)).root["event"]?.string == "disclosure") }
        let gone = try ScriptedBroker { method, _ in method == "QueryAudit" ? .hangUp : .reply("{\"grants\":[]}") }
        #expect(try run("contactctl", "audit", "--follow", with: gone).code == 2)
    }

    @Test("A refusal is one line, and JSON has all of its records")
    func refusal() throws {
        func record(_ event: String, _ second: Int, _ status: String = "denied", app: String = "mail") -> String {
            #"{"time":"2026-03-01T12:00:0\#(second)Z","uid":1000,"app":"\#(app)","event":"\#(event)","status":"\#(status)"}"#
        }
        let records = [
            record("prompt", 0, "notDetermined"), record("answer", 1), record("grant", 1), record("refusal", 2),
            record("refusal", 2, app: "ink"), record("refusal", 9), record("answer", 9, "limited"),
            record("grant", 9, "limited"),
        ]
        let broker = try ScriptedBroker { method, _ in
            method == "QueryAudit"
                ? .reply("{\"records\":[\(records.joined(separator: ","))]}") : .reply(#"{"grants":[]}"#)
        }
        let lines = try run("contactctl", "audit", with: broker).output.split(separator: "\n").dropFirst()
        let events = lines.map { String($0.split(separator: " ")[3]) }
        #expect(events == ["prompt", "answer", "refusal", "refusal", "answer", "grant"])
        let json = try run("contactctl", "audit", "--json", with: broker).output
        #expect(try JSONDocument(parsing: Array(json.utf8)).root["records"]?.count == records.count)
    }

    @Test("audit takes a contact by name, or by its pseudonym in the audit, and not both")
    func auditOfContact() throws {
        for (option, parameter) in [("--pseudonym", "contact"), ("--contact", "named")] {
            let broker = try broker()
            #expect(try run("contactctl", "audit", option, "0a1b", with: broker).code == 0)
            #expect(broker.asked.last?.parameters == #"{"\#(parameter)":"0a1b","limit":1000}"#)
        }
        for more in [["--follow"], ["--all-users"], ["--pseudonym", "0a1b"]] {
            let arguments = ["audit", "--contact", "saga"] + more
            #expect(try RunningProgram("contactctl", arguments, runtime: broker().folder).finish().code == 2)
        }
    }

    @Test("audit --app finds the records of an app that was reset")
    func auditOfReset() throws {
        let outcome = try run("contactctl", "audit", "--app", "ink", "--limit", "1", with: broker([Self.mail]))
        #expect(outcome.output.split(separator: "\n").count == 2)
        let other = try run("contactctl", "audit", "--app", "paint", with: broker([Self.mail]))
        #expect(other.code == 1 && other.error == "contactctl: no matching records\n")
    }

    @Test(
        "Keys are summarised in few words, and none is left out",
        arguments: [
            (ContactKeySet.all, "everything"), (ContactKeySet.all.subtracting(.named), "everything but notes"),
            (ContactKeySet.names.union(ContactKeySet([.phoneNumbers])), "names, phoneNumbers"),
            (ContactKeySet([ContactKey.givenName, .note]), "givenName, note"),
            (ContactKeySet.grantable, "everything, groups"), (ContactKeySet.groups, "groups"),
            (ContactKeySet.all.subtracting(.named).union(.groups), "everything but notes, groups"),
            (ContactKeySet.all.subtracting(ContactKeySet([.extraProperties])), "everything but extraProperties"),
        ])
    func keys(keys: ContactKeySet, words: String) throws {
        let text = "[\(keys.grantNames.map { "\"\($0)\"" }.joined(separator: ","))]"
        #expect(KeyWords.text(try JSONDocument(parsing: Array(text.utf8)).root) == words)
    }

    @Test("verify accepts an intact chain, and reports where a broken one breaks")
    func verify() throws {
        let whole = try run("contactctl", "verify", with: broker())
        #expect(whole.output == "12 records are unchanged\nhead ab12\n" && whole.code == 0)
        let broken = try ScriptedBroker { _, _ in .reply("{\"records\":5,\"head\":\"ab\",\"brokenAt\":6}") }
        let outcome = try run("contactctl", "verify", with: broken)
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(
            outcome.error.hasPrefix("contactctl: the audit is broken: record 6 does not follow from the one before\n"))
    }

    @Test("A refusal exits with 1 and a failed attempt with 2, and both say what to try")
    func codes() throws {
        let refused = try run(
            "contactctl", "apps", with: ScriptedBroker { _, _ in .error("io.contactbroker.Admin.NotAuthorized") })
        #expect(refused.code == 1 && refused.error.hasPrefix("contactctl: could not list the apps: "))
        let unasked = try run(
            "contactctl", "apps",
            with: ScriptedBroker { _, _ in
                .error("io.contactbroker.Admin.NotAuthorized", parameters: #"{"reason":"polkit is ill; nurse it"}"#)
            })
        #expect(unasked.code == 1 && unasked.error == "contactctl: could not list the apps: polkit is ill; nurse it\n")
        let gone = try run("contactctl", "apps", with: ScriptedBroker { _, _ in .hangUp })
        #expect(gone.code == 2 && gone.error.contains("the contact broker refuses this program, or it has stopped"))
        let mistyped = try run("contactctl", "frob", with: broker())
        #expect(
            mistyped.code == 2
                && mistyped.error
                    == "contactctl: there is no command frob; for all commands: contactctl --help\n"
        )
        let nobody = try RunningProgram("contactctl", ["apps"], runtime: "/nowhere").finish()
        #expect(nobody.code == 2)
        #expect(nobody.error.hasSuffix("\nis contactbrokerd running? try: contactbrokerd --session\n"))
    }

    @Test("A password is asked for at a terminal only; elsewhere contactctl says what is missing")
    func passwords() throws {
        let silent = try ScriptedBroker { _, _ in .error("io.systemd.InteractiveAuthenticationRequired") }
        let nobody = try run("contactctl", "verify", with: silent)
        #expect(
            nobody.code == 1 && nobody.error.hasPrefix("contactctl: could not verify the audit: a password is required")
        )
        #expect(nobody.error.hasSuffix("\nrun it in a terminal, or as root\n"))
        #expect(silent.asked.map(\.parameters) == ["{}"])
        let refusing = try ScriptedBroker { _, parameters in
            let isInteractive = parameters["allowInteractiveAuthentication"] != nil
            return .error(
                isInteractive
                    ? "io.contactbroker.Admin.NotAuthorized" : "io.systemd.InteractiveAuthenticationRequired")
        }
        let terminal = try PseudoTerminal(
            RunningProgram.folder() + "/contactctl", arguments: ["verify"],
            environment: ["CONTACTBROKER_RUNTIME_DIR": refusing.folder, "TERM": "xterm", "PATH": "/usr/bin:/bin"])
        #expect(try terminal.waitForExit() == .exited(1))
        #expect(refusing.asked.map(\.parameters) == ["{}", #"{"allowInteractiveAuthentication":true}"#])
        #expect(terminal.screen.text.contains("pkttyagent"))
    }

    @Test("A time may be an age, a date or a date with a time, and nothing else")
    func moments() {
        #expect(Moment("2h")?.before(7_200) == "1970-01-01T00:00:00Z")
        #expect(Moment("2026-01-31T12:00+00:00")?.before(0) == "2026-01-31T12:00:00Z")
        #expect(Moment("2026-01-31T12:00:00Z")?.before(0) == "2026-01-31T12:00:00Z")
        for text in ["", "h", "0h", "-1h", "100001d", "2026-02-30", "2026-01-31T12", "yesterday"] {
            #expect(Moment(text)?.before(0) == nil, "\(text)")
        }
    }

    @Test("--user and --all-users reach the broker in every command that reads or lowers")
    func users() throws {
        let broker = try AuditedMachine(now: AuditedMachine.past).broker()
        let commands: [[String]] = [
            ["apps"], ["show", "mail"], ["why", "mail"], ["audit"], ["pending"], ["revoke", "mail"], ["reset", "mail"],
            ["end-session", "mail"], ["set", "mail", "--level", "denied"],
        ]
        for command in commands {
            for (options, parameter) in [
                (["--user", "nobody"], "\"uid\":65534"), (["--all-users"], "\"allUsers\":true"),
            ] {
                let before = broker.asked.count
                _ = try RunningProgram("contactctl", command + options, runtime: broker.folder).finish()
                let asked = broker.asked.dropFirst(before)
                #expect(!asked.isEmpty)
                for call in asked where call.method != "ExplainDecision" {
                    #expect(call.parameters.contains(parameter), "\(command) \(options): \(call)")
                }
            }
        }
    }

    @Test("A command for a user who does not exist asks nothing")
    func nobody() throws {
        let broker = try broker()
        let outcome = try run("contactctl", "revoke", "ink", "--user", "no-such-user", with: broker)
        #expect(outcome.code == 1 && outcome.error.contains("no user is called no-such-user"))
        #expect(broker.asked.isEmpty)
    }

    @Test(
        "No character of a path can make an app look like another one",
        arguments: [
            ("/usr/bin/contactbook", "/usr/bin/contactbook"), ("/home/j\u{FC}rgen/app", "'/home/j\u{FC}rgen/app'"),
            ("/bin/contactbook helper", "'/bin/contactbook helper'"), ("/bin/a  b", "'/bin/a \\u{20}b'"),
            ("/bin/c\u{43E}ntact", "'/bin/c\\u{43E}ntact'"), ("/bin/a\nb", "'/bin/a\\u{A}b'"),
            ("/bin/a\u{A0}b", "'/bin/a\\u{A0}b'"), ("/bin/a'b", "'/bin/a\\u{27}b'"), ("/bin/a\\b", "'/bin/a\\u{5C}b'"),
            ("/bin/a\u{202E}b", "'/bin/a\\u{202E}b'"), ("/bin/u\u{308}", "'/bin/u\\u{308}'"),
        ])
    func identities(path: String, shown: String) {
        let name = AppName("\(path) sha256:ab12cd34ef", displayName: "Mail")
        #expect(name.identity == shown && name.hash == "ab12cd34ef")
        let inner = shown.hasPrefix("'") ? String(shown.dropFirst().dropLast()) : shown
        #expect(name.identityAndHash == "'\(inner) #ab12cd34'")
    }

    @Test(
        "A name that an app chose is quoted for a shell, with code points if it imitates a key or mixes alphabets",
        arguments: [
            ("Mail", "Mail"), ("Mail (2)", "'Mail (2)'"), ("Почта", "'Почта'"),
            ("mail［k］", "'mail\\u{FF3B}k\\u{FF3D}'"), ("Маil", "'\\u{41C}\\u{430}il'"),
        ])
    func names(name: String, shown: String) { #expect(AppName("x", displayName: name).name == shown) }

    @Test("Ages and remaining times name one unit, rounded down")
    func relativeTimes() {
        let time = "2026-03-01T12:00:00Z"
        let then: Int64 = 1_772_366_400
        let ages: [(Int64, String)] = [
            (0, "just now"), (59, "just now"), (60, "1 minute ago"), (7_199, "1 hour ago"), (7_200, "2 hours ago"),
            (86_400, "1 day ago"), (604_800, "1 week ago"), (30 * 86_400, "1 month ago"), (800 * 86_400, "2 years ago"),
            (-100, "just now"),
        ]
        for (age, words) in ages { #expect(RelativeTime.since(time, now: then + age) == words) }
        #expect(RelativeTime.left(until: time, now: then - 8 * 86_400) == "1 week left")
        #expect(RelativeTime.left(until: time, now: then) == "less than a minute left")
    }
}
