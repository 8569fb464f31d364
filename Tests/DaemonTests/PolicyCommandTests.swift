import BrokerJSON
import Glibc
import PseudoTerminal
import Testing

@Suite("contactctl policy", .timeLimit(.minutes(10)))
struct PolicyCommandTests {
    private static let week = """
        [[rule]]
        name = "unverified programs"
        strengths = ["unverified"]
        maximum_lifetime = "7d"

        """

    private func policy(_ arguments: String..., in fixture: DaemonFixture) throws -> Command {
        try Command(DaemonFixture.programs + "/contactctl", ["policy"] + arguments, in: fixture)
    }

    private func draft(_ text: String, in fixture: DaemonFixture) throws -> String {
        let path = fixture.folder + "/draft.toml"
        try DaemonFixture.write(Array(text.utf8), to: path)
        return path
    }

    @Test("check prints each mistake with file, line and key, and needs no broker")
    func check() throws {
        let fixture = try DaemonFixture(starting: false)
        let file = try draft(Self.week, in: fixture)
        let good = try policy("check", file, in: fixture)
        #expect(good.end == .exited(0))
        #expect(good.output == "no mistakes: 1 rule in 1 file\n")
        try fixture.write(policy: "[[rule]]\ndeny = true\nforce = \"full\"\n\n[[rule]]\n", to: "10.toml")
        try fixture.write(policy: "[[rule]]\ngroups = [\"nobody-has-this-group\"]\ndeny = true\n", to: "20.toml")
        try fixture.write(policy: "[[rule]]\n\"\\u001B[2J\" = true\n", to: "30.toml")
        for place in [fixture.policyFolder, fixture.configuration] {
            let bad = try policy("check", place, in: fixture)
            #expect(bad.end == .exited(1))
            let lines = bad.output.split(separator: "\n")
            try #require(lines.count == 4)
            let folder = fixture.policyFolder
            #expect(lines[0].hasPrefix("\(folder)/10.toml:3: rule[0].force: deny refuses everything"))
            #expect(lines[1] == "\(folder)/10.toml:5: rule[1]: the rule has no effect")
            #expect(lines[2].hasPrefix("\(folder)/20.toml:2: rule[0].groups: there is no group"))
            #expect(lines[3].hasPrefix("\(folder)/30.toml:"))
            #expect(!bad.output.contains("\u{1B}"))
            #expect(bad.errors.hasPrefix("contactctl: could not accept the policy: 4 mistakes, listed above\n"))
        }
        let nothing = try policy("check", fixture.folder + "/nothing", in: fixture)
        #expect(nothing.end == .exited(1))
        #expect(nothing.output == "\(fixture.folder)/nothing: there is no such file or folder\n")
        #expect(try policy("check", in: fixture).end == .exited(2))
    }

    @Test("An administrator sees whom a limit of seven days affects before it is in force, and then sets it")
    func sevenDays() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let file = try draft(Self.week, in: fixture)
        let tried = try policy("try", file, in: fixture)
        #expect(tried.end == .exited(0))
        let lines = tried.output.split(separator: "\n")
        try #require(lines.count == 3)
        #expect(lines[0].hasPrefix("keeper (/") && lines[0].hasSuffix(", unverified"))
        #expect(lines[1].hasPrefix("  now               full, sees everything but notes, may add contacts, and change"))
        #expect(lines[2].hasPrefix("  with these files  full, until 20"))
        #expect(tried.errors.hasPrefix("with 1 rule, 1 of 1 app would have other access; nothing has changed"))
        // Nothing has changed.
        #expect(try keeper.call("GetAuthorization")["expires"] == nil)
        #expect(try fixture.status()["policyRules"] == "0")
        #expect(try fixture.audit("policy").count == 1)

        try fixture.rule(Self.week)
        #expect(try keeper.call("GetAuthorization")["expires"]?.string != nil)
        let again = try policy("try", file, in: fixture)
        #expect(again.output.isEmpty)
        #expect(again.errors.hasPrefix("with 1 rule, 0 of 1 app would have other access; "))
        let explained = try policy("explain", in: fixture)
        #expect(
            explained.output == """
                1. “unverified programs” at \(fixture.policyFolder)/10-test.toml:1
                   every unverified app:
                   - lets a grant last 7 days at most
                   applies now to 1 app of 1 user

                """)
    }

    @Test("try changes nothing if a file has a mistake, and reads no file of the broker's user")
    func mistaken() throws {
        let fixture = try DaemonFixture()
        let keeper = try fixture.keeper(with: fixture.person())
        let file = try draft("[[rule]]\nforce = \"most\"\n", in: fixture)
        let tried = try policy("try", file, in: fixture)
        #expect(tried.end == .exited(1))
        #expect(tried.output.hasPrefix("\(file):2: rule[0].force: "))
        #expect(try keeper.fetch().names == DaemonFixture.names)
        let explained = try policy("explain", in: fixture)
        #expect(explained.output == "no rules: the person decides everything\n")
    }

    @Test("While the policy has a mistake, contactbook and contactctl say so, and give advice that helps")
    func broken() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let added = try fixture.contactbook("add", "--given", "Ada") { try person.answer(.everything) }
        #expect(added.end == .exited(0))
        try fixture.write(policy: "[[rule]]\nforce = \"most\"\n")
        fixture.end("agent")
        try fixture.stop()
        try fixture.start()
        for arguments in [["list"], ["add", "--given", "Nils"], ["search", "ada"]] {
            let refused = try Command(DaemonFixture.programs + "/contactbook", arguments, in: fixture)
            #expect(refused.end == .exited(1), "\(arguments)")
            #expect(refused.errors.contains("the administrator's policy file cannot be read, so every app is refused"))
            #expect(refused.errors.hasSuffix("\nask the administrator to correct it, then retry\n"))
            #expect(!refused.errors.contains("reset") && !refused.errors.contains("contactctl"))
        }
        for arguments in [["apps"], ["show", "contactbook"]] {
            let shown = try Command(DaemonFixture.programs + "/contactctl", arguments, in: fixture)
            #expect(shown.end == .exited(0))
            #expect(
                shown.errors == "every app is refused, because the administrator's policy cannot be read; "
                    + "to see the mistake: contactctl status\n")
        }
        let explained = try policy("explain", in: fixture)
        #expect(explained.end == .exited(1))
        #expect(explained.errors.contains("10-test.toml:2: rule[0].force: "))
        #expect(explained.errors.contains("Correct it, then run: contactctl reload"))
        // A rule that denies is no mistake.
        try fixture.rule("[[rule]]\ndeny = true\n")
        let denied = try fixture.contactbook("list")
        #expect(denied.errors.contains("the administrator's policy does not allow it"))
        #expect(denied.errors.contains("contactctl why contactbook"))
    }

    @Test("While the policy has a mistake, the agent's list says so")
    func brokenForAgent() throws {
        let fixture = try DaemonFixture()
        try fixture.write(policy: "[[rule]]\nforce = \"most\"\n")
        try fixture.stop()
        try fixture.start()
        let terminal = try fixture.agentTerminal()
        try terminal.see("Waiting for apps", thenPress: "l")
        try terminal.wait(for: "Every app is refused")
        try fixture.write(policy: "")
        #expect(try Command(DaemonFixture.programs + "/contactctl", ["reload"], in: fixture).end == .exited(0))
        try fixture.write(policy: "[[rule]]\nforce = \"most\"\n")
        #expect(try Command(DaemonFixture.programs + "/contactctl", ["reload"], in: fixture).end == .exited(1))
        try terminal.wait(for: "the former rules apply")
    }
}
