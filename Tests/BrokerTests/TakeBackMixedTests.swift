import BrokerAccessControl
import BrokerBounds
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerCore

/// Others change records before, between and after the saves of a group.
@Suite("An app takes back its own saves, and nothing of others")
struct TakeBackMixedTests {
    private let fixture: BrokerFixture
    private let keeper: TestApp
    private let mail: TestApp

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.app("keeper", .full, keys: .all.union(.groups))
        let reply = try keeper.save(["Ada", "Bob", "Cid"].map { .add(given: $0) })
        try #require(reply.error == nil)
        mail = try fixture.app("mail", .full)
    }

    private func save(_ app: TestApp, in group: String = "g", _ changes: [Change]) throws {
        let reply = try app.call(
            "SaveContacts",
            #"{"changes":[\#(changes.map(\.text).joined(separator: ","))],"mayAsk":false,"group":"\#(group)"}"#)
        try #require(reply.error == nil, "\(reply.text)")
    }

    private func keep(_ changes: Change...) throws {
        let reply = try keeper.save(changes)
        try #require(reply.error == nil, "\(reply.text)")
    }

    private func value(_ key: String, of name: String, for app: TestApp? = nil) throws -> String? {
        let found = try (app ?? keeper).call("FetchContacts", #"{"keys":["givenName","\#(key)"]}"#).contacts
        return found.first { $0["givenName"]?.string == name }?[key]?.string
    }

    private func member(_ operation: String, _ group: String, _ contact: String) -> Change {
        .other(#"{"operation":"\#(operation)","group":{"identifier":"\#(group)","name":"N"},"member":"\#(contact)"}"#)
    }

    private func group(_ name: String, by app: TestApp) throws -> String {
        try #require(
            try app.save([.other(#"{"operation":"add","group":{"name":"\#(name)"}}"#)]).strings("identifiers").first)
    }

    @Test("A contact comes back as it was deleted, with what others had made of hidden values meanwhile")
    func hiddenBetween() throws {
        let ada = try keeper.identifier(of: "Ada")
        try keep(.update(ada, #""note":"old""#))
        try save(mail, [.update(mail.identifier(of: "Ada"), #""nickname":"n""#)])
        try keep(.update(ada, #""note":"new""#))
        try save(mail, [.delete(mail.identifier(of: "Ada"))])
        let first = try mail.takeBack()
        #expect(counts(first) == ["returned": 1] && first.parameters["more"]?.bool == true)
        #expect(try value("note", of: "Ada") == "new" && value("nickname", of: "Ada") == "n")
        let second = try mail.takeBack()
        #expect(counts(second) == ["changed": 1] && second.parameters["more"]?.bool == false)
        #expect(try value("note", of: "Ada") == "new" && value("nickname", of: "Ada") == "")
    }

    @Test("What others changed between two saves of the group stays")
    func visibleBetween() throws {
        let ada = try keeper.identifier(of: "Ada")
        try keep(.update(ada, #""jobTitle":"Countess""#))
        try save(mail, [.update(mail.identifier(of: "Ada"), #""nickname":"a""#)])
        try keep(.update(ada, #""jobTitle":"""#))
        try save(mail, [.update(mail.identifier(of: "Ada"), #""nickname":"b""#)])
        #expect(counts(try mail.takeBack()) == ["changed": 1])
        #expect(try value("jobTitle", of: "Ada") == "" && value("nickname", of: "Ada") == "")
        // In between, others changed the same value: that is a conflict.
        try save(mail, in: "h", [.update(mail.identifier(of: "Bob"), #""nickname":"a""#)])
        try keep(.update(keeper.identifier(of: "Bob"), #""nickname":"k""#))
        try save(mail, in: "h", [.update(mail.identifier(of: "Bob"), #""nickname":"b""#)])
        #expect(try mail.takeBack("h").strings("conflicts").count == 1)
        #expect(try value("nickname", of: "Bob") == "b")
        // So is a change of a contact that the group added.
        try save(mail, in: "i", [.add(given: "New")])
        try keep(.update(keeper.identifier(of: "New"), #""jobTitle":"k""#))
        try save(mail, in: "i", [.update(mail.identifier(of: "New"), #""nickname":"b""#)])
        #expect(try mail.takeBack("i").strings("conflicts").count == 1)
    }

    @Test("A membership that the person took away does not come back with a contact")
    func membershipTakenAway() throws {
        let own = try fixture.app("own", .full, changes: .own)
        try save(own, in: "made", [.add(given: "Own")])
        let (family, contact) = (try group("Family", by: keeper), try keeper.identifier(of: "Own"))
        try keep(member("addMember", family, contact))
        try save(own, [.delete(own.identifier(of: "Own"))])
        #expect(counts(try own.takeBack()) == ["returned": 1, "others": 1])
        #expect(try keeper.fetch(#""predicate":{"group":"\#(family)"}"#).names == ["Own"])
        try keep(member("removeMember", family, contact))
        try save(own, [.delete(own.identifier(of: "Own"))])
        #expect(counts(try own.takeBack()) == ["returned": 1])
        #expect(try keeper.fetch(#""predicate":{"group":"\#(family)"}"#).names.isEmpty)
    }

    @Test(
        "A contact that the app deleted otherwise, too, comes back by neither group, and a membership taken away stays away"
    )
    func deletedOtherwise() throws {
        let own = try fixture.app("own", .full, changes: .own)
        try save(own, in: "made", [.add(given: "Own")])
        let (family, contact) = (try group("Family", by: keeper), try keeper.identifier(of: "Own"))
        try keep(member("addMember", family, contact))
        try save(own, [.delete(own.identifier(of: "Own"))])
        #expect(try own.takeBack().error == nil)
        try keep(member("removeMember", family, contact))
        #expect(try own.save([.delete(own.identifier(of: "Own"))]).error == nil)
        for force in ["false", "true"] {
            #expect(try own.takeBack("g", #""force":\#(force)"#).error == "SaveDoesNotExist")
        }
        #expect(try keeper.fetch().names == ["Ada", "Bob", "Cid"])
    }

    @Test("Contacts that come back in parts come back into a group that was deleted after them")
    func inParts() throws {
        let names = (0..<2_100).map { "N\($0)" }
        for start in stride(from: 0, to: names.count, by: 700) {
            #expect(try keeper.save(names[start..<start + 700].map { .add(given: $0) }).error == nil)
        }
        let family = try group("Family", by: keeper)
        func identifiers(_ app: TestApp, _ predicate: String = "") throws -> [String] {
            try app.stream("FetchContacts", #"{"keys":[],"sortOrder":"none"\#(predicate)}"#).flatMap(\.contacts)
                .compactMap { $0["identifier"]?.string }
        }
        let members = try identifiers(keeper)
        for part in [members.prefix(1_100), members.dropFirst(1_100)] {
            #expect(try keeper.save(part.map { member("addMember", family, $0) }).error == nil)
        }
        let seen = try #require(
            try mail.call("ListGroups").parameters["groups"]?.elements.map(Array.init)?.first?["identifier"]?.string)
        let mine = try identifiers(mail)
        try save(mail, mine.prefix(1_100).map { .delete($0) })
        try save(mail, [.other(#"{"operation":"delete","group":{"identifier":"\#(seen)","name":"N"}}"#)])
        try save(mail, mine.dropFirst(1_100).map { .delete($0) })
        var parts = 0
        while try mail.takeBack().parameters["more"]?.bool == true, parts < 9 { parts += 1 }
        #expect(parts > 0)
        #expect(try identifiers(keeper, #","predicate":{"group":"\#(family)"}"#).count == members.count)
    }

    @Test("The answers do not tell a limited app of hidden groups, nor of the size of hidden values")
    func hiddenCounts() throws {
        let own = try fixture.app("own", .limited(to: []), changes: .own)
        let note = String(repeating: "x", count: 1_000_000)
        var answers: [String] = []
        for isHidden in [false, true] {
            let group = "g\(isHidden)"
            let names = (0..<6).map { "\(isHidden)\($0)" }
            try save(own, in: group + "m", names.map { .add(given: $0) })
            for name in names where isHidden {
                let contact = try keeper.identifier(of: name)
                try keep(
                    .update(contact, #""note":"\#(note)""#), member("addMember", self.group(name, by: keeper), contact))
            }
            try save(own, in: group, try names.map { .delete(try own.identifier(of: $0)) })
            answers += [try own.takeBack(group, #""dryRun":true"#).text, try own.takeBack(group).text]
            #expect(try own.fetch().names.count == (isHidden ? 12 : 6))
        }
        #expect(Set(answers).count == 1, "\(answers)")
        // An own group that somebody put into a hidden one.
        let nested = try self.group("Nested", by: own)
        let theirs = try #require(
            try keeper.call("ListGroups").parameters["groups"]?.elements.map(Array.init)?
                .first { $0["name"]?.string == "Nested" }?["identifier"]?.string)
        try keep(member("addSubgroup", try self.group("Outer", by: keeper), theirs))
        try save(own, in: "n", [.other(#"{"operation":"delete","group":{"identifier":"\#(nested)","name":"N"}}"#)])
        let answer = try own.takeBack("n")
        #expect(counts(answer) == ["groups": 1] && answer.parameters["partial"]?.bool == false, "\(answer.text)")
    }

    @Test(
        "What the person takes back while a contact is deleted stays away from the app, also if nothing seems to change"
    )
    func loweredMeanwhile() throws {
        let limited = try fixture.app("limited", .limited(to: fixture.records("Ada", "Bob")), strength: .sandboxed)
        let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        try save(mail, [.delete(mail.identifier(of: "Ada"))])
        let narrowed = try administrator.call(
            "ChangeGrantedContacts", #"{"app":"limited","change":"narrow","contacts":["Bob"]}"#)
        #expect(narrowed.error == nil)
        #expect(counts(try mail.takeBack()) == ["returned": 1])
        #expect(try limited.fetch().names == ["Bob"])
    }

    @Test("After a restored backup, nothing of before comes back to apps")
    func restoredShares() throws {
        let limited = try fixture.app("limited", .limited(to: fixture.records("Ada", "Bob")), strength: .sandboxed)
        let backup = try Backup(of: fixture)
        try save(mail, in: "before", [.delete(mail.identifier(of: "Ada"))])
        #expect(try backup.restore(in: fixture, replaces: true).error == nil)
        #expect(try limited.fetch().names == ["Bob"])
        try save(mail, [.delete(mail.identifier(of: "Ada"))])
        #expect(counts(try mail.takeBack()) == ["returned": 1])
        #expect(try limited.fetch().names == ["Bob"])
    }

    @Test("Many states with a large photo are compared without reading it again and again")
    func photos() throws {
        let own = try fixture.app("own", .full, changes: .own)
        let photo = String(repeating: "QUJD", count: 100_000)
        try save(own, in: "made", [.add(given: "Own", extra: #","imageData":"\#(photo)""#)])
        let contact = try own.identifier(of: "Own")
        for number in 0..<40 {
            try save(own, in: number.isMultiple(of: 2) ? "g" : "h", [.update(contact, #""jobTitle":"\#(number)""#)])
        }
        try save(own, [.update(contact, #""imageData":"QUJE""#)])
        #expect(counts(try own.takeBack("g", #""force":true"#)) == ["changed": 1])
        #expect(try value("jobTitle", of: "Own") == "" && value("imageData", of: "Own") == photo)
    }

    @Test("Memberships and links that others changed since stay")
    func relationsChangedSince() throws {
        let family = try group("Family", by: keeper)
        let (ada, bob, cid) = try (
            keeper.identifier(of: "Ada"), keeper.identifier(of: "Bob"), keeper.identifier(of: "Cid")
        )
        let seen = try #require(
            try mail.call("ListGroups").parameters["groups"]?.elements.map(Array.init)?.first?["identifier"]?.string)
        try save(mail, [member("addMember", seen, mail.identifier(of: "Ada"))])
        try keep(member("removeMember", family, ada))
        try keep(member("addMember", family, ada))
        #expect(try mail.takeBack().strings("groupConflicts") == [seen])
        #expect(try keeper.fetch(#""predicate":{"group":"\#(family)"}"#).names == ["Ada"])
        func link(_ operation: String, _ one: String, _ other: String) -> Change {
            .other(#"{"operation":"\#(operation)","contact":{"identifier":"\#(one)"},"member":"\#(other)"}"#)
        }
        try save(mail, in: "l", [link("link", mail.identifier(of: "Ada"), mail.identifier(of: "Bob"))])
        try keep(link("unlink", ada, bob))
        try keep(link("link", ada, cid))
        let links = try keeper.call("ListLinkedContacts", #"{"identifier":"\#(ada)"}"#).text
        let answer = try mail.takeBack("l")
        #expect(answer.error == "SaveDoesNotExist", "\(answer.text)")
        #expect(try keeper.call("ListLinkedContacts", #"{"identifier":"\#(ada)"}"#).text == links)
    }

    @Test("A group that others use stays, however they use it", arguments: [true, false])
    func used(byNesting: Bool) throws {
        try save(mail, [.other(#"{"operation":"add","group":{"name":"Family"}}"#)])
        let groups = try keeper.call("ListGroups").parameters["groups"]?.elements.map(Array.init)
        let family = try #require(groups?.first?["identifier"]?.string)
        if byNesting {
            let outer = try group("Outer", by: keeper)
            try keep(member("addSubgroup", outer, family))
        } else {
            let step =
                #"{"operation":"add","contact":{"identifier":"x","givenName":"New"}},"#
                + #"{"operation":"addMember","group":{"identifier":"\#(family)","name":"N"},"member":"x"}"#
            try keep(.other(step))
        }
        #expect(try mail.takeBack().strings("groupConflicts").count == 1)
        #expect(try keeper.call("ListGroups").text.contains("Family"))
    }

    @Test("A limited app whose access was lowered takes nothing back, and learns nothing of hidden groups and links")
    func barred() throws {
        let own = try fixture.app("own", .limited(to: fixture.records("Ada", "Bob")), changes: .own)
        var answers: [String] = []
        for isHidden in [false, true] {
            let name = "Own\(isHidden)"
            try save(own, in: name, [.add(given: name)])
            let contact = try keeper.identifier(of: name)
            if isHidden {
                try keep(member("addMember", try group("Hidden", by: keeper), contact))
                try keep(
                    .other(
                        #"{"operation":"link","contact":{"identifier":"\#(contact)"},"member":"\#(try keeper.identifier(of: "Cid"))"}"#
                    ))
            }
            try save(own, in: name + "d", [.delete(own.identifier(of: name))])
            // The inverse of the deletion is taken back, too, although the app may neither link nor see the group.
            #expect(try own.takeBack(name + "d", #""newGroup":"\#(name)u""#).error == nil)
            let undone = try own.takeBack(name + "u", #""newGroup":"\#(name)v""#)
            #expect(counts(undone) == ["removed": 1] && undone.parameters["partial"]?.bool == false, "\(undone.text)")
            let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
            let revoked = try administrator.call(
                "ChangeGrantedContacts",
                #"{"app":"own","change":"revoke","contacts":["\#(isHidden ? "Ada" : "Bob")"]}"#)
            #expect(revoked.error == nil)
            for more in [#""dryRun":true"#, ""] {
                answers.append(try own.takeBack(name + "d", more).error ?? "none")
            }
        }
        #expect(Set(answers) == ["SaveDoesNotExist"])
        #expect(try keeper.fetch().names == ["Ada", "Bob", "Cid"])
    }

    @Test("The size of hidden values does not show in what an app may still add")
    func allowance() throws {
        var bounds = SpaceBounds()
        bounds.app = 8 * 1_048_576
        let fixture = try BrokerFixture(space: bounds)
        let keeper = try fixture.app("keeper", .full, keys: .all)
        let own = try fixture.app("own", .limited(to: []), changes: .own)
        try save(own, in: "made", [.add(given: "Own")])
        let note = String(repeating: "x", count: 900_000)
        #expect(try keeper.save([.update(keeper.identifier(of: "Own"), #""note":"\#(note)""#)]).error == nil)
        for _ in 0..<40 {
            try save(own, [.delete(own.identifier(of: "Own"))])
            #expect(try own.takeBack().error == nil)
        }
        // 40 times the note would be more than such an app may add.
        #expect(try own.save([.add(given: "More")]).error == nil)
    }

    @Test("After a restored backup, what was saved before is not taken back")
    func restored() throws {
        try save(mail, [.update(mail.identifier(of: "Ada"), #""nickname":"n""#), .delete(mail.identifier(of: "Bob"))])
        let backup = try Backup(of: fixture)
        #expect(try backup.restore(in: fixture, replaces: true).error == nil)
        let answer = try mail.takeBack("g", #""force":true"#)
        #expect(answer.error == "SaveDoesNotExist", "\(answer.text)")
    }

    @Test("A crash before the granted sets were changed is made good by the next call")
    func crashed() throws {
        var mail = mail
        _ = try fixture.app("limited", .limited(to: fixture.records("Ada")))
        try save(mail, [.delete(mail.identifier(of: "Ada"))])
        let files = fixture.files().filter { $0.key.contains("access") }
        #expect(counts(try mail.takeBack()) == ["returned": 1])
        try fixture.crash(losing: files)
        mail = try fixture.app("mail")
        #expect(try mail.takeBack().error == nil)
        #expect(try fixture.app("limited").fetch().names == ["Ada"])
    }

    @Test("A group of very many saves expires in one pass")
    func manySaves() throws {
        let ada = try mail.identifier(of: "Ada")
        for number in 0..<300 { try save(mail, [.update(ada, #""nickname":"\#(number)""#)]) }
        #expect(counts(try mail.takeBack("g", #""dryRun":true"#)) == ["changed": 1])
        fixture.loop.advance(by: .seconds(31 * 86_400))
        try keep(.add(given: "New"))
        #expect(try mail.takeBack().error == "SaveDoesNotExist")
    }
}
