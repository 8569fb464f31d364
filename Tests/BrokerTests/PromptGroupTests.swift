import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerGrants

@Suite("A contact group that the person shares at a prompt")
struct PromptGroupTests {
    private let authority = TestAuthority([.answer: .granted])
    private let fixture: BrokerFixture
    private let keeper: TestApp
    private let family: String
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid", "Fabia")
        let members = try [keeper.identifier(of: "Ada"), keeper.identifier(of: "Bob")]
        family = try #require(
            try keeper.save(
                [GroupTests.add("Family", as: "f")] + members.map { GroupTests.step("addMember", "f", $0) }
            ).strings("identifiers").first)
        // It has no members.
        _ = try keeper.save([GroupTests.add("Fans", as: "g")])
        person = try TestPerson(fixture: fixture)
    }

    private func asking(_ app: TestApp, _ method: String = "RequestAccess") throws -> (Call, TestPerson.Prompt) {
        let call = try app.begin(method, method == "RequestContacts" ? #"{"query":"fa"}"# : "{}")
        return (call, try #require(person.prompts().first))
    }

    private func name(_ row: TestPerson.Row) -> String {
        let organization = row.contact["organizationName"]?.string ?? ""
        return organization.isEmpty ? row.contact["givenName"]?.string ?? "" : organization
    }

    private func add(_ name: String) throws {
        try #require(
            try keeper.save([GroupTests.step("addMember", family, keeper.identifier(of: name))]).error == nil)
    }

    @Test("The group comes first in a search for its name, says what it shares, and grows after the password")
    func strong() throws {
        let app = try fixture.app("mail", strength: .sandboxed)
        let (call, prompt) = try asking(app)
        let rows = try person.rows(prompt, query: "fa")
        #expect(rows.map(name) == ["Family", "Fabia"])
        #expect(rows[0].members == 2 && rows[0].grows == true)
        #expect(try person.rows(prompt).map(name) == ["Ada", "Bob", "Cid", "Fabia"])
        #expect(try !person.rows(prompt, query: "%").map(name).contains("Family"))
        let both = rows.map { "\"\($0.identifier)\"" }.joined(separator: ",")
        let answer = try person.begin(answering: prompt, #""level":"limited","identifiers":[\#(both)]"#)
        #expect(authority.open.map(\.access) == ["3 contacts, and those that are added to a contact group later"])
        #expect(!answer.isOver)
        // What joins while the person types the password was not shown.
        try add("Cid")
        try authority.answer(.granted)
        #expect(try person.agent.replies(1, to: answer)[0].error == nil)
        #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "limited")
        #expect(try app.fetch().names == ["Ada", "Bob", "Fabia"])
        try #require(
            try keeper.save([GroupTests.step("removeMember", family, keeper.identifier(of: "Bob"))]).error == nil)
        // Now Cid joins, too, as a member of the group.
        #expect(try app.fetch().names == ["Ada", "Cid", "Fabia"])
        try add("Bob")
        #expect(try app.fetch().names == ["Ada", "Bob", "Cid", "Fabia"])
    }

    @Test("A prompt offers the person's group, although an app made many groups whose names begin like it")
    func crowded() throws {
        let evil = try fixture.app("evil", .limited(to: []), strength: .sandboxed)
        for name in ["Fa", "Fab", "Fac", "Fad", "Family"] {
            try #require(
                try evil.save([
                    GroupTests.add(name, as: "g"), .add(given: "Mallory", extra: #","identifier":"m""#),
                    GroupTests.step("addMember", "g", "m"),
                ]).error == nil)
        }
        let (_, prompt) = try asking(fixture.app("mail", strength: .sandboxed))
        let rows = try person.rows(prompt, query: "fa")
        #expect(rows.map(name) == ["Family", "Fabia"] && rows[0].members == 2)
    }

    @Test("The person takes a group back in a review, and the app keeps what it has singly or by another group")
    func revoked() throws {
        let app = try fixture.app("mail", strength: .sandboxed)
        let (call, prompt) = try asking(app)
        let rows = try person.rows(prompt, query: "fa")
        let answer = try person.begin(
            answering: prompt, #""level":"limited","identifiers":["\#(rows[0].identifier)","\#(rows[1].identifier)"]"#)
        try authority.answer(.granted)
        try #require(fixture.loop.run { answer.isOver && call.isOver })
        #expect(try app.fetch().names == ["Ada", "Bob", "Fabia"])
        let review = try #require(try person.manage(app))
        let seen = try person.granted(review)
        for level in ["full", "denied"] {
            let fields = #""level":"\#(level)","removed":["\#(seen[0].identifier)"]"#
            #expect(try person.answer(review, fields).error == "InvalidAnswer")
        }
        #expect(seen.map(name) == ["Family", "Ada", "Bob", "Fabia"] && seen.allSatisfy { $0.granted == "all" })
        #expect(try person.granted(review, query: "bo").map(name) == ["Bob"])
        // Ada is chosen singly, and stays.
        #expect(
            try person.answer(
                review,
                #""level":"limited","identifiers":["\#(seen[1].identifier)"],"removed":["\#(seen[0].identifier)"]"#
            ).error == nil)
        #expect(try app.fetch().names == ["Ada", "Fabia"])
        #expect(fixture.access.grant(of: app.principal)?.groups.records == [])
        #expect(try fixture.audit(.revocation).last?.hasPrefix("limited") == true)
        try add("Cid")
        #expect(try app.fetch().names == ["Ada", "Fabia"])
        let again = try #require(try person.manage(app))
        #expect(try person.granted(again).map(name) == ["Ada", "Fabia"])
        try person.answer(again)
    }

    @Test("For an app that other programs can imitate, the group shares its present members only, and says so")
    func weak() throws {
        let app = try fixture.app("mail", strength: .claimed)
        let (call, prompt) = try asking(app)
        let row = try #require(try person.rows(prompt, query: "family").first)
        #expect(row.members == 2 && row.grows == false)
        #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(row.identifier)"]"#).error == nil)
        #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "limited")
        try add("Cid")
        #expect(try app.fetch().names == ["Ada", "Bob"])
    }

    @Test("A review adds a group to a limited grant, and does not offer one that is shared already")
    func review() throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("Fabia")), strength: .sandboxed)
        let prompt = try #require(try person.manage(app))
        let row = try #require(try person.rows(prompt, query: "Family").first)
        let answer = try person.begin(answering: prompt, #""level":"limited","identifiers":["\#(row.identifier)"]"#)
        try authority.answer(.granted)
        #expect(try person.agent.replies(1, to: answer)[0].error == nil)
        #expect(try app.fetch().names == ["Ada", "Bob", "Fabia"])
        let again = try #require(try person.manage(app))
        #expect(try person.rows(again, query: "Family").isEmpty)
    }

    @Test("No other prompt offers a group, and no other level or prompt takes one")
    func refused() throws {
        let app = try fixture.app("mail", strength: .sandboxed)
        let (_, access) = try asking(app)
        let row = try #require(try person.rows(access, query: "family").first)
        let group = "\"\(row.identifier)\""
        #expect(
            try person.answer(access, #""level":"full","identifiers":[\#(group)]"#).error == "InvalidAnswer")
        #expect(try person.answer(access, #""level":"denied","identifiers":[\#(group)]"#).error == "InvalidAnswer")
        try person.answer(access)
        let other = try fixture.app("chat", strength: .sandboxed)
        let (_, button) = try asking(other, "RequestContacts")
        #expect(try person.rows(button, query: "fa").map(name) == ["Fabia"])
        // A row of another prompt is none of this one.
        #expect(try person.answer(button, #""level":"limited","identifiers":[\#(group)]"#).error == "InvalidAnswer")
    }
}
