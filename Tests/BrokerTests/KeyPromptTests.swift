import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerAppCalls
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Prompts for keys that an app's grant lacks")
struct KeyPromptTests {
    private let authority = TestAuthority([.answer: .granted])
    private let fixture: BrokerFixture
    private let person: TestPerson

    private static let notes = #"{"purpose":"to show notes","keys":["givenName","note"]}"#

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        let keeper = try fixture.keeper(adding: "Ada", "Grace")
        _ = try keeper.save((0..<30).map { .add(given: "N\(10 + $0)") })
        person = try TestPerson(fixture: fixture)
    }

    private func limited(_ name: String = "mail", _ keys: ContactKeySet = Grant.ordinaryKeys) throws -> TestApp {
        try fixture.app(name, .limited(to: fixture.records("Ada")), keys: keys)
    }

    /// Makes a call that must prompt.
    private func ask(_ app: TestApp, _ parameters: String = notes) throws -> (call: Call, prompt: TestPerson.Prompt) {
        let call = try app.begin("RequestAccess", parameters)
        try #require(fixture.loop.run { call.isOver || fixture.prompts.openCount(1_000) > 0 })
        return (call, try #require(try person.prompts().last))
    }

    private func dismiss(_ app: TestApp) throws {
        let (call, prompt) = try ask(app)
        try person.answer(prompt)
        #expect(try app.replies(1, to: call)[0].text == #"{"status":"limited"}"#)
    }

    private func grant(_ app: TestApp) -> Grant? { fixture.access.grant(of: app.principal) }

    private func rule(_ fill: (inout Rule) -> Void) {
        var rule = Rule(place: "test.toml:1")
        fill(&rule)
        fixture.rule([rule])
    }

    @Test(
        "An app with access is asked about for the keys alone that its grant lacks, and gets those that the person gives"
    )
    func given() throws {
        let app = try limited()
        let before = try #require(grant(app))
        let (call, prompt) = try ask(app, #"{"purpose":"to show notes","keys":["givenName","note","extraProperties"]}"#)
        #expect(prompt.kind == "keys" && !prompt.isQuiet)
        let told = try #require(try person.told().last)
        #expect(told["keys"]?.elements?.compactMap(\.string) == ["note", "extraProperties"])
        #expect(told["purpose"]?.string == "to show notes")
        #expect(told["currentStatus"]?.string == "limited")
        #expect(try person.answer(prompt, #""keys":["note"]"#).text == "{}")
        #expect(try app.replies(1, to: call)[0].text == #"{"status":"limited"}"#)
        let after = try #require(grant(app))
        #expect(after.keys == before.keys.union(ContactKeySet(.note)))
        #expect(after.access == before.access && after.lifetime == before.lifetime)
        #expect(after.revision > before.revision)
        #expect(try app.call("FetchContacts", #"{"keys":["givenName","note"]}"#).names == ["Ada"])
        #expect(try fixture.audit(.grant).last == "limited untilRevoked, changes all")
        #expect(try fixture.audit(.answer).last?.hasPrefix("limited by ") == true)
        #expect(try fixture.audit(.prompt).last?.hasPrefix("keys purpose:") == true)
        // Nothing is lacking any more.
        #expect(try app.call("RequestAccess", Self.notes).text == #"{"status":"limited"}"#)
        #expect(authority.actions == [.answer])
    }

    @Test("A call without keys, or for keys that the app has, does not prompt")
    func nothingLacking() throws {
        let app = try limited()
        for parameters in ["{}", #"{"keys":[]}"#, #"{"keys":["identifier"]}"#, #"{"keys":["givenName"]}"#] {
            #expect(try app.call("RequestAccess", parameters).text == #"{"status":"limited"}"#)
        }
        // An app with full access sees all groups without the key.
        let full = try fixture.app("chat", .full)
        #expect(try full.call("RequestAccess", #"{"keys":["groups"]}"#).text == #"{"status":"full"}"#)
        let denied = try fixture.app("denied", .denied)
        #expect(try denied.call("RequestAccess", Self.notes).text == #"{"status":"denied"}"#)
        #expect(try person.prompts().isEmpty)
    }

    @Test("A refused fetch counts as having asked, so the person can give the key without a prompt")
    func refusedFetch() throws {
        for method in ["FetchContacts", "FetchHistory"] {
            let app = try limited("mail-" + method)
            #expect(try app.call(method, #"{"keys":["givenName"]}"#).error == nil)
            #expect(grant(app)?.asked == [])
            #expect(try app.call(method, #"{"keys":["givenName","note"]}"#).error == "UnauthorizedKeys")
            #expect(grant(app)?.asked == ContactKeySet(.note))
            #expect(try person.prompts().isEmpty)
            #expect(try person.manage(app, answering: #""level":"limited","keys":["givenName","note"]"#) == nil)
            #expect(try app.call(method, #"{"keys":["givenName","note"]}"#).error == nil)
        }
        // The person cannot give what the policy forbids.
        rule {
            $0.strengths = [.claimed]
            $0.maximumKeys = Grant.ordinaryKeys
        }
        let other = try limited("chat")
        #expect(try other.call("FetchContacts", #"{"keys":["note"]}"#).error == "UnauthorizedKeys")
        #expect(grant(other)?.asked == [])
    }

    @Test("An answer can give keys of the prompt and nothing else")
    func invalid() throws {
        let app = try limited()
        let (call, prompt) = try ask(app)
        let before = grant(app)
        let row = try #require(try person.rows(prompt).last).identifier
        for fields in [
            #""level":"full""#, #""level":"limited","keys":["note"]"#, #""keys":["note"],"identifiers":["\#(row)"]"#,
            #""keys":["note"],"removed":["\#(row)"]"#, #""keys":["note"],"lifetime":"untilRevoked""#, #""keys":[]"#,
            #""keys":["note","groups"]"#, #""keys":["phoneNumbers"]"#, #""keys":["note"],"addProposed":true"#,
            #""picked":[{"contact":"\#(row)","key":"identifier"}]"#,
        ] {
            #expect(try person.answer(prompt, fields).error == "InvalidAnswer", "\(fields)")
        }
        #expect(!call.isOver && grant(app) == before)
        #expect(try person.answer(prompt, #""keys":["note"]"#).error == nil)
        #expect(call.isOver)
    }

    @Test("An app that keeps asking is held off, and gets its level at once")
    func backOff() throws {
        let app = try limited()
        try dismiss(app)
        let before = grant(app)
        try dismiss(app)
        #expect(try app.call("RequestAccess", Self.notes).text == #"{"status":"limited"}"#)
        #expect(try person.prompts().isEmpty && grant(app) == before)
        #expect(try fixture.audit(.refusal).last == "too many prompts")
        // Other prompts of the app wait, too.
        #expect(try app.call("RequestContacts", #"{"query":"grace"}"#).error == "TooManyPrompts")
        fixture.loop.advance(by: .seconds(5))
        let (call, prompt) = try ask(app)
        #expect(try person.answer(prompt, #""keys":["note"]"#).error == nil)
        try #require(fixture.loop.run { call.isOver })
        // An approval resets the back-off.
        #expect(fixture.prompts.wait(of: app.principal) == nil)
    }

    @Test("A second call joins the prompt, and “never ask again” ends all of them")
    func joinedAndSilenced() throws {
        let app = try limited()
        let (first, prompt) = try ask(app)
        let second = try app.begin("RequestAccess", Self.notes)
        #expect(!second.isOver && fixture.prompts.openCount(1_000) == 1)
        // So does a call of another process of the app.
        let other = try fixture.app("mail")
        let third = try other.begin("RequestAccess", Self.notes)
        fixture.loop.iterate()
        #expect(!third.isOver && fixture.prompts.openCount(1_000) == 1)
        #expect(try person.answer(prompt, #""neverAskAgain":true"#).error == nil)
        for (app, call) in [(app, first), (app, second), (other, third)] {
            #expect(try app.replies(1, to: call)[0].text == #"{"status":"limited"}"#)
        }
        fixture.loop.advance(by: .seconds(3_600))
        #expect(try app.call("RequestAccess", Self.notes).text == #"{"status":"limited"}"#)
        #expect(try person.prompts().isEmpty)
    }

    @Test("Without an agent the app gets its level after the wait, and has no back-off")
    func withoutAgent() throws {
        let app = try limited()
        person.leave()
        for _ in 0..<3 {
            let call = try app.begin("RequestAccess", Self.notes)
            #expect(!call.isOver)
            fixture.loop.advance(by: .seconds(5))
            #expect(try app.replies(1, to: call)[0].text == #"{"status":"limited"}"#)
        }
    }

    @Test("More keys need the password if the app has full access or more than 25 contacts")
    func password() throws {
        let many = try fixture.records("N10", "N11", "N12", "N13", "N14", "N15", "N16", "N17", "N18", "N19")
            .union(fixture.records("N20", "N21", "N22", "N23", "N24", "N25", "N26", "N27", "N28", "N29"))
            .union(fixture.records("N30", "N31", "N32", "N33", "N34", "N35"))
        for (access, words) in [(Access.full, "more of all contacts"), (.limited(to: many), "more of 26 contacts")] {
            let app = try fixture.app("app \(words)", access, changes: .own)
            let (call, prompt) = try ask(app)
            let refused = try person.begin(answering: prompt, #""keys":["note"]"#)
            #expect(authority.open.map(\.action) == [.shareAll])
            #expect(authority.open.first?.access == words)
            try authority.answer(.refused)
            #expect(try person.agent.replies(1, to: refused)[0].error == "AuthenticationFailed")
            #expect(!call.isOver && grant(app)?.keys == Grant.ordinaryKeys)
            let given = try person.begin(answering: prompt, #""keys":["note"]"#)
            try authority.answer(.granted)
            #expect(try person.agent.replies(1, to: given)[0].error == nil)
            #expect(grant(app)?.keys == Grant.ordinaryKeys.union(ContactKeySet(.note)))
            #expect(grant(app)?.access == access)
        }
    }

    @Test("The policy limits the keys that are asked for, also while the prompt is open")
    func policy() throws {
        rule { $0.maximumKeys = ContactKeySet([.givenName, .familyName]) }
        let app = try limited("mail", ContactKeySet(.givenName))
        #expect(try app.call("RequestAccess", Self.notes).text == #"{"status":"limited"}"#)
        fixture.rule([])
        let wanted = #"{"keys":["givenName","familyName","note"]}"#
        let (call, first) = try ask(app, wanted)
        rule { $0.maximumKeys = ContactKeySet([.givenName, .familyName]) }
        let second = try #require(try person.prompts().last)
        #expect(try person.told().last?["keys"]?.elements?.compactMap(\.string) == ["familyName"])
        #expect(try person.answer(first, #""keys":["note"]"#).error == "UnknownPrompt")
        #expect(try person.answer(second, #""keys":["familyName","note"]"#).error == "InvalidAnswer")
        rule { $0.maximumKeys = ContactKeySet([.givenName]) }
        #expect(try app.replies(1, to: call)[0].text == #"{"status":"limited"}"#)
        #expect(grant(app)?.keys == ContactKeySet(.givenName))
    }

    @Test("A grant that the policy limits stays as the person gave it")
    func underPolicy() throws {
        let app = try fixture.app("mail", .full)
        rule { $0.capsLevel = true }
        _ = try app.save([.add(given: "Own")])
        let own = try #require(grant(app)?.own)
        #expect(own.count == 1)
        let (call, prompt) = try ask(app)
        let answer = try person.begin(answering: prompt, #""keys":["note"]"#)
        try authority.answer(.granted)
        #expect(try person.agent.replies(1, to: answer)[0].error == nil)
        #expect(try app.replies(1, to: call)[0].text == #"{"status":"limited"}"#)
        #expect(grant(app)?.access == .full && grant(app)?.own == own)
        #expect(try app.call("FetchContacts", #"{"keys":["givenName","note"]}"#).names == ["Own"])
        // A level that the policy alone gives has no grant to which keys could be added.
        rule { $0.forcedLevel = .full }
        let forced = try fixture.app("forced")
        #expect(try forced.call("RequestAccess", Self.notes).text == #"{"status":"full"}"#)
    }

    @Test("A grant that ends while the prompt is open gets no keys")
    func ended() throws {
        let app = try limited()
        let (_, prompt) = try ask(app)
        fixture.grants.endGrant(app.principal, detail: "ended")
        #expect(try person.answer(prompt, #""keys":["note"]"#).error == "InvalidAnswer")
        #expect(grant(app) == nil)
    }

    @Test("More keys extend neither a lifetime nor the policy's limit")
    func lifetime() throws {
        let app = try fixture.app("mail")
        let end = fixture.surroundings.seconds + 1_000
        try fixture.settle(.limited(to: fixture.records("Ada")), lifetime: .untilTime(end), for: app)
        rule { $0.maximumLifetime = 2_000 }
        let decidedAt = grant(app)?.decidedAt
        fixture.loop.advance(by: .seconds(100))
        let (_, prompt) = try ask(app)
        #expect(try person.answer(prompt, #""keys":["note"]"#).error == nil)
        #expect(grant(app)?.keys.contains(.note) == true)
        #expect(grant(app)?.lifetime == .untilTime(end) && grant(app)?.decidedAt == decidedAt)
    }
}
