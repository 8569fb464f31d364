import BrokerJSON
import BrokerVarlinkClient
import Glibc
import Testing

@Suite("Loading the administrator's policy", .timeLimit(.minutes(10)))
struct PolicyLoadingTests {
    private static let broken = "[[rule]]\nmaximum_level = \"limited\"\n\n[[rule]]\nforce = \"most\"\n"

    private func contactctl(_ arguments: String..., in house: House) throws -> Command {
        try Command(House.programs + "/contactctl", arguments, in: house)
    }

    @Test("An unreadable policy refuses every app and is reported with file and line until a reload succeeds")
    func broken() throws {
        let house = try House()
        let person = try house.person()
        let keeper = try house.keeper(with: person)
        try house.write(policy: Self.broken)
        let said = try contactctl("reload", in: house)
        let place = house.policyFolder + "/10-test.toml:5: rule[1].force: "
        #expect(said.end == .exited(1))
        #expect(said.errors.contains(place))
        #expect(try house.status()["policyProblem"]?.contains(place) == true)
        #expect(try contactctl("status", in: house).words.contains("policy problem every app is refused: " + place))
        #expect(house.journal.contains(place))
        #expect(try contactctl("why", "keeper", in: house).output.contains("the policy cannot be read"))
        let stranger = try house.app("stranger")
        for app in [keeper, stranger] {
            #expect(try app.call("GetAuthorization").word == "restricted")
            #expect(try app.fetch().error == "AccessDenied")
        }
        // The same is true after a restart.
        try house.stop()
        try house.start()
        #expect(try house.app("keeper").fetch().error == "AccessDenied")
        #expect(try house.status()["policyProblem"]?.contains(place) == true)
        try house.write(policy: "")
        #expect(try contactctl("reload", in: house).output == "no rules: the person decides everything\n")
        #expect(try house.app("keeper").fetch().names == House.names)
        #expect(try house.status()["policyProblem"] == nil)
    }

    @Test("A policy file that others can write to refuses every app")
    func writable() throws {
        let house = try House()
        let keeper = try house.keeper(with: house.person())
        try house.write(policy: "")
        chmod(house.policyFolder + "/10-test.toml", 0o666)
        #expect(try house.reload().contains("others can write to it"))
        #expect(try keeper.call("GetAuthorization").word == "restricted")
        chmod(house.policyFolder + "/10-test.toml", 0o600)
        #expect(try house.reload() == "0")
        #expect(try keeper.call("GetAuthorization").word == "full")
    }

    @Test("Each start and each reload is recorded with a hash, without text of the files")
    func audit() throws {
        let house = try House()
        try house.rule("[[rule]]\nname = \"a secret name\"\nforbid_prompting = true\n")
        try house.write(policy: Self.broken, to: "20.toml")
        _ = try house.reload()
        let details = try house.audit("policy").map { $0["detail"]?.string ?? "" }
        #expect(details.count == 3)
        #expect(details[0] == "0 rules")
        #expect(details[1].hasPrefix("1 rule, sha256:"))
        #expect(details[1].count == "1 rule, sha256:".count + 64)
        #expect(details[2] == "unreadable")
        #expect(try contactctl("verify", in: house).end == .exited(0))
    }

    @Test("A reload ends the running list of an app that loses access, but not an allowed watch")
    func endsStreams() throws {
        let house = try House()
        let person = try house.person()
        let filler = String(repeating: "x", count: 1_000)
        let crowd = (0..<4_000).map { #""givenName":"N\#($0)","organizationName":"\#(filler)""# }
        let app = try house.keeper(adding: crowd, with: person)
        try app.begin("FetchContacts", #"{"keys":["givenName","organizationName"]}"#, more: true)
        let first = try app.reply()
        #expect(first.continues)
        var received = first.names.count
        let watcher = try house.app("keeper")
        try watcher.begin("WatchChanges", more: true)
        #expect(try watcher.reply()["historyToken"] != nil)
        try house.rule("[[rule]]\nstrengths = [\"unverified\"]\nmaximum_level = \"limited\"\n")
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
        #expect(try house.audit("withheld").count == 1)
        #expect(try house.app("keeper").fetch().names.isEmpty)
        // The watcher is notified, because its view is empty now.
        #expect(try watcher.reply()["historyToken"] != nil)
        try house.rule("[[rule]]\ndeny = true\n")
        #expect(try watcher.reply().error == "AccessDenied")
    }

    @Test("A rule about other apps does not change an app's access")
    func leavesOthers() throws {
        let house = try House()
        let keeper = try house.keeper(with: house.person())
        let watcher = try house.app("keeper")
        try watcher.begin("WatchChanges", more: true)
        let token = try #require(watcher.reply()["historyToken"]?.string)
        try house.rule("[[rule]]\nstrengths = [\"sandboxed\", \"claimed\"]\ndeny = true\n")
        #expect(try keeper.call("GetAuthorization").word == "full")
        #expect(try keeper.fetch()["historyToken"]?.string == token)
        #expect(!watcher.line.hasNews)
    }

    @Test("contactctl why explains what was decided, which rules change it, and the effective access")
    func why() throws {
        let house = try House()
        let person = try house.person()
        try house.keeper(with: person)
        let free = try contactctl("why", "keeper", in: house)
        #expect(free.end == .exited(0))
        #expect(free.output.hasPrefix("keeper: full\n  the person allowed it all contacts on "))
        #expect(free.output.contains("no policy rule matches it"))
        try house.rule(
            "# a rule\n\n[[rule]]\nname = \"single\"\nstrengths = [\"unverified\"]\nmaximum_level = \"limited\"\n")
        let ruled = try contactctl("why", "keeper", in: house).output.split(separator: "\n")
        #expect(ruled.first == "keeper: limited")
        #expect(ruled.dropFirst().first?.hasPrefix("  the person allowed it all contacts on ") == true)
        #expect(
            ruled.dropFirst(2) == [
                "  policy \(house.policyFolder)/10-test.toml:3 “single” allows limited access at most",
                "  the decision (full) is stored, and applies again without these rules", "  so it sees 0 contacts",
            ])
        #expect(try contactctl("apps", in: house).output.contains("full, by policy limited"))
        #expect(try contactctl("show", "keeper", in: house).words.contains("policy makes it limited"))
        let nobody = try contactctl("why", "nobody", in: house)
        #expect(nobody.end == .exited(1))
        #expect(nobody.errors.contains("no app is called nobody"))
        #expect(
            try contactctl("why", "org.example.Mail", "--strength", "sandboxed", in: house).output.hasPrefix(
                "org.example.Mail: notDetermined\n"))
    }

    @Test("ListPending lists the open prompts without their purpose")
    func pending() throws {
        let house = try House()
        let person = try house.person()
        let app = try house.app("mail")
        try app.begin("RequestAccess", #"{"purpose":"a secret purpose"}"#)
        _ = try person.prompt()
        let pending = try house.administrator().call("io.contactbroker.Admin.ListPending")
        let prompts = pending["prompts"]?.elements.map(Array.init) ?? []
        #expect(prompts.count == 1)
        #expect(prompts.first?["displayName"]?.string == "mail")
        #expect(prompts.first?["kind"]?.string == "access")
        #expect(prompts.first?["shown"]?.bool == true)
        #expect(!String(decoding: pending.text, as: UTF8.self).contains("secret"))
    }

    @Test("The policy is read from the person's configuration; the broker does not start if it has no folder for it")
    func places() throws {
        let house = try House(starting: false)
        try house.write(policy: "[[rule]]\ndeny = true\n")
        let arguments = ["--session", "--runtime-dir", house.runtime, "--state-dir", house.state]
        let log = open(house.folder + "/journal2", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(log) }
        let lost = try ChildProcess(
            House.programs + "/contactbrokerd", arguments, descriptors: [(1, log), (2, log)])
        #expect(try lost.waitForEnd() == .exited(2))
        #expect(House.text(of: house.folder + "/journal2").contains("the policy cannot be found"))
        #expect(rename(house.configuration, house.folder + "/contactbroker") == 0)
        let broker = try ChildProcess(
            House.programs + "/contactbrokerd", arguments,
            environment: ["PATH": "/usr/bin:/bin", "XDG_CONFIG_HOME": house.folder],
            descriptors: [(1, log), (2, log)])
        try house.waitUntilServed(by: broker)
        #expect(try house.status()["policyRules"] == "1")
        #expect(try house.app("mail").call("GetAuthorization").word == "restricted")
        broker.signal(SIGTERM)
        #expect(try broker.waitForEnd() == .exited(0))
    }
}
