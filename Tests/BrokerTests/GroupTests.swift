import BrokerAccessControl
import BrokerDisclosure
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerAppCalls
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Groups and the person's own card")
struct GroupTests {
    static func add(_ name: String, as local: String = "") -> Change {
        .other(#"{"operation":"add","group":{"name":"\#(name)","identifier":"\#(local)"}}"#)
    }
    static func step(_ operation: String, _ group: String, _ member: String = "") -> Change {
        .other(#"{"operation":"\#(operation)","group":{"identifier":"\#(group)","name":"x"},"member":"\#(member)"}"#)
    }
    static func whole(_ operation: String, _ group: String, _ name: String = "x") -> Change {
        .other(#"{"operation":"\#(operation)","group":{"identifier":"\#(group)","name":"\#(name)"}}"#)
    }

    @Test("Groups are created, renamed, filled, nested and deleted, and an app that sees everything gets the events")
    func groups() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob")
        let chat = try fixture.app("chat", .full)
        let start = try chat.history(nil)
        let ada = try keeper.identifier(of: "Ada")
        // Later steps of a save may name records that earlier steps add.
        let made = try keeper.save([
            Self.add("Friends", as: "a"), Self.add("Chess", as: "b"), .add(given: "Cid", extra: #","identifier":"c""#),
            Self.step("addMember", "a", ada), Self.step("addMember", "a", "c"), Self.step("addSubgroup", "a", "b"),
        ]).strings("identifiers")
        #expect(made.map(\.isEmpty) == [false, false, false, true, true, true])
        let (friends, chess) = (made[0], made[1])
        let listed = try keeper.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
        #expect(listed.map { $0["name"]?.string } == ["Friends", "Chess"])
        #expect(listed[1]["parents"]?.elements?.compactMap(\.string) == [friends])
        #expect(listed.map { $0["identifier"]?.string } == [friends, chess])
        #expect(try keeper.fetch(#""predicate":{"group":"\#(friends)"}"#).names.sorted() == ["Ada", "Cid"])
        #expect(try keeper.call("CountContacts", #"{"predicate":{"group":"\#(chess)"}}"#).text == #"{"count":0}"#)
        #expect(
            try chat.history(start.token, #""includeGroups":true"#).events
                == ["addContact Cid", "addGroup Friends", "addGroup Chess", "addMember", "addMember", "addSubgroup"])
        #expect(try chat.history(start.token).events == ["addContact Cid"])
        #expect(
            try chat.history(nil, #""includeGroups":true"#).events.suffix(5)
                == ["addGroup Friends", "addGroup Chess", "addMember", "addMember", "addSubgroup"])

        let next = try chat.history(nil)
        #expect(
            try keeper.save([
                Self.whole("update", friends, "Old friends"), Self.step("removeMember", friends, ada),
                Self.step("removeSubgroup", friends, chess), Self.whole("delete", chess),
                // These two steps change nothing.
                Self.step("removeMember", friends, ada), Self.whole("update", friends, "Old friends"),
            ]).error == nil)
        #expect(
            try chat.history(next.token, #""includeGroups":true"#).events
                == ["updateGroup Old friends", "deleteGroup", "removeMember"])
        #expect(try keeper.fetch(#""predicate":{"group":"\#(friends)"}"#).names == ["Cid"])
        #expect(try keeper.call("ListGroups", #"{"identifiers":["\#(chess)","x"]}"#).text == #"{"groups":[]}"#)
        #expect(try keeper.fetch().names.count == 3)
    }

    @Test("A limited app sees only the groups that it created, and in them only the contacts that it may see")
    func limited() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let chat = try fixture.app("chat", .limited(to: fixture.records("Ada")))
        let others = try #require(try keeper.save([Self.add("Family")]).strings("identifiers").first)
        _ = try keeper.save([Self.step("addMember", others, keeper.identifier(of: "Ada"))])
        let start = try mail.history(nil)
        let group = try #require(try mail.save([Self.add("Mine")]).strings("identifiers").first)
        _ = try mail.save([Self.step("addMember", group, mail.identifier(of: "Ada"))])
        #expect(try chat.call("ListGroups").text == #"{"groups":[]}"#)
        #expect(try chat.history(nil, #""includeGroups":true"#).events == ["dropEverything", "addContact Ada"])
        #expect(try mail.call("ListGroups").parameters["groups"]?.count == 1)
        #expect(try mail.history(start.token, #""includeGroups":true"#).events == ["addGroup Mine", "addMember"])

        // Other apps may add hidden members and hidden parents to the group. This app cannot see them.
        let before = try mail.history(nil)
        let keepers = try #require(
            try keeper.call("ListGroups").parameters["groups"]?.elements?.compactMap { $0["identifier"]?.string }.last)
        let bob = try keeper.identifier(of: "Bob")
        #expect(
            try keeper.save([
                Self.step("addMember", keepers, bob), Self.step("addSubgroup", others, keepers),
                Self.whole("update", others, "Kin"),
            ]).error == nil)
        #expect(try mail.fetch().token == before.token)
        #expect(try mail.history(before.token, #""includeGroups":true"#).events == [])
        #expect(try mail.fetch(#""predicate":{"group":"\#(group)"}"#).names == ["Ada"])
        #expect(try mail.call("CountContacts", #"{"predicate":{"group":"\#(group)"}}"#).text == #"{"count":1}"#)
        let listed = try mail.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
        #expect(listed.map { $0["parents"]?.count } == [0])
        // The token is the same after a restart, when the app's position is looked up again.
        try fixture.restart()
        #expect(try fixture.app("mail").fetch().token == before.token)
        // The error for a cycle reveals nothing about hidden groups.
        let again = try fixture.app("mail")
        let inner = try again.save([Self.add("Inner")]).strings("identifiers")[0]
        #expect(try again.save([Self.step("addSubgroup", group, inner)]).error == nil)
        #expect(try again.save([Self.step("addSubgroup", inner, group)]).error == "ContainmentCycle")
    }

    @Test("Every step and request treats a hidden group as one that does not exist")
    func invisible() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let made = try keeper.save([Self.add("Family")]).strings("identifiers")[0]
        let record = try #require(
            fixture.grants.effectiveAccess(of: keeper.session).identifiers?.record(made, as: .group))
        let cipher = try #require(fixture.grants.effectiveAccess(of: mail.session).identifiers)
        let own = try mail.save([Self.add("Mine")]).strings("identifiers")[0]
        let gone = try mail.save([Self.add("Gone")]).strings("identifiers")[0]
        _ = try mail.save([Self.whole("delete", gone)])
        let ada = try mail.identifier(of: "Ada")
        let names = [
            cipher.identifier(of: record, as: .group), made, gone, ada, "", "x", String(repeating: "0", count: 32),
        ]
        let questions: [(String, (String) throws -> Answer)] = [
            ("RecordDoesNotExist", { try mail.save([Self.whole("update", $0)]) }),
            ("RecordDoesNotExist", { try mail.save([Self.whole("delete", $0)]) }),
            ("ParentRecordDoesNotExist", { try mail.save([Self.step("addMember", $0, ada)]) }),
            ("ParentRecordDoesNotExist", { try mail.save([Self.step("removeMember", $0, ada)]) }),
            ("ParentRecordDoesNotExist", { try mail.save([Self.step("addSubgroup", $0, own)]) }),
            ("RecordDoesNotExist", { try mail.save([Self.step("addSubgroup", own, $0)]) }),
            ("RecordDoesNotExist", { try mail.save([Self.step("removeSubgroup", own, $0)]) }),
            ("RecordDoesNotExist", { try mail.call("ListContainers", #"{"group":"\#($0)"}"#) }),
            ("", { try mail.call("ListGroups", #"{"identifiers":["\#($0)"]}"#) }),
            ("", { try mail.call("CountContacts", #"{"predicate":{"group":"\#($0)"}}"#) }),
        ]
        for (error, ask) in questions {
            let answers = try names.map(ask)
            #expect(answers.allSatisfy { ($0.error ?? "") == error && $0.text == answers[0].text })
        }
        // A hidden member, too, is treated as one that does not exist.
        let hidden = try namesOfNothing(for: mail, hidden: "Bob", of: keeper)
        let answers = try hidden.map { try mail.save([Self.step("addMember", own, $0)]) }
        #expect(answers.allSatisfy { $0.error == "RecordDoesNotExist" && $0.text == answers[0].text })
    }

    @Test("An invalid step fails the whole save")
    func refused() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada")
        let ada = try keeper.identifier(of: "Ada")
        let made = try keeper.save([Self.add("A", as: "a"), Self.add("B", as: "b"), Self.step("addSubgroup", "a", "b")])
        let (outer, inner) = (made.strings("identifiers")[0], made.strings("identifiers")[1])
        for (change, error) in [
            (Self.step("addSubgroup", inner, outer), "ContainmentCycle"),
            (Self.step("addSubgroup", outer, outer), "ContainmentCycle"),
            (Self.add("C", as: inner), "RecordAlreadyExists"),
            (.add(given: "Dup", extra: #","identifier":"\#(ada)""#), "RecordAlreadyExists"),
            (Self.add(" "), "InvalidContact"), (Self.add(#"\u0007"#), "InvalidContact"),
            (Self.add(String(repeating: "n", count: 1_025)), "LimitExceeded"),
            (.other(#"{"operation":"add","group":{}}"#), "InvalidParameter"),
            (.other(#"{"operation":"add","group":{"name":"x","parents":["y"]}}"#), "InvalidParameter"),
            (.other(#"{"operation":"add","group":{"name":"x"},"contact":{"givenName":"x"}}"#), "InvalidParameter"),
            (.other(#"{"operation":"add","group":{"name":"x"},"container":"y"}"#), "RecordDoesNotExist"),
            (.other(#"{"operation":"add","group":{"name":"x","other":"y"}}"#), "InvalidParameter"),
        ] as [(Change, String)] {
            let answer = try keeper.save([.add(given: "Before"), change])
            #expect(answer.error == error, "\(change.text)")
        }
        #expect(try keeper.save([Self.add(String(repeating: "n", count: 1_024))]).error == nil)
        #expect(try keeper.fetch().names == ["Ada"])
        #expect(try keeper.call("ListGroups").parameters["groups"]?.count == 3)
    }

    @Test("An app that sees everything chooses the person's own card, and each app that may see the card finds it")
    func me() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob")
        let (mail, chat) = (
            try fixture.app("mail", .limited(to: fixture.records("Ada"))),
            try fixture.app("chat", .limited(to: fixture.records("Bob")))
        )
        let me = #""predicate":{"me":true}"#
        let set = { (app: TestApp, contact: String?) in
            let contact = contact.map { #","contact":{"identifier":"\#($0)"}"# } ?? ""
            return try app.save([.other(#"{"operation":"setMe"\#(contact)}"#)])
        }
        #expect(try keeper.fetch(me).names == [])
        #expect(try set(keeper, keeper.identifier(of: "Ada")).error == nil)
        for (app, names) in [(keeper, ["Ada"]), (mail, ["Ada"]), (chat, [])] {
            #expect(try app.fetch(me).names == names)
            #expect(try app.call("CountContacts", "{\(me)}").text == #"{"count":\#(names.count)}"#)
        }
        // A limited app gets the same error, whatever it names.
        let answers = [
            try set(mail, mail.identifier(of: "Ada")), try set(mail, nil), try set(mail, "x"),
            try mail.save([.other(#"{"operation":"link","contact":{"identifier":"x"},"member":"y"}"#)]),
            try mail.save([.other(#"{"operation":"addContainer","container":"New"}"#)]),
        ]
        #expect(answers.allSatisfy { $0.error == "RecordNotWritable" && $0.text == answers[0].text })
        #expect(try set(keeper, "x").error == "RecordDoesNotExist")
        #expect(try set(keeper, nil).error == nil)
        #expect(try mail.fetch(me).names == [])
        _ = try set(keeper, keeper.identifier(of: "Bob"))
        _ = try keeper.save([.delete(keeper.identifier(of: "Bob"))])
        #expect(try keeper.fetch(me).names == [])
    }
}
