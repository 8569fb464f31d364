import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerGrants

@Suite("What an app may change")
struct ChangeRightTests {
    private let authority = TestAuthority([.answer: .granted])
    private let fixture: BrokerFixture
    private let keeper: TestApp
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        keeper = try fixture.keeper(adding: "Ada", "Grace")
        person = try TestPerson(fixture: fixture)
    }

    private func right(_ app: TestApp) -> ChangeRight? { fixture.access.grant(of: app.principal)?.changes }

    private func asking(_ app: TestApp, _ parameters: String = "{}") throws -> (Call, TestPerson.Prompt) {
        let call = try app.begin("RequestAccess", parameters)
        return (call, try #require(person.prompts().first))
    }

    private static func link(_ one: String, _ other: String) -> Change {
        .other(#"{"operation":"link","contact":{"identifier":"\#(one)"},"member":"\#(other)"}"#)
    }

    @Test("A step beyond the right is refused, and nothing of the save is made", arguments: ChangeRight.allCases)
    func steps(right: ChangeRight) throws {
        let app = try fixture.app("mail", .full, strength: .sandboxed)
        #expect(try app.save([.add(given: "Mine"), .add(given: "Old")]).error == nil)
        try fixture.grant(.full, changes: right, to: app)
        let (ada, grace) = (try app.identifier(of: "Ada"), try app.identifier(of: "Grace"))
        let (mine, old) = (try app.identifier(of: "Mine"), try app.identifier(of: "Old"))
        let me = Change.other(#"{"operation":"setMe","contact":{"identifier":"\#(ada)"}}"#)
        let steps: [(from: ChangeRight, step: Change)] = [
            (.own, .add(given: "New")), (.own, .other(#"{"operation":"add","group":{"name":"Friends"}}"#)),
            (.own, .update(mine, #""jobTitle":"Pilot""#)), (.edit, .update(ada, #""jobTitle":"Countess""#)),
            (.all, me), (.all, .other(#"{"operation":"addContainer","container":"Work"}"#)),
            (.all, Self.link(ada, grace)), (.own, .delete(old)), (.all, .delete(ada)),
        ]
        for (from, step) in steps {
            let names = try keeper.fetch().names
            let answer = try app.save([.update(mine, #""nickname":"M""#), step])
            #expect((answer.error == nil) == (right >= from), "\(step): \(answer.text)")
            let errors = ["RecordNotWritable", "ParentContainerNotWritable"]
            #expect(answer.error.map(errors.contains) ?? true, "\(step): \(answer.text)")
            if right < from { #expect(try keeper.fetch().names == names, "\(step)") }
        }
    }

    @Test("A limited app that may edit cannot delete, link or reach beyond its contacts and keys")
    func limited() throws {
        let app = try fixture.app(
            "mail", .limited(to: fixture.records("Ada")), keys: ContactKeySet([.givenName, .jobTitle]), changes: .edit)
        let ada = try app.identifier(of: "Ada")
        #expect(try app.save([.update(ada, #""jobTitle":"Countess""#)]).error == nil)
        #expect(try app.save([.update(ada, #""nickname":"A""#)]).error == "UnauthorizedKeys")
        #expect(try app.save([.delete(ada)]).error == "RecordNotWritable")
        let hidden = try namesOfNothing(for: app, hidden: "Grace", of: keeper)[0]
        // What it cannot see does not exist, whatever it may change.
        for right in ChangeRight.allCases {
            try fixture.grant(.limited(to: fixture.records("Ada")), changes: right, to: app)
            #expect(try app.save([.update(hidden, #""jobTitle":"x""#)]).error == "RecordDoesNotExist")
            #expect(try app.save([.delete(hidden)]).error == "RecordDoesNotExist")
        }
    }

    @Test(
        "An update that takes all names, or all numbers and addresses, counts as a deletion", arguments: [true, false])
    func emptying(isFull: Bool) throws {
        let reach = #","phoneNumbers":[{"value":"1"}],"emailAddresses":[{"value":"a@example.org"}]"#
        #expect(try keeper.save([.add(given: "Linus", extra: reach)]).error == nil)
        let app = try fixture.app(
            "mail", isFull ? .full : .limited(to: fixture.records("Linus")), changes: .edit, strength: .sandboxed)
        let linus = try app.identifier(of: "Linus")
        for (fields, isMade) in [
            (#""givenName":"""#, false), (#""givenName":"","nickname":"""#, false),
            (#""phoneNumbers":[],"emailAddresses":[]"#, false), (#""phoneNumbers":[]"#, true),
            (#""emailAddresses":[]"#, false), (#""givenName":"","nickname":"L""#, true),
            (#""nickname":"""#, false), (#""emailAddresses":[],"phoneNumbers":[{"value":"2"}]"#, true),
        ] {
            let answer = try app.save([.add(given: "More"), .update(linus, fields)])
            #expect(answer.error == (isMade ? nil : "RecordNotWritable"), "\(fields)")
            if !isMade { #expect(answer.text == #"{"index":1}"#) }
        }
        #expect(try keeper.fetch().names.count { $0 == "More" } == 3)
        // It may empty its own card, and any card if it may delete it.
        #expect(try app.save([.add(given: "Mine")]).error == nil)
        #expect(try app.save([.update(app.identifier(of: "Mine"), #""givenName":"""#)]).error == nil)
        try fixture.grant(isFull ? .full : .limited(to: fixture.records("Ada")), changes: .all, to: app)
        #expect(try app.save([.update(app.identifier(of: "Ada"), #""givenName":"""#)]).error == nil)
    }

    @Test("A refusal to empty a contact does not depend on what the app cannot see")
    func emptyingHidden() throws {
        let both = #","phoneNumbers":[{"value":"1"}],"emailAddresses":[{"value":"a@example.org"}]"#
        let one = #","phoneNumbers":[{"value":"1"}]"#
        #expect(try keeper.save([.add(given: "Both", extra: both), .add(given: "One", extra: one)]).error == nil)
        let app = try fixture.app("mail", .full, keys: ContactKeySet([.givenName, .phoneNumbers]), changes: .edit)
        for name in ["Both", "One"] {
            let answer = try app.save([.update(app.identifier(of: name), #""phoneNumbers":[]"#)])
            #expect(answer.error == "RecordNotWritable", "\(name)")
        }
    }

    @Test("A unified contact is changed and deleted only through cards that the app added")
    func unified() throws {
        let app = try fixture.app("mail", .full, strength: .sandboxed)
        #expect(try app.save([.add(given: "Mine")]).error == nil)
        let (ada, mine) = (try keeper.identifier(of: "Ada"), try keeper.identifier(of: "Mine"))
        #expect(try keeper.save([Self.link(ada, mine)]).error == nil)
        try fixture.grant(.full, changes: .own, to: app)
        let contacts = try app.fetch().contacts
        let unified = try #require(contacts.first { $0["givenName"]?.string == "Ada" }?["identifier"]?.string)
        #expect(contacts.count == 2)
        #expect(try app.save([.update(unified, #""givenName":"Eve""#)]).error == "RecordNotWritable")
        #expect(try app.save([.delete(unified)]).error == "RecordNotWritable")
        #expect(try app.save([.update(app.identifier(of: "Mine"), #""givenName":"Yours""#)]).error == nil)
        #expect(try keeper.fetch(#""sortOrder":"givenName","unify":false"#).names == ["Ada", "Grace", "Yours"])
    }

    @Test(
        "Only cards of an app with full access that may change all are linked by evidence",
        arguments: ChangeRight.allCases)
    func evidence(right: ChangeRight) throws {
        guard right >= .own else { return }
        let mail = #","emailAddresses":[{"value":"ada@example.org"}]"#
        let work = #"{"operation":"addContainer","container":"Work"}"#
        #expect(try keeper.save([.add(given: "Linus", extra: mail), .other(work)]).error == nil)
        let app = try fixture.app("mail", .full, changes: right, strength: .sandboxed)
        let containers = try app.call("ListContainers").parameters["containers"]?.elements.map(Array.init) ?? []
        let own = try #require(containers.last?["identifier"]?.string)
        let add = #"{"operation":"add","contact":{"givenName":"Linus"\#(mail)},"container":"\#(own)"}"#
        #expect(try app.save([.other(add)]).error == nil)
        #expect(try keeper.fetch().names.count { $0 == "Linus" } == (right == .all ? 1 : 2))
    }

    @Test("A save that waits is refused if the right is lowered meanwhile")
    func lowered() throws {
        let app = try fixture.app("mail", .full)
        let ada = try app.identifier(of: "Ada")
        let first = try keeper.begin(
            "SaveContacts", #"{"changes":[{"operation":"add","contact":{"givenName":"New"}}]}"#)
        let call = try app.begin(
            "SaveContacts",
            #"{"mayAsk":false,"changes":[{"operation":"update","contact":{"identifier":"\#(ada)","givenName":"Eve"}}]}"#
        )
        try fixture.grant(.full, changes: .own, to: app)
        #expect(try keeper.replies(1, to: first)[0].error == nil)
        let answer = try app.replies(1, to: call)[0]
        // It was made before the right was lowered, or not at all.
        #expect(try keeper.fetch().names.contains("Eve") == (answer.error == nil))
        #expect(try app.save([.update(ada, #""givenName":"Mallory""#)]).error == "RecordNotWritable")
    }

    // MARK: Answers

    @Test("A first grant gives what the app added, and what it asked for only if the answer says so")
    func first() throws {
        let app = try fixture.app("mail", strength: .sandboxed)
        let (_, prompt) = try asking(app, #"{"changes":"edit"}"#)
        #expect(try person.told().last?["changes"]?.string == "edit")
        let row = try #require(person.rows(prompt).first)
        #expect(
            try person.answer(prompt, #""level":"limited","identifiers":["\#(row.identifier)"]"#).error == nil)
        #expect(right(app) == .own)
        let other = try fixture.app("chat", strength: .sandboxed)
        let (_, again) = try asking(other, #"{"changes":"edit"}"#)
        let chosen = try #require(person.rows(again).first)
        let fields = #""level":"limited","identifiers":["\#(chosen.identifier)"],"changes":"edit""#
        #expect(try person.answer(again, fields).error == nil)
        #expect(right(other) == .edit)
        #expect(try other.call("GetAuthorization").parameters["changes"]?.string == "edit")
        #expect(authority.actions == [.answer])
    }

    @Test("For apps that others can imitate, raising the right needs the password, and lowering it does not")
    func password() throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")), changes: .own, strength: .installed)
        for (asked, answer) in [(ChangeRight.edit, AuthorityAnswer.refused), (.edit, .granted), (.all, .granted)] {
            let before = right(app)
            let prompt = try #require(try person.manage(app))
            let call = try person.begin(answering: prompt, #""level":"limited","changes":"\#(asked.rawValue)""#)
            #expect(
                authority.open.map(\.access) == [
                    "1 contact; and it may change \(asked == .all ? "and delete " : "")them"
                ])
            #expect(right(app) == before)
            try authority.answer(answer)
            let error = try person.agent.replies(1, to: call)[0].error
            #expect(error == (answer == .granted ? nil : "AuthenticationFailed"))
            #expect(right(app) == (answer == .granted ? asked : before))
            if error != nil { try person.answer(prompt) }
        }
        let count = authority.asked.count
        #expect(try person.manage(app, answering: #""level":"limited","changes":"none""#) == nil)
        #expect(right(app) == ChangeRight.none)
        #expect(try person.manage(app, answering: #""level":"limited","changes":"own""#) == nil)
        #expect(right(app) == .own)
        #expect(authority.asked.count == count)
    }

    @Test(
        "With full access, raising the right needs the password for every strength",
        arguments: IdentityStrength.allCases)
    func passwordWithFullAccess(strength: IdentityStrength) throws {
        guard strength != .declared else { return }
        let app = try fixture.app("mail", .full, changes: .own, strength: strength)
        let prompt = try #require(try person.manage(app))
        let call = try person.begin(answering: prompt, #""level":"full","changes":"all""#)
        #expect(authority.open.map(\.access) == ["all contacts; and it may change and delete them"])
        try authority.answer(.granted)
        #expect(try person.agent.replies(1, to: call)[0].error == nil)
        #expect(right(app) == .all)
    }

    @Test("A strong app with few contacts may get the right without a password")
    func withoutPassword() throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")), changes: .own, strength: .sandboxed)
        #expect(try person.manage(app, answering: #""level":"limited","changes":"all""#) == nil)
        #expect(right(app) == .all)
        #expect(authority.actions == [.answer])
    }

    @Test("An answer beyond the policy is refused, and an answer about contacts leaves the right as it is")
    func policy() throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")), changes: .edit, strength: .sandboxed)
        var rule = Rule(place: "test.toml:1")
        rule.maximumChanges = .own
        fixture.rule([rule])
        #expect(try person.review(app)?["maximumChanges"]?.string == "own")
        #expect(try person.manage(app, answering: #""level":"limited","changes":"all""#) == "InvalidAnswer")
        #expect(try app.save([.update(app.identifier(of: "Ada"), #""jobTitle":"x""#)]).error == "RecordNotWritable")
        let prompt = try #require(try person.manage(app))
        let grace = try #require(try person.rows(prompt).first { $0.granted == "none" })
        #expect(
            try person.answer(prompt, #""level":"limited","identifiers":["\#(grace.identifier)"]"#).error == nil)
        #expect(right(app) == .edit)
        fixture.rule([])
        #expect(try app.save([.update(app.identifier(of: "Ada"), #""jobTitle":"x""#)]).error == nil)
    }

    @Test("What only a rule lets an app change does not become the person's grant")
    func rule() throws {
        var rule = Rule(place: "test.toml:1")
        (rule.forcedLevel, rule.maximumChanges, rule.strengths) = (.limited, .all, [.sandboxed])
        fixture.rule([rule])
        let app = try fixture.app("mail", strength: .sandboxed)
        let call = try app.begin("RequestContacts", #"{"query":"Ada"}"#)
        let prompt = try #require(person.prompts().first)
        let row = try #require(person.rows(prompt).first)
        #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(row.identifier)"]"#).error == nil)
        #expect(try app.replies(1, to: call)[0].error == nil)
        #expect(right(app) == .own)
        #expect(try app.call("GetAuthorization").parameters["changes"]?.string == "all")
        fixture.rule([])
        #expect(try app.call("GetAuthorization").parameters["changes"]?.string == "own")
    }

    @Test("Keys that make the right to delete complete count as raising it")
    func keysForDeletion() throws {
        let app = try fixture.app(
            "mail", .limited(to: fixture.records("Ada")), keys: ContactKeySet([.givenName]), strength: .installed)
        let call = try app.begin("RequestAccess", #"{"keys":[\#(AuthorizationTable.ordinaryKeys)]}"#)
        let prompt = try #require(person.prompts().first)
        let others = AuthorizationTable.ordinaryKeys.split(separator: ",").filter { $0 != #""givenName""# }
        _ = try person.begin(answering: prompt, #""keys":[\#(others.joined(separator: ","))]"#)
        #expect(authority.open.map(\.access) == ["more of 1 contact; and it may change and delete them"])
        try authority.answer(.refused)
        #expect(!call.isOver)
    }

    @Test("Only an app that may change all sets the person's settings", arguments: ChangeRight.allCases)
    func settings(right: ChangeRight) throws {
        let app = try fixture.app("mail", .full, changes: right, strength: .sandboxed)
        let error = try app.call("SetUserDefaults", #"{"sortOrder":"familyName"}"#).error
        #expect(error == (right == .all ? nil : "AccessDenied"))
    }

    @Test("Denying again what is denied changes nothing")
    func deniedAgain() throws {
        let app = try fixture.app("mail", .denied, changes: .none, strength: .sandboxed)
        let before = try #require(fixture.access.grant(of: app.principal))
        #expect(try person.manage(app, answering: #""level":"denied""#) == nil)
        #expect(fixture.access.grant(of: app.principal) == before)
    }

    @Test("An app that was denied gets only the right of a first grant when it gets access again")
    func deniedBefore() throws {
        let app = try fixture.app("mail", .full, changes: .all, strength: .sandboxed)
        #expect(try person.manage(app, answering: #""level":"denied""#) == nil)
        let prompt = try #require(try person.manage(app))
        let row = try #require(person.rows(prompt).first)
        #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(row.identifier)"]"#).error == nil)
        #expect(right(app) == .own)
    }
}
