import BrokerAccessControl
import BrokerBounds
import BrokerModel
import BrokerTrustedFiles
import Testing

@testable import BrokerPolicy

@Suite("Reading a policy file")
struct PolicyReaderTests {
    /// The groups of a machine with two groups.
    private static let groups = UserGroups { group in
        switch group {
        case "staff": .members([1_002, 1_003])
        case "empty": .members([])
        case "remote": .failed("Connection refused")
        default: .noGroup
        }
    }

    private func read(_ text: String) throws(TrustedFileError) -> Policy {
        let reader = PolicyReader.read([PolicyText(file: "50-test.toml", text: text)], groups: Self.groups)
        if let first = reader.problems.first { throw first }
        return reader.policy
    }

    private func refusal(_ text: String) -> TrustedFileError? {
        do throws(TrustedFileError) {
            _ = try read(text)
            return nil
        } catch {
            return error
        }
    }

    @Test("A file with every key is read")
    func everything() throws {
        let policy = try read(
            """
            # a comment
            [agent]
            confirm = "password"
            without_authentication = "refuse"

            [audit]
            durable = true

            [[rule]]
            name = "Mail"
            strengths = ["sandboxed", "installed"]
            apps = ["org.example.Mail"]
            users = [1000, 1001]
            force = "full"
            same_user = "accepted"
            maximum_keys = ["givenName",
              "note"]
            maximum_lifetime = "12h"

            [[rule]]
            strengths = ["unverified"]
            maximum_level = "limited"
            forbid_prompting = true
            require_authentication = true

            [[rule]]
            strengths = ["claimed"]
            deny = true

            [[rule]]
            maximum_changes = "own"
            """)
        #expect(policy.withoutAuthentication == .refuse)
        #expect(policy.confirmation == .password)
        #expect(policy.isAuditDurable)
        var mail = Rule(place: "50-test.toml:9")
        mail.name = "Mail"
        mail.strengths = [.sandboxed, .installed]
        mail.apps = ["org.example.Mail"]
        mail.users = [1000, 1001]
        mail.forcedLevel = .full
        mail.acceptsSameUser = true
        mail.maximumKeys = ContactKeySet([.givenName, .note])
        mail.maximumLifetime = 12 * 3_600
        var unverified = Rule(place: "50-test.toml:20")
        unverified.strengths = [.unverified]
        unverified.capsLevel = true
        unverified.forbidsPrompting = true
        unverified.requiresAuthentication = true
        var claimed = Rule(place: "50-test.toml:26")
        claimed.strengths = [.claimed]
        claimed.denies = true
        var everyone = Rule(place: "50-test.toml:30")
        everyone.maximumChanges = .own
        #expect(policy.rules == [mail, unverified, claimed, everyone])
    }

    @Test("An empty file has no rules", arguments: ["", "\n\n", "# nothing\n", "[agent]\n", "rule = []\n"])
    func empty(text: String) throws {
        #expect(try read(text) == Policy())
    }

    /// An invalid file, and the place of its error.
    struct Wrong: Sendable, CustomTestStringConvertible {
        let text: String
        let line: Int
        let key: String
        var testDescription: String { text.replacing("\n", with: "⏎") }

        init(_ text: String, _ line: Int, _ key: String) {
            self.text = text
            self.line = line
            self.key = key
        }
    }

    @Test(
        "An invalid file is an error with line and key",
        arguments: [
            Wrong("x = 1", 1, "x"),
            Wrong("\n\n[agents]\n", 3, "agents"),
            Wrong("[[rule]]\ndeny = true\n[[rule]]\n\nlevel = \"full\"\n", 5, "rule[1].level"),
            Wrong("[[rule]]\ndeny = \"yes\"\n", 2, "rule[0].deny"),
            Wrong("[[rule]]\ndeny = false\n", 2, "rule[0].deny"),
            Wrong("[[rule]]\ndeny = 1\n", 2, "rule[0].deny"),
            Wrong("[[rule]]\n# deny = true\n", 1, "rule[0]"),
            Wrong("[[rule]]\nforce = \"all\"\n", 2, "rule[0].force"),
            Wrong("[[rule]]\nforce = true\n", 2, "rule[0].force"),
            Wrong("[[rule]]\nforce = \"full\"\n", 2, "rule[0].force"),
            Wrong("[[rule]]\nforce = \"limited\"\nstrengths = [\"claimed\"]\n", 2, "rule[0].force"),
            Wrong("[[rule]]\nstrengths = [\"sandboxed\", \"unverified\"]\nforce = \"full\"\n", 3, "rule[0].force"),
            Wrong("[[rule]]\nstrengths = [\"installed\"]\nforce = \"full\"\n", 3, "rule[0].force"),
            Wrong("[[rule]]\nstrengths = [\"sandboxed\", \"installed\"]\nforce = \"limited\"\n", 3, "rule[0].force"),
            Wrong(
                "[[rule]]\nstrengths = [\"installed\"]\nforce = \"full\"\nsame_user = true\n", 4, "rule[0].same_user"),
            Wrong(
                "[[rule]]\nstrengths = [\"installed\"]\nforce = \"full\"\nsame_user = \"refused\"\n", 4,
                "rule[0].same_user"),
            Wrong("[agent]\nconfirm = \"key\"\n", 2, "agent.confirm"),
            Wrong("[[rule]]\ndeny = true\nsame_user = \"accepted\"\n", 3, "rule[0].same_user"),
            Wrong(
                "[[rule]]\nstrengths = [\"unverified\"]\nforce = \"full\"\nsame_user = \"accepted\"\n", 3,
                "rule[0].force"),
            Wrong("[[rule]]\ndeny = true\nstrengths = []\n", 3, "rule[0].strengths"),
            Wrong("[[rule]]\ndeny = true\nstrengths = \"sandboxed\"\n", 3, "rule[0].strengths"),
            Wrong("[[rule]]\ndeny = true\nstrengths = [\"sandboxed\",\n \"strong\"]\n", 3, "rule[0].strengths"),
            Wrong("[[rule]]\ndeny = true\napps = [\"a\"]\n", 3, "rule[0].apps"),
            Wrong("[[rule]]\ndeny = true\nstrengths = [\"claimed\"]\napps = [\"a\"]\n", 4, "rule[0].apps"),
            Wrong("[[rule]]\ndeny = true\nstrengths = [\"service\"]\napps = [\"\"]\n", 4, "rule[0].apps"),
            Wrong("[[rule]]\ndeny = true\nstrengths = [\"service\"]\napps = [1]\n", 4, "rule[0].apps"),
            Wrong("[[rule]]\ndeny = true\nusers = [-1]\n", 3, "rule[0].users"),
            Wrong("[[rule]]\ndeny = true\nusers = [4294967296]\n", 3, "rule[0].users"),
            Wrong("[[rule]]\ndeny = true\nusers = [\"ada\"]\n", 3, "rule[0].users"),
            Wrong("[[rule]]\nmaximum_level = \"full\"\n", 2, "rule[0].maximum_level"),
            Wrong("[[rule]]\nforbid_prompting = true\ncontact_group = \"Family\"\n", 3, "rule[0].contact_group"),
            Wrong(
                "[[rule]]\nstrengths = [\"service\"]\nforce = \"full\"\ncontact_group = \"Family\"\n", 4,
                "rule[0].contact_group"),
            Wrong(
                "[[rule]]\nstrengths = [\"service\"]\nforce = \"limited\"\ncontact_group = \" \"\n", 4,
                "rule[0].contact_group"),
            // The person's decision does not count, so it needs no end and no password.
            Wrong(
                "[[rule]]\nstrengths = [\"service\"]\nforce = \"limited\"\ncontact_group = \"x\"\n"
                    + "maximum_lifetime = \"1d\"\n", 5, "rule[0].maximum_lifetime"),
            Wrong(
                "[[rule]]\nstrengths = [\"service\"]\nforce = \"limited\"\ncontact_group = \"x\"\n"
                    + "require_authentication = true\n", 5, "rule[0].require_authentication"),
            Wrong("[[rule]]\nmaximum_keys = [\"name\"]\n", 2, "rule[0].maximum_keys"),
            Wrong("[[rule]]\nmaximum_keys = []\n", 2, "rule[0].maximum_keys"),
            Wrong("[[rule]]\nmaximum_lifetime = 30\n", 2, "rule[0].maximum_lifetime"),
            Wrong("[[rule]]\nmaximum_lifetime = \"0d\"\n", 2, "rule[0].maximum_lifetime"),
            Wrong("[[rule]]\nmaximum_lifetime = \"3651d\"\n", 2, "rule[0].maximum_lifetime"),
            Wrong("[[rule]]\nmaximum_lifetime = \"-1d\"\n", 2, "rule[0].maximum_lifetime"),
            Wrong("[[rule]]\nmaximum_lifetime = \"99999999999d\"\n", 2, "rule[0].maximum_lifetime"),
            Wrong("[[rule]]\ndeny = true\nname = \"\"\n", 3, "rule[0].name"),
            Wrong("[rule]\ndeny = true\n", 1, "rule"),
            Wrong("rule = [1]\n", 1, "rule[0]"),
            Wrong("agent = \"refuse\"\n", 1, "agent"),
            Wrong("[agent]\nwithout_authentication = \"ask\"\n", 2, "agent.without_authentication"),
            Wrong("\nagent.without_authentication = false\n", 2, "agent.without_authentication"),
            Wrong("agent.without = \"allow\"\n", 1, "agent.without"),
            Wrong("[audit]\ndurable = \"true\"\n", 2, "audit.durable"),
            Wrong("[audit]\n\"durably\" = true\n", 2, "audit.durably"),
            Wrong("agent = {}\n", 1, "agent"),
            Wrong("\nrule = [{ deny = true }]\n", 2, "rule[0]"),
            Wrong("[audit]\ndurable = 1979-05-27\n", 2, "audit.durable"),
            Wrong("[[rule]]\ndeny = true\nusers = [1.5]\n", 3, "rule[0].users"),
        ])
    func strict(wrong: Wrong) {
        let error = refusal(wrong.text)
        #expect(error?.line == wrong.line)
        #expect(error?.key == wrong.key)
        #expect(error?.description.hasPrefix("50-test.toml:\(wrong.line): \(wrong.key): ") == true)
    }

    @Test(
        "Invalid TOML is an error with its line",
        arguments: [
            ("[[rule]]\ndeny = yes\n", 2), ("[[rule]]\ndeny = true\ndeny = true\n", 3),
            ("[[rule]]\nname = \"open\n", 2),
            ("\n\n[[rule]\n", 3), ("[agent]\n[agent]\n", 2),
            ("[agent]\n[]\n", 2), ("[agent]\n[[,]]\n", 2), ("a.[ = 1\n", 1), ("\n= 1\n", 2), ("a b = 1", 1), ("a", 1),
            ("[agent]\nx = { a.[ = 1 }\n", 2), ("x = {[a] = 1}", 1), ("a = ]", 1), ("\na = .", 2), ("a =\n1", 1),
            ("a = 1979-05-27", 1), ("a = 1.5", 1), ("a = 0x1", 1), ("a = 01", 1), ("a = {}", 1), ("a = [1 2]", 1),
            ("a = [1,\n\n,]", 3), ("a = 1 b = 2", 1), ("a = truely", 1), ("a = [[[[[1]]]]]", 1),
            ("\"\"\"a\"\"\" = 1", 1), ("[\"a\n\"]", 1),
        ])
    func syntax(text: String, line: Int) {
        let error = refusal(text)
        #expect(error?.line == line)
        #expect(error?.reason.isEmpty == false)
    }

    @Test(
        "A text that the parser would silently truncate is refused",
        arguments: [
            "[[rule]]\ndeny = true\0\n", "[[rule]]\nname = \"a\\u0000b\"\ndeny = true\n", "\"rule\\U00000000\" = 1\n",
        ])
    func nul(text: String) {
        #expect(refusal(text)?.reason == "contains a NUL character")
    }

    @Test("The number of rules is bounded")
    func many() throws {
        let rule = "[[rule]]\ndeny = true\n"
        let most = String(repeating: rule, count: FileLimits.rulesPerFile)
        #expect(try read(most).rules.count == FileLimits.rulesPerFile)
        #expect(refusal(most + rule)?.key == "rule")
    }

    @Test("Lifetimes have a minimum and a maximum")
    func lifetimes() {
        #expect(Lifespan.seconds("1m") == 60)
        #expect(Lifespan.seconds("0m") == nil)
        #expect(Lifespan.seconds("3650d") == Lifespan.longest)
        #expect(Lifespan.seconds("87601h") == nil)
        for text in ["", "d", "1", "1s", " 1d", "1 d", "+1d", "1.5d", "１d"] { #expect(Lifespan.seconds(text) == nil) }
    }

    @Test("Errors name the right line after any strings and arrays")
    func lines() throws {
        let document = try TOMLTable(
            #"""
            a = """one
            [no]
            x = 1 \"""
            """" # b = 1
            "quoted.key" = 'c = "d'
            list = [ # [
              "]",
              '''
            e = 1'''
            ]
            [table . inner]
            f = ["}"]
            [[rule]]
            [[rule]] # two
            h.i = 1
            """#, file: "x")
        func line(_ table: TOMLTable?, _ key: String) -> Int? { table?.wrong(key, "").line }
        #expect(line(document, "a") == 1)
        #expect(line(document, "no") == nil)
        #expect(line(document, "quoted.key") == 5)
        #expect(line(document, "list") == 6)
        #expect(line(document, "e") == nil)
        let inner = try document.table("table", ["inner"])?.table("inner", ["f"])
        #expect(inner?.place == "x:11")
        #expect(line(inner, "f") == 12)
        let rules = try document.tables("rule", most: 2)
        #expect(rules.map(\.place) == ["x:13", "x:14"])
        #expect(line(try rules.last?.table("h", ["i"]), "i") == 15)
        #expect(line(rules.last, "j") == 14)
    }

    @Test("The reader ends for any bytes, and never allows anything")
    func anything() {
        let pieces = [
            "[[rule]]", "\n", "deny", " = ", "true", "\"", "'", "[", "]", "{", "}", "\\", "#", "\"\"\"", "force", "1",
            ".",
            "\u{301}", ",", "\r\n", "0x", "-", "+", "_", "e9", "1979-05-27", "T07:32", "inf", "\\u0041", "\\x", " ",
            "name = ",
        ]
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        for round in 0..<20_000 {
            var text = round.isMultiple(of: 2) ? "" : "[[rule]]\nname = "
            for _ in 0..<(4 + round % 40) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text += pieces[Int(state >> 33) % pieces.count]
            }
            // Read or refused: a file of such pieces never allows anything.
            let allowing = (try? read(text))?.rules.filter(\.allows) ?? []
            #expect(allowing.isEmpty)
        }
    }
}
