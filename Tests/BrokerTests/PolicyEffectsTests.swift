import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerAdminCalls
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Trying and explaining the policy")
struct PolicyEffectsTests {
    let fixture: BrokerFixture
    let keeper: TestApp
    let administrator: TestApp

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.keeper(adding: "Ada", "Grace")
        administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
    }

    /// Tries a policy of these files, and returns the reply.
    private func tried(_ texts: String...) throws -> Answer {
        var writer = JSONWriter()
        writer.object {
            $0.name("files")
            $0.array(texts.enumerated()) { writer, text in
                writer.object {
                    $0.member("name", "\(text.offset).toml")
                    $0.member("text", text.element)
                }
            }
        }
        return try administrator.call("TryPolicy", String(decoding: writer.bytes, as: UTF8.self))
    }

    /// The changes, each as `APP: BEFORE -> AFTER`.
    private func changes(_ text: String) throws -> [String] {
        let reply = try tried(text)
        #expect(reply.error == nil)
        return (reply.parameters["changes"]?.elements.map(Array.init) ?? []).map {
            "\($0["app"]?.string ?? ""): \(Self.words($0["before"])) -> \(Self.words($0["after"]))"
        }
    }

    private static func words(_ effect: JSONValue?) -> String {
        var words = effect?["status"]?.string ?? ""
        if let keys = effect?["keys"], keys.count < 5 { words += " \(keys.count) keys" }
        if let expires = effect?["expires"]?.string { words += " until \(expires)" }
        if effect?["mayAsk"]?.bool == true { words += " asks" }
        if effect?["password"]?.bool == true { words += " password" }
        if let level = effect?["maximumLevel"]?.string { words += " \(level)" }
        if let lifetime = effect?["maximumLifetime"]?.integer { words += " \(lifetime) s" }
        return words
    }

    @Test("A policy that is tried changes nothing, and lists the apps that it would change")
    func nothingChanges() throws {
        let weak = try fixture.app("weak", .full, strength: .unverified)
        _ = try fixture.app("strong", .full, strength: .sandboxed)
        // It is connected, and has no grant.
        let stranger = try fixture.app("stranger", strength: .unverified, uid: 1_001)
        #expect(try stranger.call("GetAuthorization").error == nil)
        let records = try fixture.audit(.policy)
        let end = Timestamp.text(seconds: fixture.surroundings.seconds + 7 * 86_400)
        let week = "[[rule]]\nstrengths = [\"unverified\"]\nmaximum_lifetime = \"7d\"\n"
        #expect(
            try changes(week) == [
                "weak: full asks -> full until \(end) asks",
                "stranger: notDetermined asks -> notDetermined asks 604800 s",
            ])
        #expect(try fixture.audit(.policy) == records)
        #expect(try weak.call("GetAuthorization").parameters["expires"] == nil)
        #expect(try weak.fetch().names == ["Ada", "Grace"])
        let reply = try tried(week)
        #expect(reply.parameters["rules"]?.integer == 1)
        #expect(reply.parameters["apps"]?.integer == 4)
    }

    @Test(
        "What an app would have is what it has once the policy is in force",
        arguments: [
            ("deny = true", "restricted"),
            ("force = \"denied\"", "denied asks"),
            ("maximum_level = \"limited\"", "limited asks"),
            ("maximum_keys = [\"givenName\", \"note\"]", "full 1 keys asks"),
            ("forbid_prompting = true", "full"),
            // Nothing can ask for a password, so the person is not asked either.
            ("require_authentication = true", "full"),
        ])
    func same(effect: String, after: String) throws {
        let app = try fixture.app("mail", .full, strength: .installed)
        let text = "[[rule]]\nstrengths = [\"installed\"]\n\(effect)\n"
        #expect(try changes(text) == ["mail: full asks -> \(after)"])
        fixture.reloads.bringIntoForce(
            fixture.surroundings.parsePolicy([PolicyText(file: "a", text: text)]))
        fixture.loop.iterate()
        let status = try app.call("GetAuthorization").parameters["status"]?.string
        #expect(status.map { after.hasPrefix($0) } == true)
        // Now it is in force, so nothing would change.
        #expect(try changes(text) == [])
    }

    @Test("A grant that would end because it was not used is shown as undecided, and stays")
    func unused() throws {
        let app = try fixture.app("mail", .full, strength: .installed)
        fixture.loop.advance(by: .seconds(20 * 86_400))
        let text = "[[rule]]\nstrengths = [\"installed\"]\nexpire_unused = \"10d\"\n"
        #expect(try changes(text) == ["mail: full asks -> notDetermined asks"])
        #expect(try app.fetch().names == ["Ada", "Grace"])
    }

    @Test("A mistake in a file is an error with its place, and changes nothing")
    func mistake() throws {
        let reply = try tried("", "[[rule]]\nforce = \"most\"\n")
        #expect(reply.error == "InvalidValue")
        #expect(reply.parameters["parameter"]?.string == "files")
        #expect(reply.parameters["reason"]?.string?.hasPrefix("1.toml:2: rule[0].force: ") == true)
        #expect(try keeper.fetch().names == ["Ada", "Grace"])
    }

    @Test("The broker does not open the files that a caller names")
    func names() throws {
        let files = #"{"files":[{"name":"/etc/passwd","text":"[[rule]]\ndeny = true\n"}]}"#
        #expect(try administrator.call("TryPolicy", files).parameters["rules"]?.integer == 1)
    }

    @Test(
        "Parameters that are not files, or too many or too large ones, are errors",
        arguments: [
            (#"{"files":"x"}"#, "InvalidParameter"), (#"{"files":[1]}"#, "InvalidParameter"),
            (#"{"files":[{"name":"a"}]}"#, "InvalidParameter"),
            (#"{"files":[{"name":"a","text":1}]}"#, "InvalidParameter"),
            (#"{"files":[{"name":"a","text":"","path":"b"}]}"#, "InvalidParameter"),
            (#"{"folder":"/etc"}"#, "InvalidParameter"),
        ])
    func parameters(parameters: String, error: String) throws {
        #expect(try administrator.call("TryPolicy", parameters).error == error)
    }

    @Test("The number and the size of the files are bounded")
    func bounds() throws {
        func files(_ count: Int, _ size: Int) -> String {
            let file = #"{"name":"a","text":"\#(String(repeating: "#", count: size))"}"#
            return #"{"files":[\#(Array(repeating: file, count: count).joined(separator: ","))]}"#
        }
        for (parameters, error) in [
            (files(256, 4_096), nil), (files(257, 1), "LimitExceeded"), (files(1, 1_048_577), "LimitExceeded"),
            (files(2, 600_000), "LimitExceeded"),
        ] {
            #expect(try administrator.call("TryPolicy", parameters).error == error)
        }
    }

    // MARK: The policy in force

    @Test("Each rule in force is explained, with the number of apps and users to which it applies")
    func explain() throws {
        _ = try fixture.app("weak", .full, strength: .unverified)
        _ = try fixture.app("weak", .denied, strength: .unverified, uid: 1_001)
        let text = """
            [agent]
            confirm = "password"
            [[rule]]
            name = "week"
            strengths = ["unverified"]
            maximum_lifetime = "7d"
            maximum_level = "limited"
            [[rule]]
            users = [7]
            deny = true
            """
        fixture.reloads.bringIntoForce(
            fixture.surroundings.parsePolicy([PolicyText(file: "a.toml", text: text)]))
        fixture.loop.iterate()
        let reply = try administrator.call("ExplainPolicy")
        let rules = reply.parameters["rules"]?.elements.map(Array.init) ?? []
        #expect(rules.map { $0["place"]?.string } == ["a.toml:3", "a.toml:8"])
        #expect(rules.map { $0["name"]?.string } == ["week", nil])
        #expect(rules.map { $0["subject"]?.string } == ["every unverified app", "every app, of user 7"])
        #expect(
            rules.first?["effects"]?.elements?.compactMap(\.string) == [
                "allows limited access at most", "lets a grant last 7 days at most",
            ])
        #expect(rules.map { $0["apps"]?.integer } == [2, 0])
        #expect(rules.map { $0["users"]?.integer } == [2, 0])
        #expect(reply.strings("settings") == ["every answer needs the person's password"])
    }

    @Test(
        "A policy that cannot be read is explained by its error, and each refusal says so",
        arguments: ["policy", "settings"])
    func unreadable(subject: String) throws {
        let problem = Policy.Problem(subject == "policy" ? .policy : .settings, "a.toml:1: x: no such key")
        // A start without rules that can be read; a reload would keep the former ones.
        fixture.grants.policy = PolicyInForce(
            Policy(unreadable: problem), revision: fixture.access.nextRevision(), loadedAt: 0,
            fixture.surroundings)
        fixture.history.movedOfAll()
        let reply = try administrator.call("ExplainPolicy")
        #expect(reply.error == "InvalidValue")
        #expect(reply.parameters["reason"]?.string == problem.reason)
        for (method, parameters) in [
            ("FetchContacts", #"{"keys":["givenName"]}"#), ("PickContacts", "{}"),
            ("RequestContacts", #"{"query":"ada"}"#),
            ("SaveContacts", #"{"changes":[{"operation":"add","contact":{"givenName":"New"}}]}"#),
        ] {
            let refused = try keeper.call(method, parameters)
            #expect(refused.error == "AccessDenied", "\(method)")
            #expect(refused.parameters["reason"]?.string == subject + "Unreadable", "\(method)")
        }
        let request = try keeper.call("RequestAccess")
        #expect(request.parameters["status"]?.string == "restricted")
        #expect(request.parameters["reason"]?.string == subject + "Unreadable")
        // The app does not learn the file or the mistake.
        #expect(!String(decoding: request.parameters.text, as: UTF8.self).contains("toml"))
    }

    @Test("A refusal by a rule does not say that the policy is unreadable")
    func refusedByRule() throws {
        fixture.reloads.bringIntoForce(
            fixture.surroundings.parsePolicy([PolicyText(file: "a", text: "[[rule]]\ndeny = true\n")]))
        fixture.loop.iterate()
        #expect(try keeper.fetch().parameters["reason"] == nil)
        #expect(try keeper.call("RequestAccess").parameters["reason"] == nil)
    }
}
