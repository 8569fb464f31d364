import BrokerAccessControl
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerCore

@Suite("Groups that an app with limited access names like a group of the person")
struct GroupNameTests {
    private let there: SharedFamily
    private let mail, evil: TestApp

    /// The policy shares the group Family with mail. The app evil sees one contact, and may see all groups.
    init() throws {
        there = try SharedFamily()
        mail = try there.app("mail")
        evil = try there.fixture.app(
            "evil", .limited(to: there.fixture.records("Dora")), keys: Grant.ordinaryKeys.union(.groups),
            strength: .sandboxed)
    }

    private func shareByPolicy() {
        var rule = Rule(place: "test.toml:1")
        (rule.apps, rule.strengths) = (["mail"], [.sandboxed])
        (rule.forcedLevel, rule.contactGroup) = (.limited, "Family")
        there.fixture.rule([rule])
    }

    private func groups(_ app: TestApp) throws -> [JSONValue] {
        try app.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
    }

    private func listed(_ app: TestApp) throws -> [String] {
        try groups(app).map {
            "\($0["name"]?.string ?? "")\($0["namedByOther"]?.bool == true ? " of another app" : "")"
        }
    }

    /// Makes groups with these names, of which the app puts its own contact into each.
    @discardableResult
    private func make(_ names: [String], renamed: Bool) throws -> [String] {
        let dora = try evil.identifier(of: "Dora")
        var made: [String] = []
        for name in names {
            let answer = try evil.save([
                GroupTests.add(renamed ? "Mine" : name, as: "g"), GroupTests.step("addMember", "g", dora),
            ])
            let group = try #require(answer.strings("identifiers").first)
            if renamed { try #require(try evil.save([GroupTests.whole("update", group, name)]).error == nil) }
            made.append(group)
        }
        return made
    }

    @Test(
        "The policy, shares and look-ups by name go on to mean the person's group, however the app names its own",
        arguments: [false, true])
    func othersStay(renamed: Bool) throws {
        let token = try mail.history(nil).token
        shareByPolicy()
        // The first names of all that begin like the person's group, of which a prompt shows only a few.
        let made = try make(["Family", "family", "FAMILY", "Fa", "Fam", "Family", "Famílǐ"], renamed: renamed)
        func check(_ mail: TestApp, _ when: String) throws {
            #expect(try mail.fetch().names == ["Ada", "Bob"], "\(when)")
        }
        try check(mail, "made")
        there.fixture.rule([])
        shareByPolicy()
        try check(mail, "loaded again")
        #expect(try listed(there.keeper).filter { $0 == "Family of another app" }.count == 2)
        #expect(try listed(there.keeper).filter { $0 == "Family" }.count == 1)
        // Its own groups are not another app's, and the person's is not either.
        #expect(try listed(evil).allSatisfy { !$0.hasSuffix("another app") })

        let chat = try there.app("chat")
        #expect(try there.change("share", chat, groups: ["Family"]).error == nil)
        #expect(try chat.fetch().names == ["Ada", "Bob"])
        #expect(try there.change("revoke", chat, groups: ["Family"]).error == nil)
        #expect(try there.change("share", chat, groups: ["Fam"]).error == "InvalidValue")

        try there.fixture.restart()
        shareByPolicy()
        let again = try there.fixture.app("mail", strength: .sandboxed)
        try check(again, "started again")
        let evilAgain = try there.fixture.app("evil", strength: .sandboxed)
        for group in made { try #require(try evilAgain.save([GroupTests.whole("delete", group)]).error == nil) }
        try check(again, "deleted")
        #expect(try !again.history(token).events.isEmpty)
    }

    @Test("A name counts when an app that sees everything gives it, and no longer when another app gives the next one")
    func renaming() throws {
        shareByPolicy()
        try there.fixture.grant(.full, to: evil)
        let own = try #require(
            try evil.save([
                GroupTests.add("Club", as: "g"), GroupTests.step("addMember", "g", evil.identifier(of: "Dora")),
            ]).strings("identifiers").first)
        let dora = try there.fixture.records("Dora")
        try there.fixture.grant(.limited(to: dora), to: evil)
        try #require(try evil.save([GroupTests.whole("update", own, "Family")]).error == nil)
        #expect(try mail.fetch().names == ["Ada", "Bob"])
        #expect(try listed(there.keeper) == ["Family", "Family of another app"])
        // The app that sees everything gives the group the same name, which no history shows.
        let theirs = try #require(try groups(there.keeper).last?["identifier"]?.string)
        let token = try there.keeper.history(nil, #""includeGroups":true"#).token
        try #require(try there.keeper.save([GroupTests.whole("update", theirs, "Family")]).error == nil)
        #expect(try there.keeper.history(token, #""includeGroups":true"#).events.isEmpty)
        #expect(try listed(there.keeper) == ["Family", "Family"])
        // Now there are two, and the reason says what to do.
        #expect(try mail.fetch().names.isEmpty)
        try #require(try there.keeper.save([GroupTests.whole("update", theirs, "Club")]).error == nil)
        #expect(try mail.fetch().names == ["Ada", "Bob"])
    }

    @Test("A shared group that an app with limited access renames can be revoked by its new name, and not shared by it")
    func revokedByName() throws {
        try there.fixture.grant(.full, to: evil)
        let group = try #require(
            try evil.save([
                GroupTests.add("Club", as: "g"), GroupTests.step("addMember", "g", evil.identifier(of: "Bob")),
            ]).strings("identifiers").first)
        #expect(try there.change("share", mail, groups: ["Club"]).error == nil)
        #expect(try mail.fetch().names == ["Ada", "Bob"])
        try there.fixture.grant(.limited(to: []), to: evil)
        try #require(try evil.save([GroupTests.whole("update", group, "Band")]).error == nil)
        let chat = try there.app("chat")
        #expect(try there.change("share", chat, groups: ["Band"]).error == "InvalidValue")
        #expect(try there.change("revoke", mail, groups: ["Band"]).parameters["grants"]?.count == 1)
        #expect(try mail.fetch().names == ["Ada"])
    }

    @Test("An app may send a group back as it got it")
    func sentBack() throws {
        let made = try make(["Friends"], renamed: false)
        #expect(made.count == 1)
        let group = String(decoding: try #require(groups(there.keeper).last).text, as: UTF8.self)
        #expect(group.contains(#""namedByOther":true"#))
        #expect(try there.keeper.save([.other(#"{"operation":"update","group":\#(group)}"#)]).error == nil)
        #expect(try listed(there.keeper) == ["Family", "Friends"])
    }
}
