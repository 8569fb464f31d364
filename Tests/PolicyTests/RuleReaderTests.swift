import BrokerAccessControl
import BrokerModel
import BrokerTrustedFiles
import Synchronization
import Testing

@testable import BrokerPolicy

/// The groups of a machine.
private let groups = UserGroups { group in
    switch group {
    case "staff": .members([1_002, 1_003])
    case "empty": .members([])
    case "remote": .failed("Connection refused")
    default: .noGroup
    }
}

private func read(_ texts: String...) -> PolicyReader {
    PolicyReader.read(
        texts.enumerated().map { PolicyText(file: "\($0.offset + 1).toml", text: $0.element) }, groups: groups)
}

/// Counts calls from any thread.
private final class Counter: Sendable {
    let number = Atomic(0)
}

@Suite("Groups, patterns and conflicts in policy files")
struct RuleReaderTests {
    @Test("A rule names groups, whose members are looked up when the file is read")
    func members() throws {
        let reader = read("[[rule]]\ngroups = [\"staff\", \"empty\"]\nusers = [7]\nexpire_unused = \"90d\"\n")
        #expect(reader.problems == [])
        let rule = try #require(reader.policy.rules.first)
        #expect(rule.groups == ["staff", "empty"])
        #expect(rule.members == [1_002, 1_003])
        #expect(rule.users == [7])
        #expect(rule.maximumUnused == 7_776_000)
        #expect(
            rule.effects == ["ends a grant that was not used for 90 days"])
    }

    @Test("A rule names apps by patterns")
    func patterns() throws {
        let reader = read(
            "[[rule]]\napps = [\"org.example.*\", \"net.other\"]\nstrengths = [\"sandboxed\"]\ndeny = true\n")
        #expect(reader.problems == [])
        #expect(reader.policy.rules.first?.apps?.words == ["net.other", "org.example.*"])
    }

    /// A file with a mistake, where the mistake is, and a part of the reason.
    struct Wrong: Sendable, CustomTestStringConvertible {
        let text: String
        let place: String
        let reason: String
        var testDescription: String { place + reason }

        /// - Parameter rules: the lines of the rules, each without `[[rule]]`.
        init(_ rules: String..., at place: String, _ reason: String) {
            text = rules.map { "[[rule]]\n\($0)\n" }.joined()
            self.place = place
            self.reason = reason
        }
    }

    private static let mail = "apps = [\"org.example.Mail\"]\nstrengths = [\"sandboxed\"]\n"

    @Test(
        "A rule that cannot mean what it says is an error with its line",
        arguments: [
            Wrong("groups = [\"nobody-has-it\"]\ndeny = true", at: "1.toml:2: rule[0].groups: ", "no group"),
            Wrong(
                "groups = [\"remote\"]\ndeny = true", at: "1.toml:2: rule[0].groups: ", "Connection refused; try again"),
            Wrong("groups = []\ndeny = true", at: "1.toml:2: rule[0].groups: ", "not empty"),
            Wrong("groups = [50]\ndeny = true", at: "1.toml:2: rule[0].groups: ", "strings"),
            Wrong("expire_unused = 90", at: "1.toml:2: rule[0].expire_unused: ", "string"),
            Wrong("expire_unused = \"soon\"", at: "1.toml:2: rule[0].expire_unused: ", "90d"),
            Wrong(
                "strengths = [\"sandboxed\"]\napps = [\"org.*\"]\ndeny = true", at: "1.toml:3: rule[0].apps: ",
                "\"org.*\": a pattern needs at least two parts"),
            Wrong(
                "strengths = [\"unverified\"]\napps = [\"/usr/bin.x.*\"]\ndeny = true", at: "1.toml:3: rule[0].apps: ",
                "any program can use their names"),
            Wrong(
                "strengths = [\"sandboxed\"]\napps = [\"org.example.*\"]\nforce = \"full\"",
                at: "1.toml:3: rule[0].apps: ",
                "must name each app"),
            Wrong("deny = true\nforce = \"denied\"", at: "1.toml:3: rule[0].force: ", "never applies: remove one"),
            Wrong("deny = true\nmaximum_level = \"limited\"", at: "1.toml:3: rule[0].maximum_level: ", "never applies"),
            Wrong("deny = true\nmaximum_keys = [\"note\"]", at: "1.toml:3: rule[0].maximum_keys: ", "never applies"),
            Wrong("forbid_prompting = true\ndeny = true", at: "1.toml:2: rule[0].forbid_prompting: ", "never applies"),
            Wrong(
                "deny = true\nmaximum_lifetime = \"1d\"", at: "1.toml:3: rule[0].maximum_lifetime: ", "never applies"),
            Wrong(
                "deny = true\nrequire_authentication = true", at: "1.toml:3: rule[0].require_authentication: ",
                "never applies"),
            Wrong(
                mail + "force = \"full\"\nmaximum_level = \"limited\"", at: "1.toml:4: rule[0].force: ",
                "full never applies"),
            Wrong(
                "force = \"denied\"\nmaximum_level = \"limited\"", at: "1.toml:3: rule[0].maximum_level: ",
                "never applies"),
            Wrong(
                "force = \"denied\"\nmaximum_lifetime = \"1d\"", at: "1.toml:3: rule[0].maximum_lifetime: ",
                "never applies"),
            Wrong(
                "name = \"a\"\ndeny = true", "name = \"a\"\nforbid_prompting = true", at: "1.toml:5: rule[1].name: ",
                "the rule at 1.toml:1 has the same name"),
            Wrong(
                mail + "force = \"full\"", mail + "force = \"limited\"", at: "1.toml:8: rule[1].force: ",
                "the rule at 1.toml:1 forces full for the same apps"),
            Wrong(
                "deny = true", mail + "force = \"full\"", at: "1.toml:6: rule[1].force: ",
                "never applies: the rule at 1.toml:1 denies"),
            Wrong(
                mail + "force = \"full\"", "strengths = [\"sandboxed\"]\ndeny = true", at: "1.toml:7: rule[1].deny: ",
                "the rule at 1.toml:1 forces a level"),
        ])
    func contradictions(wrong: Wrong) {
        let problems = read(wrong.text).problems
        #expect(problems.count == 1)
        #expect(problems.first?.description.hasPrefix(wrong.place) == true, "\(problems)")
        #expect(problems.first?.reason.contains(wrong.reason) == true, "\(problems)")
    }

    @Test("Every rule with a mistake is reported, in every file")
    func all() {
        let reader = read(
            "[[rule]]\n[[rule]]\ndeny = true\n[[rule]]\nforce = \"most\"\n", "[[rule]]\nname = \"a\"\ndeny = true\n",
            "[[rule]]\nname = \"a\"\nforbid_prompting = true\n[x]\n",
            "[[rule]]\nname = \"a\"\nforbid_prompting = true\n")
        #expect(
            reader.problems.map { $0.description.prefix { $0 != " " } } == [
                "1.toml:1:", "1.toml:5:", "3.toml:4:", "4.toml:2:",
            ])
        #expect(reader.problems.last?.reason == "the rule at 2.toml:1 has the same name")
    }

    @Test("A file may deny what another file forces")
    func otherFile() {
        let mail = "[[rule]]\n" + Self.mail + "force = \"full\"\n"
        #expect(read(mail, "[[rule]]\ndeny = true\n").problems == [])
        #expect(read(mail, "[[rule]]\n" + Self.mail + "force = \"limited\"\n").problems.count == 1)
    }

    @Test("A rule that denies some of the apps of another rule is no conflict")
    func overlap() {
        let staff = Self.mail + "groups = [\"staff\"]\nforce = \"full\"\n"
        // 1002 is in the group today.
        #expect(read("[[rule]]\n\(staff)[[rule]]\nusers = [1002, 1003]\ndeny = true\n").problems == [])
        #expect(read("[[rule]]\n\(staff)[[rule]]\nstrengths = [\"installed\"]\ndeny = true\n").problems == [])
    }

    @Test("A group is looked up once, also if the user database does not answer")
    func once() {
        let count = Counter()
        let rule = "[[rule]]\ngroups = [\"remote\"]\ndeny = true\n"
        let groups = UserGroups { _ in
            count.number.add(1, ordering: .relaxed)
            return .failed("Connection refused")
        }
        let reader = PolicyReader.read([PolicyText(file: "a", text: rule + rule + rule)], groups: groups)
        #expect(reader.problems.count == 3)
        #expect(count.number.load(ordering: .relaxed) == 1)
    }

    @Test("The members of this machine's groups include the users whose primary group it is")
    func machine() {
        guard case .members(let members) = UserGroups.ofMachine.members("root") else {
            Issue.record("no group root")
            return
        }
        #expect(members.contains(0))
        #expect(UserGroups.ofMachine.members("no-group-has-this-name") == .noGroup)
        #expect(UserGroups.ofMachine.members("") == .noGroup)
    }
}
