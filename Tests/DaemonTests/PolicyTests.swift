import BrokerJSON
import Glibc
import Testing

/// A rule for every unverified app, as all apps of these tests are.
private func unverified(_ effect: String) -> String {
    "[[rule]]\nname = \"test\"\nstrengths = [\"unverified\"]\n\(effect)\n"
}

@Suite("The administrator's policy", .timeLimit(.minutes(10)))
struct PolicyTests {
    let fixture: DaemonFixture
    let person: Person
    /// An app with full access.
    let keeper: App

    init() throws {
        fixture = try DaemonFixture()
        person = try fixture.person()
        keeper = try fixture.keeper(with: person)
    }

    private static let calls: [(String, String)] = [
        ("FetchContacts", App.fetching("")), ("CountContacts", "{}"), ("FetchHistory", "{}"), ("ListGroups", "{}"),
        ("ListContainers", "{}"), ("GetUserDefaults", "{}"), ("SetUserDefaults", #"{"sortOrder":"givenName"}"#),
        ("SaveContacts", App.saving([App.adding(given: "New")])), ("ListLinkedContacts", #"{"identifier":"x"}"#),
        ("RequestContacts", #"{"query":"ada"}"#), ("PickContacts", "{}"),
        ("ProposeContact", #"{"contact":{"givenName":"New"}}"#),
    ]

    @Test("An app under a deny rule is restricted and can do nothing, and has its access again without the rule")
    func denies() throws {
        let stranger = try fixture.app("stranger")
        try fixture.rule(unverified("deny = true"))
        for app in [keeper, stranger] {
            #expect(try app.call("GetAuthorization").word == "restricted")
            #expect(try app.call("GetAuthorization")["keys"] == nil)
            #expect(try app.call("RequestAccess").word == "restricted")
            for (method, parameters) in Self.calls {
                #expect(try app.call(method, parameters).error == "AccessDenied", "\(method)")
            }
            try app.begin("WatchChanges", more: true)
            #expect(try app.reply().error == "AccessDenied")
            #expect(try app.call("ManageAccess").text == #"{"parameters":{"identifiers":[]}}"#)
        }
        #expect(try person.wasNotAsked())
        #expect(try fixture.audit("refusal").allSatisfy { $0["status"]?.string == "restricted" })
        try fixture.rule("")
        #expect(try keeper.call("GetAuthorization").word == "full")
        #expect(try keeper.fetch().names == DaemonFixture.names)
        #expect(try stranger.call("GetAuthorization").word == "notDetermined")
    }

    @Test("A deny rule wins over every other rule, in any order")
    func denialWins() throws {
        for rules in [["deny = true", "maximum_level = \"limited\""], ["force = \"denied\"", "deny = true"]] {
            // In one file, a forced level that never applies is an error.
            for (name, effect) in zip(["10.toml", "20.toml"], rules) {
                try fixture.write(policy: "[[rule]]\nstrengths = [\"unverified\"]\n\(effect)\n", to: name)
            }
            #expect(try fixture.reload() == "2")
            #expect(try keeper.call("GetAuthorization").word == "restricted")
        }
    }

    @Test("A forced denial reads as denied, and the person's decision applies again without the rule")
    func forcesDenied() throws {
        try fixture.rule(unverified("force = \"denied\""))
        #expect(try keeper.call("GetAuthorization").word == "denied")
        #expect(try keeper.fetch().error == "AccessDenied")
        let stranger = try fixture.app("stranger")
        #expect(try stranger.call("RequestAccess").word == "denied")
        #expect(try stranger.fetch().error == "AccessDenied")
        // A grant would have no effect, so the person is not prompted.
        #expect(try stranger.call("RequestContacts", #"{"query":"ada"}"#).strings("identifiers") == [])
        #expect(try person.wasNotAsked())
        try fixture.rule("")
        #expect(try keeper.fetch().names == DaemonFixture.names)
        #expect(try stranger.call("GetAuthorization").word == "notDetermined")
    }

    @Test("If a rule caps access at limited, a full grant shows no contacts, and full access cannot be granted")
    func capsLevel() throws {
        try fixture.rule(unverified("maximum_level = \"limited\""))
        #expect(try keeper.call("GetAuthorization").word == "limited")
        #expect(try keeper.fetch().names.isEmpty)
        #expect(try keeper.call("CountContacts")["count"]?.integer == 0)
        let mail = try fixture.app("mail")
        try mail.begin("RequestAccess")
        let prompt = try person.prompt()
        #expect(prompt["maximumLevel"]?.string == "limited")
        #expect(try person.answer(prompt, #""level":"full","lifetime":"untilRevoked""#).error == "InvalidAnswer")
        let ada = try #require(person.search(prompt).first { $0.name == "Ada Lovelace" })
        #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(ada.identifier)"]"#).error == nil)
        #expect(try mail.reply().word == "limited")
        #expect(try mail.fetch().names == ["Ada Lovelace"])
        try fixture.rule("")
        #expect(try keeper.fetch().names == DaemonFixture.names)
        #expect(try mail.fetch().names == ["Ada Lovelace"])
    }

    @Test("Granting a contact under a cap does not narrow the keys that the person chose")
    func keepsTerms() throws {
        try fixture.rule(unverified("maximum_level = \"limited\"\nmaximum_keys = [\"givenName\", \"familyName\"]"))
        let mail = try fixture.app("mail", .only(["Grace Hopper"]), by: person)
        try mail.begin("RequestContacts", #"{"query":"ada"}"#)
        let prompt = try person.prompt()
        let ada = try #require(person.search(prompt, "ada").first)
        #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(ada.identifier)"]"#).error == nil)
        #expect(try mail.reply().strings("identifiers").count == 1)
        let asking = #"{"keys":["givenName","emailAddresses"],"sortOrder":"givenName"}"#
        let mails = { (answer: Answer) in
            answer["contacts"]?.elements?.map { Int($0["emailAddresses"]?.count ?? -1) }
        }
        #expect(try mails(mail.call("FetchContacts", asking)) == [0, 0])
        try fixture.rule("")
        #expect(try mails(mail.call("FetchContacts", asking)) == [1, 1])
    }

    @Test("A key outside the cap cannot be read, matched, sorted by, followed in the history or written")
    func capsKeys() throws {
        let before = try keeper.fetch()
        let ada = before.identifiers[2]
        let token = try #require(before["historyToken"]?.string)
        try fixture.rule(unverified("maximum_keys = [\"contactType\", \"givenName\", \"emailAddresses\"]"))
        #expect(
            try keeper.call("GetAuthorization").strings("keys") == ["contactType", "givenName", "emailAddresses"])
        let all = try keeper.call("FetchContacts", #"{"keys":["givenName","familyName","phoneNumbers"]}"#)
        #expect(Set(all.names) == ["Ada", "Grace", "Lin", "Emmy"])
        #expect(all["contacts"]?.elements?.allSatisfy { $0["phoneNumbers"]?.count == 0 } == true)
        let matched = { (predicate: String) in
            try keeper.fetch(#""predicate":\#(predicate)"#).names
        }
        #expect(try matched(#"{"phoneNumber":"+44 20 7946 0001"}"#) == [])
        #expect(try matched(#"{"name":"lovelace"}"#) == [])
        #expect(try matched(#"{"name":"ada"}"#) == ["Ada"])
        #expect(try matched(#"{"emailAddress":"ada@example.org"}"#) == ["Ada"])
        // Sorted by family name, the order would be Grace, Lin, Ada, Emmy.
        #expect(try keeper.fetch().names == keeper.fetch(#""sortOrder":"givenName""#).names)
        let fetch = try keeper.call("FetchContacts", #"{"keys":["note"]}"#)
        #expect(fetch.error == "UnauthorizedKeys")
        // The cap has changed the app's view, so the old token names no position in its history.
        let history = try keeper.call("FetchHistory", #"{"token":"\#(token)","keys":["givenName"]}"#)
        #expect(history["events"]?.elements?.first { _ in true }?["kind"]?.string == "dropEverything")

        let update = #"{"operation":"update","contact":{"identifier":"\#(ada)","familyName":"Byron"}}"#
        #expect(try keeper.save([update]).error == "UnauthorizedKeys")
        let refused = try keeper.save([App.adding(given: "New"), App.adding(given: "Other", family: "Name")])
        #expect(refused.error == "UnauthorizedKeys")
        #expect(refused.strings("keys") == ["familyName"])
        #expect(try keeper.save([App.adding(given: "Other")]).error == nil)
        let proposal = #"{"contact":{"givenName":"New","phoneNumbers":[{"value":"1"}]}}"#
        #expect(try keeper.call("ProposeContact", proposal).error == "UnauthorizedKeys")
        #expect(try person.wasNotAsked())
        try fixture.rule("")
        #expect(try keeper.fetch().names.count == 5)
    }

    @Test("A picked contact has only the allowed keys, and the app's rule sees no other key")
    func capsPicks() throws {
        try fixture.rule(unverified("maximum_keys = [\"givenName\", \"familyName\"]"))
        let app = try fixture.app("app")
        try app.begin("PickContacts", #"{"keys":["givenName","phoneNumbers","emailAddresses"]}"#)
        var prompt = try person.prompt()
        #expect(prompt["keys"]?.elements?.compactMap(\.string) == ["givenName"])
        var ada = try #require(person.search(prompt).first { $0.name == "Ada Lovelace" }).identifier
        #expect(try person.answer(prompt, #""picked":[{"contact":"\#(ada)","key":"identifier"}]"#).error == nil)
        let contact = try #require(app.reply()["contacts"]?.elements?.first { _ in true })
        #expect(contact["givenName"]?.string == "Ada")
        #expect(contact["phoneNumbers"]?.count == 0)
        #expect(contact["emailAddresses"]?.count == 0)

        // The policy becomes stricter while the person chooses.
        try fixture.rule("")
        try app.begin("PickContacts", #"{"keys":["givenName","phoneNumbers"]}"#)
        prompt = try person.prompt()
        ada = try #require(person.search(prompt).first { $0.name == "Ada Lovelace" }).identifier
        try fixture.rule(unverified("maximum_keys = [\"givenName\"]"))
        #expect(try person.answer(prompt, #""picked":[{"contact":"\#(ada)","key":"identifier"}]"#).error == nil)
        let late = try #require(app.reply()["contacts"]?.elements?.first { _ in true })
        #expect(late["givenName"]?.string == "Ada")
        #expect(late["phoneNumbers"]?.count == 0)

        try app.begin("PickContacts", #"{"enabling":{"hasKeys":["phoneNumbers"]}}"#)
        prompt = try person.prompt()
        ada = try #require(person.search(prompt).first { $0.name == "Ada Lovelace" }).identifier
        let picked = #""picked":[{"contact":"\#(ada)","key":"identifier"}]"#
        #expect(try person.answer(prompt, picked).error == "InvalidAnswer")
        try person.answer(prompt)
        _ = try app.reply()
    }

    @Test("A rule that forbids prompting prevents every prompt and keeps earlier decisions")
    func forbidsPrompting() throws {
        try fixture.rule(unverified("forbid_prompting = true"))
        let app = try fixture.app("app")
        #expect(try app.call("RequestAccess").word == "notDetermined")
        #expect(try app.fetch().error == "AuthorizationNotDetermined")
        #expect(try app.save([App.adding(given: "New")]).error == "AuthorizationNotDetermined")
        #expect(try app.call("RequestContacts", #"{"query":"ada"}"#).text == #"{"parameters":{"identifiers":[]}}"#)
        #expect(try app.call("PickContacts").text == #"{"parameters":{"contacts":[]}}"#)
        #expect(try app.call("ProposeContact", #"{"contact":{"givenName":"New"}}"#).text == #"{"parameters":{}}"#)
        #expect(try keeper.fetch().names == DaemonFixture.names)
        #expect(try person.wasNotAsked())
    }

    @Test("If no password can be asked for, a grant that requires one is refused unless the policy allows it")
    func requiresAuthentication() throws {
        try fixture.rule(unverified("require_authentication = true"))
        let app = try fixture.app("app")
        #expect(try app.call("RequestAccess").word == "notDetermined")
        #expect(try person.wasNotAsked())
        try fixture.rule(unverified("require_authentication = true") + "[agent]\nwithout_authentication = \"allow\"\n")
        try app.begin("RequestAccess")
        try person.answer(.everything)
        #expect(try app.reply().word == "full")
    }

    @Test("If the policy refuses grants that require a password, at most 25 contacts can be granted")
    func refusesMuch() throws {
        try fixture.rule("[agent]\nwithout_authentication = \"refuse\"\n")
        #expect(try keeper.save((0..<30).map { App.adding(given: "N\($0)") }).error == nil)
        let app = try fixture.app("app")
        try app.begin("RequestAccess")
        let prompt = try person.prompt()
        #expect(prompt["maximumLevel"]?.string == "limited")
        #expect(try person.answer(prompt, #""level":"full","lifetime":"untilRevoked""#).error == "AuthenticationFailed")
        let rows = try person.search(prompt).map(\.identifier)
        let many = #""level":"limited","identifiers":\#(quoted(Array(rows.prefix(26))))"#
        #expect(try person.answer(prompt, many).error == "AuthenticationFailed")
        let few = #""level":"limited","identifiers":\#(quoted(Array(rows.prefix(25))))"#
        #expect(try person.answer(prompt, few).error == nil)
        #expect(try app.reply().word == "limited")
        #expect(try app.fetch().names.count == 25)
    }

    @Test("The prompt shows when a grant ends at the latest, and a longer grant is refused")
    func limitsLifetime() throws {
        try fixture.rule(unverified("maximum_lifetime = \"1h\""))
        let app = try fixture.app("app")
        try app.begin("RequestAccess")
        let prompt = try person.prompt()
        let end = try #require(prompt["endsAt"]?.string)
        let late = #""level":"full","lifetime":"untilTime","expires":"2099-01-01T00:00:00Z""#
        #expect(try person.answer(prompt, late).error == "InvalidAnswer")
        #expect(try person.answer(prompt, #""level":"full","lifetime":"untilRevoked""#).error == nil)
        #expect(try app.reply().word == "full")
        let expires = try #require(app.call("GetAuthorization")["expires"]?.string)
        #expect(expires >= end)
        // The rule also ends the older grant, but only while it applies. The newer grant keeps its end without the
        // rule.
        #expect(try keeper.call("GetAuthorization")["expires"] != nil)
        try fixture.rule("")
        #expect(try keeper.call("GetAuthorization")["expires"] == nil)
        #expect(try app.call("GetAuthorization")["expires"]?.string == expires)
    }

    @Test("While the policy refuses an app, the person can revoke its grant but not grant anything")
    func takesBack() throws {
        try fixture.rule(unverified("deny = true"))
        let grants = try person.call("ListGrants", #"{"agent":"\#(person.token)"}"#)
        let grant = try #require(grants["grants"]?.elements?.first { _ in true })
        #expect(grant["status"]?.string == "restricted")
        let name = quoted(grant["app"]?.string ?? "")
        let opened = try person.call(
            "Manage", #"{"agent":"\#(person.token)","app":\#(name),"strength":"unverified"}"#)
        let prompt = try #require(opened["prompt"])
        #expect(prompt["currentStatus"]?.string == "restricted")
        #expect(try person.answer(prompt, #""level":"limited""#).error == "InvalidAnswer")
        #expect(try person.answer(prompt, #""level":"denied""#).error == nil)
        try fixture.rule("")
        #expect(try keeper.call("GetAuthorization").word == "denied")
    }

    @Test("A prompt that the policy no longer allows is withdrawn")
    func withdrawsPrompts() throws {
        let app = try fixture.app("app")
        try app.begin("FetchContacts", App.fetching(""))
        let prompt = try person.prompt()
        try fixture.rule(unverified("deny = true"))
        try person.waitForWithdrawal(of: prompt)
        #expect(try app.reply().error == "AccessDenied")
        #expect(try person.answer(prompt, #""level":"full","lifetime":"untilRevoked""#).error == "UnknownPrompt")
        try fixture.rule("")
        #expect(try app.call("GetAuthorization").word == "notDetermined")
    }
}
