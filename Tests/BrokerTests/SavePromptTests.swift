import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@Suite("The prompt of a save beyond what the app may change")
struct SavePromptTests {
    private let authority = TestAuthority([.answer: .granted])
    private let fixture: BrokerFixture
    private let keeper: TestApp
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        keeper = try fixture.keeper(adding: "Ada", "Grace")
        person = try TestPerson(fixture: fixture)
    }

    private func app(
        _ access: Access? = nil, _ changes: ChangeRight = .own, strength: IdentityStrength = .sandboxed
    ) throws -> TestApp {
        try fixture.app(
            "mail", access ?? .limited(to: fixture.records("Ada")), changes: changes, strength: strength)
    }

    private func right(_ app: TestApp) -> ChangeRight? { fixture.access.grant(of: app.principal)?.changes }

    private func asked(_ app: TestApp, saving changes: [Change]) throws -> (call: Call, prompt: TestPerson.Prompt) {
        let before = try person.told().count
        let call = try app.begin(saving: changes)
        try #require(fixture.loop.run { (try? person.told().count) != before || call.isOver })
        return (call, try #require(person.prompts().last))
    }

    private func rows(_ prompt: TestPerson.Prompt, from offset: Int = 0) throws -> [JSONValue] {
        let answer = try person.agent.call(
            "Search",
            #"{"agent":"\#(person.token)","cookie":"\#(prompt.cookie)","query":"","limit":200,"offset":\#(offset)}"#)
        let rows = answer.parameters["rows"]?.elements.map(Array.init) ?? []
        fixture.agentRows += rows.count
        return rows
    }

    private func show(_ row: JSONValue, _ prompt: TestPerson.Prompt) throws -> Answer {
        fixture.agentRows += 1
        return try person.agent.call(
            "Show",
            #"{"agent":"\#(person.token)","cookie":"\#(prompt.cookie)","identifier":"\#(row["identifier"]?.string ?? "")"}"#
        )
    }

    private func error(_ call: Call, of app: TestApp) throws -> String? { try app.replies(1, to: call)[0].error }

    private static func words(_ rows: [JSONValue]) -> [String] {
        rows.map { row in
            let name = { (contact: JSONValue?) in
                [contact?["givenName"]?.string, contact?["organizationName"]?.string].compactMap(\.self).joined()
            }
            return [row["change"]?.string, row["record"]?.string, name(row["contact"]), name(row["other"])]
                .compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " ")
        }
    }

    @Test("The person sees each contact, old and new, and allows the save once")
    func once() throws {
        let app = try app()
        let ada = try app.identifier(of: "Ada")
        let (call, prompt) = try asked(
            app,
            saving: [.add(given: "New"), .update(ada, #""jobTitle":"Countess""#), .update(ada, #""nickname":"A""#)])
        let told = try #require(person.told().last)
        #expect(prompt.kind == "change" && told["changes"]?.string == "edit")
        #expect(told["grantedChanges"]?.string == "own")
        #expect(["deleted", "changed", "added", "other"].map { told["save"]?[$0]?.integer } == [0, 1, 1, 0])
        let rows = try rows(prompt)
        #expect(Self.words(rows) == ["changed contact Ada", "added contact New"])
        let shown = try show(rows[0], prompt).parameters
        #expect(shown["contact"]?["jobTitle"]?.string == "Countess" && shown["contact"]?["nickname"]?.string == "A")
        #expect(shown["former"]?["jobTitle"]?.string == "" && shown["former"]?["givenName"]?.string == "Ada")
        #expect(try show(rows[1], prompt).parameters["former"] == nil)
        #expect(!call.isOver)
        #expect(try person.answer(prompt, #""allow":"once""#).error == nil)
        #expect(try error(call, of: app) == nil)
        #expect(try keeper.fetch().names == ["Ada", "Grace", "New"])
        #expect(right(app) == .own)
        #expect(authority.actions == [.answer])
        // The next one asks again.
        let again = try asked(app, saving: [.update(ada, #""jobTitle":"Queen""#)])
        #expect(try person.answer(again.prompt).error == nil)
        #expect(try error(again.call, of: app) == "RecordNotWritable")
    }

    @Test("A deletion comes first, and needs the right all")
    func deletion() throws {
        let app = try app(.limited(to: fixture.records("Ada", "Grace")))
        let (ada, grace) = (try app.identifier(of: "Ada"), try app.identifier(of: "Grace"))
        let (call, prompt) = try asked(app, saving: [.update(ada, #""jobTitle":"Countess""#), .delete(grace)])
        #expect(try person.told().last?["changes"]?.string == "all")
        let rows = try rows(prompt)
        #expect(Self.words(rows) == ["deleted contact Grace", "changed contact Ada"])
        #expect(try show(rows[0], prompt).parameters["contact"]?["givenName"]?.string == "Grace")
        #expect(try person.answer(prompt, #""allow":"always""#).error == nil)
        #expect(try error(call, of: app) == nil)
        #expect(try keeper.fetch().names == ["Ada"])
        #expect(right(app) == .all)
        #expect(try app.save([.delete(ada)]).error == nil)
    }

    @Test("Allowing further saves needs the password where raising the right does", arguments: [true, false])
    func password(isGiven: Bool) throws {
        let app = try app(strength: .installed)
        let (call, prompt) = try asked(app, saving: [.update(app.identifier(of: "Ada"), #""jobTitle":"x""#)])
        let answer = try person.begin(answering: prompt, #""allow":"always""#)
        #expect(authority.open.map(\.access) == ["1 contact; and it may change them"])
        #expect(!call.isOver)
        try authority.answer(isGiven ? .granted : .refused)
        #expect(try person.agent.replies(1, to: answer)[0].error == (isGiven ? nil : "AuthenticationFailed"))
        #expect(right(app) == (isGiven ? .edit : .own))
        if !isGiven { try person.answer(prompt) }
        #expect(try error(call, of: app) == (isGiven ? nil : "RecordNotWritable"))
    }

    @Test("A refusal names the step that the app may not make, counts for its wait, and saves nothing")
    func refused() throws {
        let app = try app()
        let steps: [Change] = [.add(given: "New"), .update(try app.identifier(of: "Ada"), #""jobTitle":"x""#)]
        for _ in 0..<2 {
            let (call, prompt) = try asked(app, saving: steps)
            #expect(try person.answer(prompt).error == nil)
            let answer = try app.replies(1, to: call)[0]
            #expect(answer.error == "RecordNotWritable" && answer.parameters["index"]?.integer == 1)
        }
        // Now it has to wait, which is the same error.
        let call = try app.begin(saving: steps)
        #expect(try error(call, of: app) == "RecordNotWritable")
        #expect(try person.prompts().isEmpty)
        #expect(try keeper.fetch().names == ["Ada", "Grace"])
    }

    @Test("Nobody is asked about a save that fails anyway, and an app may ask not to ask")
    func notAsked() throws {
        let app = try app()
        let ada = try app.identifier(of: "Ada")
        let hidden = try namesOfNothing(for: app, hidden: "Grace", of: keeper)[0]
        let denied = try app.save([.update(ada, #""jobTitle":"x""#)])
        #expect(denied.error == "RecordNotWritable")
        for (steps, problem) in [
            ([Change.update(ada, #""jobTitle":"x""#), .delete(hidden)], "RecordDoesNotExist"),
            ([.update(ada, #""jobTitle":"x""#), .update(ada, #""note":"x""#)], "UnauthorizedKeys"),
            // These need full access.
            ([.other(#"{"operation":"setMe","contact":{"identifier":"\#(ada)"}}"#)], "RecordNotWritable"),
            ([.other(#"{"operation":"addContainer","container":"Work"}"#)], "RecordNotWritable"),
        ] {
            #expect(try error(app.begin(saving: steps), of: app) == problem, "\(steps)")
        }
        var rule = Rule(place: "test.toml:1")
        rule.maximumChanges = .own
        fixture.rule([rule])
        #expect(try error(app.begin(saving: [.update(ada, #""jobTitle":"x""#)]), of: app) == "RecordNotWritable")
        (rule.maximumChanges, rule.forcedLevel) = (nil, .full)
        fixture.rule([rule])
        #expect(try error(app.begin(saving: [.update(ada, #""jobTitle":"x""#)]), of: app) == "RecordNotWritable")
        fixture.rule([])
        #expect(try person.told().isEmpty)
    }

    @Test("If a record of the save changes meanwhile, the person sees it again and answers that")
    func changedMeanwhile() throws {
        let app = try app()
        let ada = try app.identifier(of: "Ada")
        let (call, prompt) = try asked(app, saving: [.update(ada, #""jobTitle":"Countess""#)])
        // What the save does not concern is no reason to show it again.
        #expect(try keeper.save([.update(keeper.identifier(of: "Grace"), #""nickname":"G""#)]).error == nil)
        #expect(try person.withdrawn().isEmpty)
        #expect(try keeper.save([.update(keeper.identifier(of: "Ada"), #""jobTitle":"Programmer""#)]).error == nil)
        #expect(try person.withdrawn() == [prompt.cookie])
        #expect(try person.answer(prompt, #""allow":"once""#).error == "UnknownPrompt")
        let anew = try #require(person.prompts().last)
        #expect(anew.cookie != prompt.cookie)
        let row = try #require(rows(anew).first)
        #expect(try show(row, anew).parameters["former"]?["jobTitle"]?.string == "Programmer")
        #expect(try person.answer(anew, #""allow":"once""#).error == nil)
        #expect(try error(call, of: app) == nil)
    }

    @Test("If another card becomes the person's own meanwhile, a save that changes it is shown again")
    func ownMeanwhile() throws {
        let app = try app(.full)
        func step(_ app: TestApp, _ name: String) throws -> Change {
            .other(#"{"operation":"setMe","contact":{"identifier":"\#(try app.identifier(of: name))"}}"#)
        }
        let (call, prompt) = try asked(app, saving: [step(app, "Ada")])
        #expect(try keeper.save([step(keeper, "Grace")]).error == nil)
        #expect(try person.answer(prompt, #""allow":"once""#).error == nil)
        try #require(fixture.loop.run { (try? person.told().count) == 2 || call.isOver })
        #expect(!call.isOver)
        let anew = try #require(person.prompts().last)
        #expect(try person.answer(anew, #""allow":"once""#).error == nil)
        #expect(try error(call, of: app) == nil)
        #expect(try keeper.fetch(#""predicate":{"me":true}"#).names == ["Ada"])
    }

    @Test("A save is shown again if a record changes after the answer and before the save")
    func changedAfterAnswer() throws {
        let app = try app()
        let (call, prompt) = try asked(app, saving: [.update(app.identifier(of: "Ada"), #""jobTitle":"Countess""#)])
        let sync = try fixture.app("sync", .full, strength: .sandboxed)
        let step = Change.update(try sync.identifier(of: "Ada"), #""jobTitle":"x""#)
        // This save is being written while the person answers.
        let other = try sync.begin("SaveContacts", #"{"changes":[\#(step.text)]}"#, turning: false)
        _ = try person.agent.begin(
            "Answer", #"{"agent":"\#(person.token)","cookie":"\#(prompt.cookie)","allow":"once"}"#, turning: false)
        #expect(try error(other, of: sync) == nil)
        try #require(fixture.loop.run { (try? person.told().count) == 2 || call.isOver })
        #expect(!call.isOver)
        let anew = try #require(person.prompts().last)
        #expect(try show(rows(anew)[0], anew).parameters["former"]?["jobTitle"]?.string == "x")
        #expect(try person.answer(anew, #""allow":"once""#).error == nil)
        #expect(try error(call, of: app) == nil)
        fixture.acceptedAnswers += 1
    }

    @Test("A contact that is deleted, an access that is lowered, and a caller that leaves end the save")
    func ended() throws {
        let app = try app(.limited(to: fixture.records("Ada", "Grace")))
        let (ada, grace) = (try app.identifier(of: "Ada"), try app.identifier(of: "Grace"))
        let (call, _) = try asked(app, saving: [.update(ada, #""jobTitle":"x""#)])
        #expect(try keeper.save([.delete(keeper.identifier(of: "Ada"))]).error == nil)
        let anew = try #require(person.prompts().last)
        #expect(try person.answer(anew, #""allow":"once""#).error == nil)
        #expect(try error(call, of: app) == "RecordDoesNotExist")

        let lowered = try asked(app, saving: [.update(grace, #""jobTitle":"x""#)])
        try fixture.grant(.limited(to: []), changes: .own, to: app)
        #expect(try person.answer(lowered.prompt, #""allow":"once""#).error == nil)
        #expect(try error(lowered.call, of: app) != nil)
        try fixture.grant(.limited(to: fixture.records("Grace")), changes: .own, to: app)

        let left = try asked(app, saving: [.update(grace, #""jobTitle":"x""#)])
        app.hangUp()
        #expect(try person.withdrawn().last == left.prompt.cookie)
        #expect(try person.answer(left.prompt, #""allow":"once""#).error == "UnknownPrompt")
        let titles = try keeper.call("FetchContacts", #"{"keys":["jobTitle"]}"#).contacts.map { $0["jobTitle"]?.string }
        #expect(titles == [""])
    }

    @Test("An app that may change contacts is asked about when it takes all names from one")
    func emptying() throws {
        let app = try app(nil, .edit)
        let ada = try app.identifier(of: "Ada")
        let (call, prompt) = try asked(app, saving: [.add(given: "New"), .update(ada, #""givenName":"""#)])
        #expect(try person.told().last?["changes"]?.string == "all")
        #expect(try person.answer(prompt).error == nil)
        let answer = try app.replies(1, to: call)[0]
        #expect(answer.error == "RecordNotWritable" && answer.parameters["index"]?.integer == 1)
        let again = try asked(app, saving: [.update(ada, #""givenName":"""#)])
        #expect(try person.answer(again.prompt, #""allow":"once""#).error == nil)
        #expect(try error(again.call, of: app) == nil)
        #expect(right(app) == .edit)
    }

    @Test("An app that may change nothing can add a contact if the person allows it")
    func adding() throws {
        let app = try app(nil, ChangeRight.none)
        let refused = try asked(app, saving: [.add(given: "New")])
        #expect(try person.told().last?["changes"]?.string == "own")
        #expect(try person.answer(refused.prompt).error == nil)
        #expect(try error(refused.call, of: app) == "ParentContainerNotWritable")
        let allowed = try asked(app, saving: [.add(given: "New")])
        #expect(try person.answer(allowed.prompt, #""allow":"once""#).error == nil)
        #expect(try error(allowed.call, of: app) == nil)
        #expect(try app.fetch().names == ["Ada", "New"])
        #expect(right(app) == ChangeRight.none)
    }

    @Test("Links, groups, containers and the person's own card are rows of their own")
    func otherChanges() throws {
        let app = try app(.full)
        #expect(try keeper.save([.other(#"{"operation":"add","group":{"name":"Friends"}}"#)]).error == nil)
        let groups = try app.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
        let group = try #require(groups.first?["identifier"]?.string)
        let (ada, grace) = (try app.identifier(of: "Ada"), try app.identifier(of: "Grace"))
        let (call, prompt) = try asked(
            app,
            saving: [
                .other(#"{"operation":"addMember","group":{"identifier":"\#(group)"},"member":"\#(ada)"}"#),
                .other(#"{"operation":"update","group":{"identifier":"\#(group)","name":"Family"}}"#),
                .other(#"{"operation":"link","contact":{"identifier":"\#(ada)"},"member":"\#(grace)"}"#),
                .other(#"{"operation":"setMe","contact":{"identifier":"\#(ada)"}}"#),
                .other(#"{"operation":"addContainer","container":"Work"}"#),
            ])
        #expect(
            try Self.words(rows(prompt)) == [
                "changed group Friends Family", "joins contact Ada Friends", "linked contact Ada Grace",
                "own contact Ada", "added container Work",
            ])
        #expect(try person.told().last?["save"]?["other"]?.integer == 5)
        #expect(try person.answer(prompt, #""allow":"once""#).error == nil)
        #expect(try error(call, of: app) == nil)
        #expect(try app.fetch().names == ["Ada"])
    }

    @Test("What the person allows once neither links other cards nor joins groups that other apps have")
    func noEvidence() throws {
        let mail = #","emailAddresses":[{"value":"ada@example.org"}]"#
        let work = #"{"operation":"addContainer","container":"Work"}"#
        #expect(try keeper.save([.add(given: "Linus", extra: mail), .other(work)]).error == nil)
        let app = try app(.full)
        let containers = try app.call("ListContainers").parameters["containers"]?.elements.map(Array.init) ?? []
        let own = try #require(containers.last?["identifier"]?.string)
        let ada = try app.identifier(of: "Ada")
        let (call, prompt) = try asked(
            app,
            saving: [
                .other(#"{"operation":"add","contact":{"givenName":"Linus"\#(mail)},"container":"\#(own)"}"#),
                .delete(ada),
            ])
        let answer = try person.begin(answering: prompt, #""allow":"always""#)
        try authority.answer(.granted)
        #expect(try person.agent.replies(1, to: answer)[0].error == nil)
        fixture.acceptedAnswers += 1
        #expect(try error(call, of: app) == nil)
        #expect(right(app) == .all)
        #expect(try keeper.fetch().names == ["Grace", "Linus", "Linus"])
    }

    @Test("A save of 2,000 steps is shown in pages, with what it deletes first")
    func long() throws {
        #expect(try keeper.save((0..<999).map { .add(given: "C\($0)") }).error == nil)
        let app = try app(.full)
        let contacts = try app.fetch().contacts.compactMap { $0["identifier"]?.string }
        let steps = contacts.prefix(999).map { Change.update($0, #""jobTitle":"x""#) }
        let deletions = contacts.prefix(999).map { Change.delete($0) }
        let (call, prompt) = try asked(app, saving: Array(steps + deletions) + [.add(given: "a"), .add(given: "b")])
        #expect(try Self.words(rows(prompt)).allSatisfy { $0.hasPrefix("deleted contact") })
        #expect(try Self.words(rows(prompt, from: 1_998)) == ["added contact a", "added contact b"])
        #expect(try rows(prompt, from: 5_000).isEmpty)
        #expect(try person.answer(prompt, #""allow":"once""#).error == nil)
        #expect(try error(call, of: app) == nil)
        #expect(try keeper.fetch().names.count == 4)
    }

    @Test("Where nothing can ask for the password, an app that others can imitate is allowed one save only")
    func withoutPassword() throws {
        let fixture = try BrokerFixture(withoutAuthentication: .refuse)
        _ = try fixture.keeper(adding: "Ada")
        let person = try TestPerson(fixture: fixture)
        let app = try fixture.app("mail", .full, changes: .own, strength: .unverified)
        let call = try app.begin(saving: [.delete(app.identifier(of: "Ada"))])
        try #require(fixture.loop.run { (try? person.told().count) == 1 || call.isOver })
        let prompt = try #require(person.prompts().last)
        #expect(try person.told().last?["maximumChanges"]?.string == "own")
        #expect(try person.answer(prompt, #""allow":"always""#).error == "InvalidAnswer")
        #expect(try person.answer(prompt, #""allow":"once""#).error == nil)
        #expect(try app.replies(1, to: call)[0].error == nil)
    }

    @Test("A save for which the bin has no room asks, says so, and is made if the person allows that")
    func binIsFull() throws {
        var bounds = SpaceBounds()
        bounds.binOfOtherApps = 1_048_576
        let fixture = try BrokerFixture(space: bounds)
        let keeper = try fixture.keeper(adding: "Ada")
        let photo = String(repeating: "QUJD", count: 300_000)
        for name in ["a", "b"] {
            #expect(try keeper.save([.add(given: name, extra: #","imageData":"\#(photo)""#)]).error == nil)
        }
        let person = try TestPerson(fixture: fixture)
        let app = try fixture.app("mail", .full, strength: .sandboxed)
        let deletions = try ["a", "b"].map { Change.delete(try app.identifier(of: $0)) }
        let refused = try app.save(deletions)
        #expect(refused.error == "LimitExceeded" && refused.parameters["limit"]?.string == "addressBookBin")
        for isAllowed in [false, true] {
            let before = try person.told().count
            let call = try app.begin(saving: deletions)
            try #require(fixture.loop.run { (try? person.told().count) != before || call.isOver })
            let prompt = try #require(person.prompts().last)
            #expect(try person.told().last?["save"]?["irreversible"]?.bool == true)
            #expect(try person.told().last?["save"]?["deleted"]?.integer == 2)
            #expect(try person.answer(prompt, isAllowed ? #""allow":"once""# : "").error == nil)
            #expect(try app.replies(1, to: call)[0].error == (isAllowed ? nil : "LimitExceeded"))
        }
        #expect(try keeper.fetch().names == ["Ada"])
        // It is on record in the bin, without what the contacts were.
        let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        let saves = try administrator.call("ListChanges").parameters["saves"]?.elements.map(Array.init) ?? []
        #expect(saves.first?["deleted"]?.integer == 2)
        let number = saves.first?["number"]?.integer ?? 0
        let would = try administrator.call("PutBack", #"{"save":\#(number),"dryRun":true}"#).parameters
        #expect(would["lost"]?.integer == 2 && would["returned"]?.integer == 0)
    }

    @Test("A save that was allowed from now on is not made for a caller that has left", arguments: ["once", "always"])
    func leftAfterAnswer(allow: String) throws {
        let app = try app()
        let (call, prompt) = try asked(app, saving: [.update(app.identifier(of: "Ada"), #""jobTitle":"x""#)])
        _ = try person.agent.begin(
            "Answer", #"{"agent":"\#(person.token)","cookie":"\#(prompt.cookie)","allow":"\#(allow)"}"#, turning: false)
        fixture.acceptedAnswers += 1
        app.hangUp()
        try #require(fixture.loop.run { call.isOver })
        _ = try keeper.save([.update(keeper.identifier(of: "Grace"), #""nickname":"G""#)])
        let titles = try keeper.call("FetchContacts", #"{"keys":["jobTitle"]}"#).contacts.map { $0["jobTitle"]?.string }
        #expect(titles == ["", ""])
    }

    @Test(
        "If an allowed save would take all names from a contact, the person is asked once more, for the right to delete"
    )
    func emptyingWithoutRight() throws {
        let app = try app()
        let step = Change.update(try app.identifier(of: "Ada"), #""givenName":"""#)
        let (call, prompt) = try asked(app, saving: [step])
        #expect(try person.told().last?["changes"]?.string == "edit")
        #expect(try person.answer(prompt, #""allow":"once""#).error == nil)
        try #require(fixture.loop.run { (try? person.told().count) == 2 || call.isOver })
        #expect(try !call.isOver && person.told().last?["changes"]?.string == "all")
        #expect(try person.answer(#require(person.prompts().last), #""allow":"once""#).error == nil)
        #expect(try error(call, of: app) == nil)
        #expect(try keeper.fetch().names.sorted() == ["", "Grace"])
    }
}
