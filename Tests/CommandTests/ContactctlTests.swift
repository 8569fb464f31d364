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
            case "QueryAudit" where parameters["limit"]?.integer == 5: .reply("{\"records\":[\(Self.record(1))]}")
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

    @Test("apps prints a table that no app's name can break")
    func apps() throws {
        let outcome = try run("contactctl", "apps", with: broker())
        #expect(
            outcome.output
                == """
                APP            HOW SURE   STATUS   CONTACTS  UNTIL             LAST USED
                Ink            sandboxed  limited  3         revoked           2026-03-02 08:30
                Mail[31m root  claimed    full     all       2026-05-01 00:00  never
                Ink Beta       sandboxed  denied   none      reset             never

                """)
        #expect(outcome.code == 0 && outcome.error.isEmpty)
    }

    @Test("An app whose prompts the person has silenced is listed, has nothing to revoke, and can be reset by its name")
    func silenced() throws {
        let game = """
            {"uid":1000,"app":"/opt/game/run sha256:ab","displayName":"run","strength":"unverified",\
            "status":"notDetermined","contacts":0,"revision":0,"decidedBy":"person",\
            "decidedAt":"2026-03-01T12:00:00Z","silenced":true,"uses":0}
            """
        let ink = Self.ink.replacing("\"revision\":4", with: "\"silenced\":true,\"revision\":4")
        let broker = try broker([ink, game])
        #expect(
            try run("contactctl", "apps", with: broker).output
                == """
                APP  HOW SURE    STATUS                CONTACTS  UNTIL    LAST USED
                Ink  sandboxed   limited, never asked  3         revoked  2026-03-02 08:30
                run  unverified  never asked           none      reset    never

                """)
        let revoked = try run("contactctl", "revoke", "run", with: broker)
        #expect(
            revoked.error == "run was never allowed anything, and you are not asked about it\n" && revoked.code == 0)
        #expect(try run("contactctl", "set", "run", "--level", "denied", with: broker).code == 1)
        #expect(broker.asked.allSatisfy { $0.method == "ListGrants" })
        #expect(try run("contactctl", "reset", "run", with: broker).code == 0)
        #expect(broker.asked.last?.parameters == #"{"app":"/opt/game/run sha256:ab"}"#)
        let shown = try run("contactctl", "show", "run", with: broker).output
        #expect(shown.contains("nothing: you decided nothing about it") && shown.contains("contactctl reset"))
    }

    @Test("apps --json prints what the broker sent")
    func appsInJSON() throws {
        let outcome = try run("contactctl", "apps", "--json", with: broker([Self.ink]))
        #expect(outcome.output == "[\n\(Self.ink)\n]\n")
    }

    @Test("If no app has asked, apps says so on standard error and prints nothing else")
    func noApps() throws {
        let outcome = try run("contactctl", "apps", with: broker([]))
        #expect(outcome.output.isEmpty && outcome.code == 0)
        #expect(outcome.error == "no app has asked for your contacts yet\n")
        #expect(try run("contactctl", "apps", "--json", with: broker([])).output == "[]\n")
    }

    @Test("revoke denies the app at every strength, and reports its former access")
    func revoke() throws {
        let broker = try broker()
        let outcome = try run("contactctl", "revoke", "ink", with: broker)
        #expect(outcome.output == "Ink may see no contact any more; it was allowed 3 contacts\n")
        #expect(outcome.error.contains("contactctl reset 'Ink'"))
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
                == "contactctl: could not revoke: no app is called mail with strength service\nsee them all: contactctl apps\n"
        )
    }

    @Test("revoke does not deny an app twice")
    func revokedAlready() throws {
        let broker = try broker()
        let outcome = try run("contactctl", "revoke", "Ink Beta", with: broker)
        #expect(outcome.error == "Ink Beta was refused already\n" && outcome.code == 0)
        #expect(broker.asked.map(\.method) == ["ListGrants"])
    }

    @Test("An ambiguous app name changes nothing")
    func ambiguous() throws {
        let broker = try broker()
        let outcome = try run("contactctl", "reset", "in", with: broker)
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(
            outcome.error == """
                contactctl: could not reset: in can mean 2 apps
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
        #expect(outcome.output == "Ink may see 3 contacts, givenName, until you revoke it\n")
        #expect(
            broker.asked.last?.parameters
                == #"{"app":"org.example.Ink","strength":"sandboxed","status":"limited","#
                + #""keys":["givenName","phoneNumbers","groups"],"expires":"2030-01-31"}"#)
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
        #expect(outcome.error.contains("name one: --strength sandboxed or --strength claimed"))
        #expect(broker.asked.map(\.method) == ["ListGrants"])
    }

    @Test("audit prints all batches, oldest first")
    func audit() throws {
        let outcome = try run("contactctl", "audit", with: broker())
        #expect(
            outcome.output == """
                TIME                 APP              WHAT                 STATUS   CONTACTS  DETAILS
                2026-03-01 12:00:01  org.example.Ink  disclosure (1 more)  limited  3         givenName
                2026-03-01 12:00:02  org.example.Ink  disclosure (1 more)  limited  3         givenName

                """)
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

    @Test("audit --contact queries by the contact's pseudonym in the audit")
    func auditOfContact() throws {
        let broker = try broker()
        #expect(try run("contactctl", "audit", "--contact", "0a1b", with: broker).code == 0)
        #expect(broker.asked.last?.parameters == #"{"contact":"0a1b","limit":50}"#)
    }

    @Test("audit --app finds the records of an app that was reset")
    func auditOfReset() throws {
        let outcome = try run("contactctl", "audit", "--app", "ink", "--limit", "1", with: broker([Self.mail]))
        #expect(outcome.output.split(separator: "\n").count == 2)
        let other = try run("contactctl", "audit", "--app", "paint", with: broker([Self.mail]))
        #expect(other.code == 1 && other.error == "contactctl: nothing is on record\n")
    }

    @Test(
        "Keys are summarised in few words, and none is left out",
        arguments: [
            (ContactKeySet.all, "everything"), (ContactKeySet.all.subtracting(.named), "everything but notes"),
            (ContactKeySet.names.union(ContactKeySet([.phoneNumbers])), "names, phoneNumbers"),
            (ContactKeySet([ContactKey.givenName, .note]), "givenName, note"),
            (ContactKeySet.grantable, "everything, groups"), (ContactKeySet.groups, "groups"),
            (ContactKeySet.all.subtracting(.named).union(.groups), "everything but notes, groups"),
        ])
    func keys(keys: ContactKeySet, words: String) throws {
        let text = "[\(keys.grantNames.map { "\"\($0)\"" }.joined(separator: ","))]"
        #expect(KeyWords.text(try JSONDocument(parsing: Array(text.utf8)).root) == words)
    }

    @Test("verify accepts an intact chain, and reports where a broken one breaks")
    func verify() throws {
        let whole = try run("contactctl", "verify", with: broker())
        #expect(whole.output == "12 records, all as they were written\nhead ab12\n" && whole.code == 0)
        let broken = try ScriptedBroker { _, _ in .reply("{\"records\":5,\"head\":\"ab\",\"brokenAt\":6}") }
        let outcome = try run("contactctl", "verify", with: broken)
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(
            outcome.error.hasPrefix("contactctl: the audit is broken: record 6 does not follow from the one before\n"))
    }

    @Test("status prints its values in words")
    func status() throws {
        let outcome = try run("contactctl", "status", with: broker())
        #expect(
            outcome.output == """
                version                        1
                started at                     2026-03-01 12:00
                open prompts                   0
                legacy TIOCSTI                 1
                polkit                         no
                address book limit MB          2048
                address book of user 1000, MB  12
                address book of user 1001, MB  1

                """)
    }

    @Test("show explains in plain words how reliably the app was identified")
    func show() throws {
        let outcome = try run("contactctl", "show", "Ink", with: broker())
        #expect(outcome.output.contains("how sure    sandboxed: its sandbox names it"))
        #expect(outcome.output.contains("may see     3 contacts"))
        #expect(outcome.output.contains("decided     2026-03-01 12:00 by you"))
        #expect(outcome.output.contains("Last on record"))
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
        #expect(gone.code == 2 && gone.error.contains("hung up"))
        let mistyped = try run("contactctl", "frob", with: broker())
        #expect(
            mistyped.code == 2 && mistyped.error == "contactctl: unexpected argument 'frob'\ntry: contactctl --help\n")
        let nobody = try RunningProgram("contactctl", ["apps"], runtime: "/nowhere").finish()
        #expect(nobody.code == 2)
        #expect(nobody.error.hasSuffix("\nis contactbrokerd running? try: contactbrokerd --session\n"))
    }

    @Test("A password is asked for at a terminal only; elsewhere contactctl says what is missing")
    func passwords() throws {
        let silent = try ScriptedBroker { _, _ in .error("io.systemd.InteractiveAuthenticationRequired") }
        let nobody = try run("contactctl", "verify", with: silent)
        #expect(
            nobody.code == 1 && nobody.error.hasPrefix("contactctl: could not verify the audit: it wants a password"))
        #expect(nobody.error.hasSuffix("\nrun it at a terminal, or as root\n"))
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
        #expect(Moment("2026-01-31")?.before(0) == "2026-01-31")
        #expect(Moment("2026-01-31T12:00:00Z")?.before(0) == "2026-01-31T12:00:00Z")
        for text in ["", "h", "0h", "-1h", "100001d", "2026-02-30", "2026-01-31T12:00", "yesterday"] {
            #expect(Moment(text)?.before(0) == nil, "\(text)")
        }
    }
}
