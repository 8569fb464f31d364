import BrokerJSON
import BrokerVarlinkClient
import Glibc
import Testing

@Suite("Loading the administrator's policy", .timeLimit(.minutes(10)))
struct PolicyLoadingTests {
    private static let broken = "[[rule]]\nmaximum_level = \"limited\"\n\n[[rule]]\nforce = \"most\"\n"

    private func contactctl(_ arguments: String..., in fixture: DaemonFixture) throws -> Command {
        try Command(DaemonFixture.programs + "/contactctl", arguments, in: fixture)
    }

    @Test("A reload with a mistake keeps the rules in force, and the mistake is reported until a reload succeeds")
    func broken() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        try fixture.rule("[[rule]]\nstrengths = [\"unverified\"]\nmaximum_keys = [\"givenName\"]\n")
        #expect(try contactctl("status", in: fixture).end == .exited(0))
        try fixture.write(policy: Self.broken)
        // The mistake is named before anybody reloads the files.
        let place = fixture.policyFolder + "/10-test.toml:5: rule[1].force: "
        let changed = try contactctl("status", in: fixture)
        #expect(changed.end == .exited(3))
        #expect(
            changed.output.contains("serves apps by former rules, because the policy files have a mistake: \(place)"))
        let said = try contactctl("reload", in: fixture)
        #expect(said.end == .exited(1))
        #expect(said.errors.contains(place))
        #expect(said.errors.contains("The former rules stay in force. Correct the file, then run: contactctl reload"))
        let problem = "the former rules stay in force: " + place
        #expect(try fixture.status()["policyProblem"]?.hasPrefix(problem) == true)
        let status = try contactctl("status", in: fixture)
        #expect(status.end == .exited(3))
        #expect(
            status.output.contains("serves apps by former rules, because the policy files have a mistake: \(place)"))
        #expect(fixture.journal.contains(problem))
        let why = try contactctl("why", "keeper", in: fixture).output
        #expect(why.contains("the policy files have a mistake, so the rules from "))
        #expect(why.contains("allows only the keys givenName"))
        let explained = try contactctl("policy", "explain", in: fixture)
        #expect(explained.errors.contains("these former rules stay in force: \(place)"))
        #expect(try keeper.call("GetAuthorization").word == "full")
        // A second mistake changes nothing.
        try fixture.write(policy: "rule = 1")
        _ = try contactctl("reload", in: fixture)
        #expect(try keeper.call("GetAuthorization").word == "full")
        try fixture.write(policy: Self.broken)
        // A start has no former rules, so it refuses every app.
        try fixture.stop()
        try fixture.start()
        #expect(try fixture.app("keeper").fetch().error == "AccessDenied")
        #expect(try fixture.status()["policyProblem"]?.hasPrefix("every app is refused: " + place) == true)
        let refusing = try contactctl("status", in: fixture)
        #expect(refusing.end == .exited(3) && refusing.output.contains("refuses every app: " + place))
        #expect(try contactctl("why", "keeper", in: fixture).output.contains("the policy cannot be read"))
        #expect(
            try contactctl("reload", in: fixture).errors.contains(
                "Every app is refused until the file is corrected. Correct it, then run: contactctl reload"))
        #expect(try fixture.app("stranger").call("GetAuthorization").word == "restricted")
        try fixture.write(policy: "")
        #expect(try contactctl("reload", in: fixture).output == "no rules: the person decides everything\n")
        #expect(try fixture.app("keeper").fetch().names == DaemonFixture.names)
        #expect(try fixture.status()["policyProblem"] == nil)
        #expect(try contactctl("status", in: fixture).end == .exited(0))
    }

    @Test("A file next to policy files that nothing reads is named by reload, check and explain")
    func unread() throws {
        let fixture = try DaemonFixture()
        let deny = "[[rule]]\ndeny = true\n"
        for name in ["20.TOML", "20.conf", ".20.toml"] { try fixture.write(policy: deny, to: name) }
        try fixture.write(policy: "[[rule]]\nforbid_prompting = true\n")
        let reload = try contactctl("reload", in: fixture)
        #expect(reload.output == "1 rule is in force\n")
        for said in [
            reload.errors, try contactctl("policy", "explain", in: fixture).errors,
            try contactctl("policy", "check", fixture.policyFolder, in: fixture).errors,
        ] {
            for name in ["20.TOML", "20.conf", ".20.toml"] {
                #expect(said.contains("not read: \(fixture.policyFolder)/\(name);"), "\(said)")
            }
            #expect(!said.contains("10-test.toml"))
        }
    }

    @Test("A policy file that others can write to is not loaded")
    func writable() throws {
        let fixture = try DaemonFixture()
        let keeper = try fixture.keeper(with: fixture.person())
        try fixture.write(policy: "")
        chmod(fixture.policyFolder + "/10-test.toml", 0o666)
        #expect(try fixture.reload().contains("others can write to it"))
        #expect(try keeper.call("GetAuthorization").word == "full")
        try fixture.stop()
        try fixture.start()
        #expect(try fixture.app("keeper").call("GetAuthorization").word == "restricted")
        chmod(fixture.policyFolder + "/10-test.toml", 0o600)
        #expect(try fixture.reload() == "0")
        #expect(try fixture.app("keeper").call("GetAuthorization").word == "full")
    }

    @Test("Each start and each reload is recorded with a hash, without text of the files")
    func audit() throws {
        let fixture = try DaemonFixture()
        try fixture.rule("[[rule]]\nname = \"a secret name\"\nforbid_prompting = true\n")
        try fixture.write(policy: Self.broken, to: "20.toml")
        _ = try fixture.reload()
        let details = try fixture.audit("policy").map { $0["detail"]?.string ?? "" }
        #expect(details.count == 3)
        #expect(details[0] == "0 rules")
        #expect(details[1].hasPrefix("1 rule, sha256:"))
        #expect(details[1].count == "1 rule, sha256:".count + 64)
        #expect(details[2] == "unreadable, the former rules stay in force")
        #expect(try contactctl("verify", in: fixture).end == .exited(0))
    }

    @Test("A reload ends the running list of an app that loses access, but not an allowed watch")
    func endsStreams() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let filler = String(repeating: "x", count: 1_000)
        let crowd = (0..<4_000).map { #""givenName":"N\#($0)","organizationName":"\#(filler)""# }
        let app = try fixture.keeper(adding: crowd, with: person)
        try app.begin("FetchContacts", #"{"keys":["givenName","organizationName"]}"#, more: true)
        let first = try app.reply()
        #expect(first.continues)
        var received = first.names.count
        let watcher = try fixture.app("keeper")
        try watcher.begin("WatchChanges", more: true)
        #expect(try watcher.reply()["historyToken"] != nil)
        try fixture.rule("[[rule]]\nstrengths = [\"unverified\"]\nmaximum_level = \"limited\"\n")
        var isOver = false
        while let frame = try app.line.frame() {
            let reply = try Answer(frame)
            received += reply.names.count
            guard !reply.continues else { continue }
            #expect(reply.error == "AccessDenied")
            isOver = true
            break
        }
        #expect(isOver || app.line.isClosed)
        #expect(received < 4_000)
        #expect(try fixture.audit("withheld").count == 1)
        #expect(try fixture.app("keeper").fetch().names.isEmpty)
        // The watcher is notified, because its view has become empty.
        #expect(try watcher.reply()["historyToken"] != nil)
        try fixture.rule("[[rule]]\ndeny = true\n")
        #expect(try watcher.reply().error == "AccessDenied")
    }

    @Test("A rule about other apps does not change an app's access")
    func leavesOthers() throws {
        let fixture = try DaemonFixture()
        let keeper = try fixture.keeper(with: fixture.person())
        let watcher = try fixture.app("keeper")
        try watcher.begin("WatchChanges", more: true)
        let token = try #require(watcher.reply()["historyToken"]?.string)
        try fixture.rule("[[rule]]\nstrengths = [\"sandboxed\", \"claimed\"]\ndeny = true\n")
        #expect(try keeper.call("GetAuthorization").word == "full")
        #expect(try keeper.fetch()["historyToken"]?.string == token)
        #expect(!watcher.line.hasNews)
    }

    @Test("contactctl why explains what was decided, which rules change it, and the effective access")
    func why() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let free = try contactctl("why", "keeper", in: fixture)
        #expect(free.end == .exited(0))
        #expect(free.output.contains(": full\n  you allowed it all contacts on "))
        #expect(free.output.contains("no policy rule matches it"))
        try fixture.rule(
            "# a rule\n\n[[rule]]\nname = \"single\"\nstrengths = [\"unverified\"]\nmaximum_level = \"limited\"\n")
        let ruled = try contactctl("why", "keeper", in: fixture).output.split(separator: "\n")
        #expect(ruled.first?.hasSuffix("): limited") == true)
        #expect(ruled.dropFirst().first?.hasPrefix("  you allowed it all contacts on ") == true)
        #expect(
            ruled.dropFirst(2) == [
                "  policy \(fixture.policyFolder)/10-test.toml:3 “single” allows limited access at most",
                "  the decision (full) is stored, and applies again without these rules",
                "  so it sees 0 contacts, and may add contacts, and change and delete those that it sees",
            ])
        #expect(try contactctl("apps", in: fixture).output.contains("limited by policy"))
        #expect(
            try contactctl("show", "keeper", in: fixture).words.contains("policy changes full to limited by policy"))
        #expect(try contactctl("revoke", "keeper", in: fixture).end == .exited(0))
        let revoked = try contactctl("why", "keeper", in: fixture).output.split(separator: "\n").dropFirst().first
        #expect(revoked?.hasPrefix("  you revoked it on ") == true && revoked?.hasSuffix(" with contactctl") == true)
        let nobody = try contactctl("why", "nobody", in: fixture)
        #expect(nobody.end == .exited(1))
        #expect(nobody.errors.contains("no app matches \"nobody\""))
        #expect(
            try contactctl("why", "org.example.Mail", "--strength", "sandboxed", in: fixture).output.hasPrefix(
                "org.example.Mail: not decided\n"))
    }

    @Test("ListPending lists the open prompts without their purpose")
    func pending() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.app("mail")
        try app.begin("RequestAccess", #"{"purpose":"a secret purpose"}"#)
        _ = try person.prompt()
        let pending = try fixture.administrator().call("io.contactbroker.Admin.ListPending")
        let prompts = pending["prompts"]?.elements.map(Array.init) ?? []
        #expect(prompts.count == 1)
        #expect(prompts.first?["displayName"]?.string == "mail")
        #expect(prompts.first?["kind"]?.string == "access")
        #expect(prompts.first?["shown"]?.bool == true)
        #expect(!String(decoding: pending.text, as: UTF8.self).contains("secret"))
    }

    @Test("The policy is read from the person's configuration; the broker does not start if it has no folder for it")
    func places() throws {
        let fixture = try DaemonFixture(starting: false)
        try fixture.write(policy: "[[rule]]\ndeny = true\n")
        let arguments = ["--session", "--runtime-dir", fixture.runtime, "--state-dir", fixture.state]
        let log = open(fixture.folder + "/journal2", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(log) }
        let lost = try ChildProcess(
            DaemonFixture.programs + "/contactbrokerd", arguments, descriptors: [(1, log), (2, log)])
        #expect(try lost.waitForEnd() == .exited(2))
        #expect(DaemonFixture.text(of: fixture.folder + "/journal2").contains("the policy cannot be found"))
        #expect(rename(fixture.configuration, fixture.folder + "/contactbroker") == 0)
        let broker = try ChildProcess(
            DaemonFixture.programs + "/contactbrokerd", arguments,
            environment: ["PATH": "/usr/bin:/bin", "XDG_CONFIG_HOME": fixture.folder],
            descriptors: [(1, log), (2, log)])
        try fixture.waitUntilServed(by: broker)
        #expect(try fixture.status()["policyRules"] == "1")
        #expect(try fixture.app("mail").call("GetAuthorization").word == "restricted")
        broker.signal(SIGTERM)
        #expect(try broker.waitForEnd() == .exited(0))
    }
}
