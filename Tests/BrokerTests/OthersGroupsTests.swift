import BrokerAccessControl
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerAppCalls

@Suite("The key that shows a limited app the groups of others")
struct OthersGroupsTests {
    private static let keys = Grant.ordinaryKeys.union(.groups)
    private static let withGroups = #""includeGroups":true"#

    /// Ada and Bob are in Family, and Bob is in its subgroup Cousins. Mail may see Ada.
    private struct Neighbours {
        let fixture: BrokerFixture
        let keeper, mail: TestApp
        /// The keeper's identifiers.
        let family, cousins: String

        init(keys: ContactKeySet = OthersGroupsTests.keys) throws {
            fixture = try BrokerFixture()
            keeper = try fixture.keeper(adding: "Ada", "Bob")
            let (ada, bob) = (try keeper.identifier(of: "Ada"), try keeper.identifier(of: "Bob"))
            let made = try keeper.save([
                GroupTests.add("Family", as: "f"), GroupTests.add("Cousins", as: "c"),
                GroupTests.step("addMember", "f", ada), GroupTests.step("addMember", "f", bob),
                GroupTests.step("addMember", "c", bob), GroupTests.step("addSubgroup", "f", "c"),
            ]).strings("identifiers")
            (family, cousins) = (made[0], made[1])
            mail = try fixture.app("mail", .limited(to: fixture.records("Ada")), keys: keys)
        }

        /// The groups that an app sees, by name.
        func groups(of app: TestApp) throws -> [String: JSONValue] {
            let told = try app.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
            return Dictionary(uniqueKeysWithValues: told.map { ($0["name"]?.string ?? "", $0) })
        }

        func identifier(of group: String) throws -> String {
            try #require(try groups(of: mail)[group]?["identifier"]?.string)
        }
    }

    @Test(
        "With the key an app sees all groups, their nesting and the visible members, and without it none of these")
    func sees() throws {
        let there = try Neighbours()
        let groups = try there.groups(of: there.mail)
        #expect(groups.keys.sorted() == ["Cousins", "Family"])
        let family = try there.identifier(of: "Family")
        #expect(family != there.family)
        #expect(groups["Cousins"]?["parents"]?.elements?.compactMap(\.string) == [family])
        for (group, names) in [(family, ["Ada"]), (try there.identifier(of: "Cousins"), [])] {
            #expect(try there.mail.fetch(#""predicate":{"group":"\#(group)"}"#).names == names)
            #expect(
                try there.mail.call("CountContacts", #"{"predicate":{"group":"\#(group)"}}"#).text
                    == #"{"count":\#(names.count)}"#)
        }
        #expect(
            try there.mail.history(nil, Self.withGroups).events
                == [
                    "dropEverything", "addContact Ada", "addGroup Family", "addGroup Cousins", "addMember",
                    "addSubgroup",
                ])
        let told = try there.mail.call("GetAuthorization").strings("keys")
        #expect(told.last == "groups" && told.filter { $0 == "groups" }.count == 1)

        let chat = try there.fixture.app("chat", .limited(to: there.fixture.records("Ada")))
        #expect(try there.groups(of: chat).isEmpty)
        #expect(try chat.history(nil, Self.withGroups).events == ["dropEverything", "addContact Ada"])
        #expect(try !chat.call("GetAuthorization").strings("keys").contains("groups"))
        // `groups` is not a key of a contact.
        for method in ["FetchContacts", "FetchHistory", "PickContacts"] {
            #expect(try there.mail.call(method, #"{"keys":["groups"]}"#).error == "InvalidParameter")
        }
    }

    @Test("The app gets the changes of the groups, and nothing about hidden members")
    func told() throws {
        let there = try Neighbours()
        let start = try there.mail.history(nil)
        let bob = try there.keeper.identifier(of: "Bob")
        #expect(
            try there.keeper.save([
                GroupTests.step("removeMember", there.cousins, bob), GroupTests.step("removeMember", there.family, bob),
                GroupTests.step("addMember", there.cousins, bob), .update(bob, #""nickname":"B""#),
            ]).error == nil)
        #expect(try there.mail.fetch().token == start.token)
        #expect(try there.mail.history(start.token, Self.withGroups).events == [])
        // The token is the same after a restart, when the broker looks the position up again.
        try there.fixture.restart()
        let (mail, keeper) = (try there.fixture.app("mail"), try there.fixture.app("keeper"))
        #expect(try mail.fetch().token == start.token)

        let ada = try keeper.identifier(of: "Ada")
        #expect(
            try keeper.save([
                GroupTests.whole("update", there.family, "Kin"), GroupTests.step("removeMember", there.family, ada),
                GroupTests.step("addMember", there.cousins, ada),
                GroupTests.step("removeSubgroup", there.family, there.cousins),
                GroupTests.add("New"),
            ]).error == nil)
        let next = try mail.fetch().token
        #expect(next != start.token)
        #expect(
            try mail.history(start.token, Self.withGroups).events.sorted()
                == ["addGroup New", "addMember", "removeMember", "removeSubgroup", "updateGroup Kin"])
        try there.fixture.restart()
        #expect(try there.fixture.app("mail").fetch().token == next)
        #expect(try there.fixture.app("keeper").save([GroupTests.whole("delete", there.family)]).error == nil)
        #expect(try there.fixture.app("mail").history(next, Self.withGroups).events == ["deleteGroup"])
    }

    @Test("A granted contact comes with its memberships in the groups")
    func granted() throws {
        let there = try Neighbours()
        let start = try there.mail.history(nil)
        try there.fixture.grant(.limited(to: there.fixture.records("Ada", "Bob")), keys: Self.keys, to: there.mail)
        #expect(
            try there.mail.history(start.token, Self.withGroups).events
                == ["granted Bob", "addMember", "addMember"])
    }

    @Test("The app may change which of its contacts are in the groups, but not rename, delete or nest them")
    func writes() throws {
        let there = try Neighbours()
        let (family, cousins) = (try there.identifier(of: "Family"), try there.identifier(of: "Cousins"))
        let ada = try there.mail.identifier(of: "Ada")
        let own = try there.mail.save([GroupTests.add("Mine")]).strings("identifiers")[0]
        for (change, named) in [
            (GroupTests.whole("update", family, "Other"), family),
            (GroupTests.whole("update", family, "Family"), family),
            (GroupTests.whole("delete", family), family), (GroupTests.step("addSubgroup", family, own), family),
            (GroupTests.step("addSubgroup", own, family), own),
            (GroupTests.step("addSubgroup", cousins, family), cousins),
            (GroupTests.step("removeSubgroup", family, cousins), family),
        ] {
            let answer = try there.mail.save([.add(given: "Before"), change])
            #expect(answer.error == "RecordNotWritable", "\(change.text)")
            #expect(answer.text == #"{"index":1,"identifier":"\#(named)"}"#)
        }
        #expect(try there.mail.save([.other(#"{"operation":"setMe"}"#)]).error == "RecordNotWritable")
        #expect(
            try there.mail.save([
                GroupTests.step("addMember", cousins, ada), GroupTests.step("removeMember", family, ada),
                GroupTests.add("Inner", as: "i"), GroupTests.step("addSubgroup", own, "i"),
                GroupTests.whole("update", own, "My own"),
            ]).error == nil)
        #expect(try there.groups(of: there.keeper).keys.sorted() == ["Cousins", "Family", "Inner", "My own"])
        #expect(
            try there.keeper.fetch(#""predicate":{"group":"\#(there.cousins)"},"sortOrder":"givenName""#).names == [
                "Ada", "Bob",
            ])
        #expect(try there.keeper.fetch(#""predicate":{"group":"\#(there.family)"}"#).names == ["Bob"])
        // The app cannot name a hidden contact, even in a group that it sees.
        for nobody in try namesOfNothing(for: there.mail, hidden: "Bob", of: there.keeper) {
            #expect(
                try there.mail.save([GroupTests.step("removeMember", family, nobody)]).error == "RecordDoesNotExist")
        }
    }

    @Test("Removing the key hides the groups and refuses a save that waits")
    func taken() throws {
        let there = try Neighbours()
        let family = try there.identifier(of: "Family")
        let ada = try there.mail.identifier(of: "Ada")
        let token = try there.mail.fetch().token
        let watch = try there.mail.begin("WatchChanges", more: true)
        #expect(try there.mail.replies(1, to: watch).count == 1)
        let first = try there.keeper.begin(
            "SaveContacts", #"{"changes":[\#(Change.add(given: "Cid").text)]}"#)
        let second = try there.mail.begin(
            "SaveContacts", #"{"changes":[\#(GroupTests.step("removeMember", family, ada).text)]}"#)
        try there.fixture.grant(.limited(to: there.fixture.records("Ada")), to: there.mail)
        #expect(try there.keeper.replies(1, to: first).map(\.error) == [nil])
        #expect(try there.mail.replies(1, to: second).map(\.error) == ["AccessDenied"])
        #expect(try there.mail.history(token, Self.withGroups).events == ["dropEverything", "addContact Ada"])
        #expect(try there.groups(of: there.mail).isEmpty)
        #expect(
            try there.mail.save([GroupTests.step("addMember", family, ada)]).error == "ParentRecordDoesNotExist")
        #expect(
            try there.keeper.fetch(#""predicate":{"group":"\#(there.family)"},"sortOrder":"givenName""#).names == [
                "Ada", "Bob",
            ])
    }

    @Test("A rule that caps the keys removes the key unless it lists it")
    func capped() throws {
        let there = try Neighbours()
        var rule = Rule(place: "test.toml:1")
        rule.apps = ["mail"]
        rule.maximumKeys = Grant.ordinaryKeys
        there.fixture.rule([rule])
        #expect(try there.groups(of: there.mail).isEmpty)
        rule.maximumKeys?.formUnion(.groups)
        there.fixture.rule([rule])
        #expect(try there.groups(of: there.mail).count == 2)
    }

    @Test("The person can grant the key only if the app asked for it")
    func asked() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada")
        _ = try keeper.save([GroupTests.add("Family")])
        let person = try TestPerson(fixture: fixture)
        let everything = #""keys":[\#(AuthorizationTable.ordinaryKeys),"groups"]"#
        for (app, keys, isGiven) in [("mail", #""givenName","groups""#, true), ("chat", #""givenName""#, false)] {
            let app = try fixture.app(app)
            let call = try app.begin("RequestAccess", #"{"keys":[\#(keys)]}"#)
            let prompt = try #require(try person.prompts().last)
            let row = try #require(try person.rows(prompt).first).identifier
            let answer = try person.answer(prompt, #""level":"limited","identifiers":["\#(row)"],\#(everything)"#)
            #expect(answer.error == (isGiven ? nil : "InvalidAnswer"))
            if !isGiven { try person.answer(prompt, #""level":"limited","identifiers":["\#(row)"]"#) }
            #expect(try app.replies(1, to: call).map(\.text) == [#"{"status":"limited"}"#])
            #expect(try app.call("ListGroups").parameters["groups"]?.count == (isGiven ? 1 : 0))
        }
    }
}
