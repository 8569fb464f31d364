import BrokerAccessControl
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerCore

@Suite("An app takes back its own saves")
struct TakeBackTests {
    private let fixture: BrokerFixture
    private let keeper: TestApp

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid")
    }

    private func save(_ app: TestApp, in group: String = "g", label: String = "", _ changes: [Change]) throws {
        let reply = try app.call(
            "SaveContacts",
            #"{"changes":[\#(changes.map(\.text).joined(separator: ","))],"mayAsk":false,"group":"\#(group)","label":"\#(label)"}"#
        )
        try #require(reply.error == nil, "\(reply.text)")
    }

    private func saves(_ app: TestApp) throws -> [JSONValue] {
        try app.call("ListSaves").parameters["saves"]?.elements.map(Array.init) ?? []
    }

    private func values(_ app: TestApp, _ key: String) throws -> [String?] {
        try app.call("FetchContacts", #"{"keys":["givenName","\#(key)"],"sortOrder":"givenName"}"#).contacts
            .map { $0[key]?.string }
    }

    @Test("A deleted contact comes back with its identifier, what the app does not see, and its place in others' sets")
    func deleted() throws {
        let noting = try fixture.app("noting", .full, keys: .all)
        let ada = try noting.identifier(of: "Ada")
        #expect(try noting.save([.update(ada, #""note":"hers""#)]).error == nil)
        let limited = try fixture.app("limited", .limited(to: fixture.records("Ada")))
        let mail = try fixture.app("mail", .full)
        let identifier = try mail.identifier(of: "Ada")
        try save(mail, [.delete(identifier)])
        #expect(try limited.fetch().names.isEmpty)
        #expect(counts(try mail.takeBack("g", #""dryRun":true"#)) == ["returned": 1])
        #expect(try keeper.fetch().names == ["Bob", "Cid"])
        #expect(counts(try mail.takeBack()) == ["returned": 1])
        #expect(try mail.identifier(of: "Ada") == identifier && limited.fetch().names == ["Ada"])
        #expect(try values(noting, "note") == ["hers", "", ""] && noting.identifier(of: "Ada") == ada)
        #expect(counts(try mail.takeBack()) == [:])
        #expect(try fixture.audit(.save).contains("1 returned"))
    }

    @Test("Only the values that the app changed come back; what was changed there since stays, unless forced")
    func changed() throws {
        let mail = try fixture.app("mail", .full)
        for name in ["Ada", "Bob"] {
            try save(mail, [.update(mail.identifier(of: name), #""nickname":"n","jobTitle":"j""#)])
        }
        #expect(
            try keeper.save([.update(keeper.identifier(of: "Ada"), #""jobTitle":"k","departmentName":"d""#)]).error
                == nil)
        let answer = try mail.takeBack()
        #expect(counts(answer) == ["changed": 1])
        #expect(answer.strings("conflicts") == [try mail.identifier(of: "Ada")])
        #expect(answer.parameters["partial"]?.bool == false && answer.parameters["more"]?.bool == false)
        #expect(try values(mail, "nickname") == ["n", "", ""] && values(mail, "jobTitle") == ["k", "", ""])
        #expect(try saves(mail).map { $0["takenBack"]?.bool } == [false])
        #expect(counts(try mail.takeBack("g", #""force":true"#)) == ["changed": 1])
        #expect(try values(mail, "nickname") == ["", "", ""] && values(mail, "jobTitle") == ["", "", ""])
        // The key that only the other app changed is as that app left it.
        #expect(try values(mail, "departmentName") == ["d", "", ""])
        #expect(try saves(mail).map { $0["takenBack"]?.bool } == [true])
    }

    @Test("What several saves of a group did to a contact is taken back at once, and their order does not matter")
    func merged() throws {
        let mail = try fixture.app("mail", .full)
        try save(mail, [.add(given: "New"), .update(mail.identifier(of: "Bob"), #""nickname":"n""#)])
        try save(mail, [.update(mail.identifier(of: "New"), #""jobTitle":"j""#), .delete(mail.identifier(of: "Bob"))])
        #expect(counts(try mail.takeBack("g", #""dryRun":true"#)) == ["returned": 1, "removed": 1])
        // What the group changed before it deleted the contact follows.
        let first = try mail.takeBack()
        #expect(counts(first) == ["returned": 1, "removed": 1] && first.parameters["more"]?.bool == true)
        #expect(counts(try mail.takeBack()) == ["changed": 1])
        #expect(try values(mail, "nickname") == ["", "", ""] && mail.fetch().names == ["Ada", "Bob", "Cid"])
    }

    @Test("Undo, undo of it, and undo of that: each is listed, and what is taken back alternates")
    func undoOfUndo() throws {
        let mail = try fixture.app("mail", .full)
        try save(mail, label: "remove Ada", [.delete(mail.identifier(of: "Ada"))])
        var (target, names) = ("g", [["Ada", "Bob", "Cid"], ["Bob", "Cid"]])
        for undo in ["u1", "u2", "u3"] {
            #expect(try mail.takeBack(target, #""newGroup":"\#(undo)","label":"undo""#).error == nil)
            #expect(try mail.fetch().names == names[0])
            names.reverse()
            target = undo
        }
        let listed = try saves(mail)
        #expect(listed.map { $0["group"]?.string } == ["u3", "u2", "u1", "g"])
        #expect(listed.map { $0["takenBack"]?.bool } == [false, true, false, true])
        #expect(listed.map { $0["takesBack"]?.string } == ["u2", "u1", "g", nil])
        #expect(listed.map { $0["label"]?.string } == ["undo", "undo", "undo", "remove Ada"])
        #expect(listed.last.map { save in ["added", "changed", "deleted"].map { save[$0]?.integer } } == [0, 0, 1])
    }

    @Test("Groups, their members and nesting, the name of one, links and the person's own card are taken back")
    func connections() throws {
        let mail = try fixture.app("mail", .full, keys: Grant.ordinaryKeys.union(.groups))
        let (ada, bob, cid) =
            (try mail.identifier(of: "Ada"), try mail.identifier(of: "Bob"), try mail.identifier(of: "Cid"))
        func group(_ operation: String, _ group: String, _ rest: String = "") -> Change {
            .other(#"{"operation":"\#(operation)","group":{"identifier":"\#(group)","name":"N"}\#(rest)}"#)
        }
        let made = try keeper.save([
            .other(#"{"operation":"add","group":{"name":"Family"}}"#),
            .other(#"{"operation":"add","group":{"name":"Kin"}}"#),
        ])
        #expect(made.error == nil)
        let groups = try mail.call("ListGroups").parameters["groups"]?.elements?.compactMap { $0["identifier"]?.string }
        let (family, kin) = (try #require(groups?.first), try #require(groups?.last))
        #expect(
            try mail.save([
                group("addMember", family, #","member":"\#(ada)""#), group("addMember", kin, #","member":"\#(bob)""#),
                group("addSubgroup", family, #","member":"\#(kin)""#),
            ]).error == nil)
        func state() throws -> [String] {
            let members = try [family, kin].map { try mail.fetch(#""predicate":{"group":"\#($0)"}"#).names.joined() }
            let links = try mail.call("ListLinkedContacts", #"{"identifier":"\#(ada)"}"#).strings("identifiers").count
            let me = try mail.fetch(#""predicate":{"me":true}"#).names
            return members + [try mail.call("ListGroups").text, "\(links)"] + me
        }
        let before = try state()
        try save(
            mail,
            [
                group("update", family), group("removeMember", family, #","member":"\#(ada)""#),
                group("addMember", family, #","member":"\#(cid)""#), group("delete", kin),
                .other(#"{"operation":"link","contact":{"identifier":"\#(ada)"},"member":"\#(cid)"}"#),
                .other(#"{"operation":"setMe","contact":{"identifier":"\#(bob)"}}"#),
                .other(#"{"operation":"add","group":{"name":"Other"}}"#), .delete(bob),
            ])
        #expect(try state() != before)
        let answer = try mail.takeBack()
        #expect(answer.error == nil && answer.parameters["partial"]?.bool == false, "\(answer.text)")
        #expect(try state() == before)
        #expect(counts(try mail.takeBack()) == [:])
    }

    @Test("A group that the app added stays if somebody uses it by now, unless forced")
    func usedGroup() throws {
        let mail = try fixture.app("mail", .full)
        try save(mail, [.other(#"{"operation":"add","group":{"name":"Family"}}"#)])
        let theirs = try keeper.call("ListGroups").parameters["groups"]?.elements.map(Array.init)?.first
        let family = try #require(theirs?["identifier"]?.string)
        let member = try keeper.identifier(of: "Ada")
        let step = #"{"operation":"addMember","group":{"identifier":"\#(family)","name":"N"},"member":"\#(member)"}"#
        #expect(try keeper.save([.other(step)]).error == nil)
        let answer = try mail.takeBack()
        #expect(counts(answer) == [:] && answer.strings("groupConflicts").count == 1)
        #expect(counts(try mail.takeBack("g", #""force":true"#)) == ["groups": 1])
        #expect(try keeper.call("ListGroups").text.contains("Family") == false)
    }

    @Test("A large group of saves is taken back in parts, also by a broker that crashed in between")
    func parts() throws {
        var mail = try fixture.app("mail", .full)
        for part in 0..<3 { try save(mail, (0..<900).map { .add(given: "N\(part)-\($0)") }) }
        #expect(counts(try mail.takeBack("g", #""dryRun":true"#)) == ["removed": 2_700])
        let first = try mail.takeBack("g", #""newGroup":"u""#)
        #expect(counts(first) == ["removed": 2_000] && first.parameters["more"]?.bool == true)
        #expect(try saves(mail).map { $0["takenBack"]?.bool } == [false, false])
        try fixture.crash()
        mail = try fixture.app("mail")
        let second = try mail.takeBack("g", #""newGroup":"u""#)
        #expect(counts(second) == ["removed": 700] && second.parameters["more"]?.bool == false)
        #expect(try saves(mail).map { $0["takenBack"]?.bool } == [false, true])
        #expect(try mail.fetch().names == ["Ada", "Bob", "Cid"])
        #expect(counts(try mail.takeBack("u", #""dryRun":true"#)) == ["returned": 2_700])
    }

    // MARK: What must not work

    /// What an app gets that asks for saves of which the bin has nothing.
    private func expectNothing(_ answer: Answer) {
        #expect(answer.error == "SaveDoesNotExist" && answer.text == "{}", "\(answer.text)")
    }

    @Test("Unknown, another app's, expired, of before a reset, and not kept: one error")
    func nothing() throws {
        let (mail, chat) = (try fixture.app("mail", .full), try fixture.app("chat", .full))
        expectNothing(try mail.takeBack())
        #expect(try mail.save([.delete(mail.identifier(of: "Cid"))]).error == nil)
        expectNothing(try mail.takeBack(""))
        try save(mail, [.delete(mail.identifier(of: "Ada"))])
        expectNothing(try chat.takeBack())
        #expect(try saves(chat).isEmpty)
        let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        #expect(try administrator.call("ResetGrant", #"{"app":"mail"}"#).error == nil)
        try fixture.settle(.full, for: mail)
        expectNothing(try mail.takeBack())
        #expect(try keeper.fetch().names == ["Bob"])
        try save(mail, [.delete(mail.identifier(of: "Bob"))])
        fixture.loop.advance(by: .seconds(31 * 86_400))
        #expect(try keeper.save([.add(given: "New")]).error == nil)
        expectNothing(try mail.takeBack())
        #expect(try keeper.fetch().names == ["New"])
    }

    @Test("What was changed since where the app does not see it, or is not shown to it any more, looks like nothing")
    func hidden() throws {
        let mail = try fixture.app("mail", .full)
        let noting = try fixture.app("noting", .full, keys: .all)
        try save(mail, in: "added", [.add(given: "New")])
        #expect(try noting.save([.update(noting.identifier(of: "New"), #""note":"hers""#)]).error == nil)
        expectNothing(try mail.takeBack("added"))
        // As it may delete the contact, it may also do that knowingly.
        #expect(counts(try mail.takeBack("added", #""force":true"#)) == ["removed": 1])
        try save(mail, in: "changed", [.update(mail.identifier(of: "Ada"), #""nickname":"n""#)])
        try save(mail, in: "deleted", [.delete(mail.identifier(of: "Bob"))])
        try save(mail, in: "both", [.update(mail.identifier(of: "Cid"), #""nickname":"n""#), .add(given: "Own")])
        try fixture.settle(.limited(to: fixture.records("Cid")), for: mail)
        for force in ["false", "true"] {
            expectNothing(try mail.takeBack("changed", #""force":\#(force)"#))
            expectNothing(try mail.takeBack("deleted", #""force":\#(force)"#))
        }
        let answer = try mail.takeBack("both")
        #expect(counts(answer) == ["changed": 1] && answer.parameters["partial"]?.bool == true)
        #expect(answer.strings("conflicts").isEmpty)
        #expect(try values(keeper, "nickname") == ["n", "", ""] && keeper.fetch().names == ["Ada", "Cid", "Own"])
    }

    @Test("A contact that somebody else deleted stays deleted, also if the app had deleted it before")
    func deletedByOthers() throws {
        let mail = try fixture.app("mail", .full)
        try save(mail, in: "changed", [.update(mail.identifier(of: "Ada"), #""nickname":"n""#)])
        #expect(try keeper.save([.delete(keeper.identifier(of: "Ada"))]).error == nil)
        expectNothing(try mail.takeBack("changed", #""force":true"#))
        try save(mail, in: "deleted", [.delete(mail.identifier(of: "Bob"))])
        let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        #expect(try administrator.call("PutBack", #"{"app":"mail","since":"2000-01-01"}"#).error == nil)
        #expect(try keeper.save([.delete(keeper.identifier(of: "Bob"))]).error == nil)
        expectNothing(try mail.takeBack("deleted", #""force":true"#))
        #expect(try keeper.fetch().names == ["Cid"])
    }

    @Test("What the app may change now decides, and a deleted contact needs the right to add")
    func rightsOfNow() throws {
        let mail = try fixture.app("mail", .full)
        let ada = try mail.identifier(of: "Ada")
        try save(mail, in: "changed", [.update(ada, #""nickname":"n""#)])
        try save(mail, in: "added", [.add(given: "Own")])
        try save(mail, in: "deleted", [.delete(mail.identifier(of: "Bob"))])
        try fixture.grant(.full, changes: .none, to: mail)
        for group in ["changed", "added", "deleted"] {
            #expect(try mail.takeBack(group, #""force":true"#).error == "RecordNotWritable", "\(group)")
            #expect(try mail.takeBack(group, #""dryRun":true"#).error == nil, "\(group)")
        }
        try fixture.grant(.full, changes: .own, to: mail)
        #expect(try mail.takeBack("changed").error == "RecordNotWritable")
        #expect(counts(try mail.takeBack("added")) == ["removed": 1])
        #expect(counts(try mail.takeBack("deleted")) == ["returned": 1])
        // Undoing that would delete a contact that the app did not add.
        #expect(try mail.takeBack("deleted", #""newGroup":"u""#).error == nil)
        try fixture.grant(.full, keys: ContactKeySet([.givenName]), changes: .all, to: mail)
        // It does not see the nickname any more.
        #expect(counts(try mail.takeBack("changed", #""force":true"#)) == [:])
        #expect(try values(keeper, "nickname") == ["n", "", ""])
        try fixture.grant(.denied, to: mail)
        #expect(try mail.takeBack("changed").error == "AccessDenied")
        #expect(try mail.call("ListSaves").error == "AccessDenied")
    }

    @Test("Beyond the app's right, the person sees what would come back, and allows it")
    func prompt() throws {
        let person = try TestPerson(fixture: fixture)
        let mail = try fixture.app("mail", .full, strength: .sandboxed)
        try save(
            mail,
            [
                .delete(mail.identifier(of: "Ada")), .update(mail.identifier(of: "Bob"), #""nickname":"n""#),
            ])
        try fixture.grant(.full, changes: .none, to: mail)
        for allows in [false, true] {
            let before = try person.told().count
            let call = try mail.begin("TakeBack", #"{"group":"g"}"#)
            try #require(fixture.loop.run { (try? person.told().count) != before || call.isOver })
            let prompt = try #require(try person.prompts().last)
            #expect(prompt.kind == "change")
            let rows = try person.agent.call(
                "Search", #"{"agent":"\#(person.token)","cookie":"\#(prompt.cookie)","query":"","limit":9}"#)
            let shown = rows.parameters["rows"]?.elements.map(Array.init) ?? []
            fixture.agentRows += shown.count
            #expect(shown.compactMap { $0["change"]?.string } == ["changed", "added"])
            #expect(shown.compactMap { $0["contact"]?["givenName"]?.string } == ["Bob", "Ada"])
            #expect(try person.answer(prompt, allows ? #""allow":"once""# : "").error == nil)
            let answer = try mail.replies(1, to: call)[0]
            #expect(allows ? counts(answer) == ["returned": 1, "changed": 1] : answer.error == "RecordNotWritable")
        }
        #expect(try keeper.fetch().names == ["Ada", "Bob", "Cid"])
    }

    @Test("Names of groups and words for them have bounds, and other parameters are refused")
    func mistakes() throws {
        let mail = try fixture.app("mail", .full)
        let long = String(repeating: "x", count: 257)
        for parameters in [
            "{}", #"{"group":"\#(long)"}"#, #"{"group":"g","label":"\#(long)"}"#,
            #"{"group":"g","newGroup":"\#(long)"}"#,
            #"{"group":"g","when":"now"}"#, #"{"group":7}"#,
        ] {
            let error = try mail.call("TakeBack", parameters).error
            #expect(error == "InvalidParameter" || error == "LimitExceeded", "\(parameters) \(error ?? "")")
        }
        #expect(try mail.call("SaveContacts", #"{"changes":[],"group":"g","label":"\#(long)"}"#).error != nil)
        #expect(try mail.call("ListSaves", #"{"all":true}"#).error == "InvalidParameter")
    }
}
