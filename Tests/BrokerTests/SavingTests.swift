import BrokerAccessControl
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerCalls
@testable import BrokerGrants

@Suite("Saves by apps")
struct SavingTests {
    @Test("With limited keys an app may delete a card that it created, and no other", arguments: [true, false])
    func deleting(limited: Bool) throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        let keys = ContactKeySet([.givenName])
        let access = limited ? Access.limited(to: try fixture.records("Ada")) : .full
        let mail = try fixture.app("mail", access, keys: keys)
        #expect(try mail.save([.add(given: "Mine")]).error == nil)
        let (ada, mine) = (try mail.identifier(of: "Ada"), try mail.identifier(of: "Mine"))
        let refused = try mail.save([.delete(mine), .delete(ada)])
        #expect(refused.error == "RecordNotWritable")
        #expect(refused.text == #"{"index":1,"identifier":"\#(ada)"}"#)
        #expect(try mail.fetch().names == ["Ada", "Mine"])
        try fixture.restart()
        let again = try fixture.app("mail")
        #expect(try again.save([.delete(mine)]).error == nil)
        #expect(try again.fetch().names == ["Ada"])
        // After a reset, an app with the same name is not the creator.
        #expect(try again.save([.add(given: "Mine")]).error == nil)
        fixture.grants.endGrant(again.principal, detail: "reset")
        try fixture.grant(.full, keys: keys, to: again)
        let namesake = try fixture.app("mail")
        #expect(try namesake.save([.delete(namesake.identifier(of: "Mine"))]).error == "RecordNotWritable")
    }

    /// Parameters of a save that adds cards. The default count is the smallest for which a worker prepares the save
    /// before its turn.
    private func cards(_ name: String, _ count: Int = 32, last: String = "") -> String {
        let steps = (0..<count).map { number in
            let extra = number == count - 1 ? last : ""
            return #"{"operation":"add","contact":{"givenName":"\#(name)\#(number)"\#(extra)}}"#
        }
        return #"{"changes":["# + steps.joined(separator: ",") + "]}"
    }

    @Test("Large saves of several apps run one after the other, each with its own contacts")
    func several() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        let apps = try ["a", "b", "c", "d"].map { try fixture.app($0, .full) }
        let calls = try apps.map { try $0.begin("SaveContacts", cards($0.caller.app)) }
        for (app, call) in zip(apps, calls) { #expect(try app.replies(1, to: call).map(\.error) == [nil]) }
        let names = try apps[0].fetch().names
        #expect(Set(names) == Set(["Ada"] + ["a", "b", "c", "d"].flatMap { app in (0..<32).map { "\(app)\($0)" } }))
        #expect(names.count == 129)
    }

    @Test("A save that is prepared but loses its permission during another save saves nothing")
    func withdrawn() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        let (first, second) = (try fixture.app("a", .full), try fixture.app("b", .full))
        let calls = [
            try first.begin("SaveContacts", cards("a")), try second.begin("SaveContacts", cards("b")),
        ]
        try fixture.grant(.denied, to: second)
        #expect(try first.replies(1, to: calls[0]).map(\.error) == [nil])
        #expect(try second.replies(1, to: calls[1]).map(\.error) == ["AccessDenied"])
        #expect(try first.fetch().names.count == 33)
    }

    @Test("Other work runs while a large save is read, and an app that is denied meanwhile saves nothing")
    func withdrawnWhileRead() throws {
        let fixture = try BrokerFixture(readsSavesByStep: true)
        try fixture.keeper(adding: "Ada")
        let (mail, other) = (try fixture.app("mail", .full), try fixture.app("other", .full))
        let call = try mail.begin("SaveContacts", cards("a", 900), turning: false)
        let rounds = fixture.loop.rounds
        #expect(fixture.loop.run { fixture.loop.rounds - rounds > 900 })
        #expect(try mail.replies(1, to: call).map(\.error) == [nil])

        // The error does not even say what is wrong with the save.
        let late = try mail.begin(
            "SaveContacts", cards("b", 900, last: #","birthday":"1990-02-30""#), turning: false)
        fixture.grants.endGrant(mail.principal, detail: "reset")
        try fixture.grant(.denied, to: mail)
        #expect(try mail.replies(1, to: late).map(\.error) == ["AccessDenied"])
        #expect(try other.fetch().names.count == 901)
    }

    @Test("A unified contact counts as its cards, and a save about too many cards is refused")
    func manyCards() throws {
        let fixture = try BrokerFixture(readsSavesByStep: true, cardsPerSave: 5)
        let keeper = try fixture.app("keeper", .full)
        try #require(try keeper.save(["Ada", "Bob", "Cid"].map { .add(given: $0) }).error == nil)
        try LinkTests.link(keeper, "Ada", "Bob", "Cid")
        let unified = try #require(try keeper.fetch().contacts.first?["identifier"]?.string)
        let change = Change.update(unified, #""nickname":"N""#)
        let refused = try keeper.save([change, change])
        #expect(refused.error == "LimitExceeded")
        #expect(refused.text == #"{"limit":"changes","maximum":5}"#)
        #expect(try keeper.save([change]).error == nil)
        // An unknown identifier counts as no card.
        let unknown = Change.delete("0123456789abcdef0123456789abcdef")
        let none = try keeper.save([change] + Array(repeating: unknown, count: 9))
        #expect(none.error == "RecordDoesNotExist")
        #expect(none.text == #"{"index":1}"#)
    }

    @Test("An error in the last step of a large save names that step, and nothing is saved")
    func lastStep() throws {
        let fixture = try BrokerFixture(readsSavesByStep: true)
        try fixture.keeper(adding: "Ada")
        let mail = try fixture.app("mail", .full)
        let call = try mail.begin("SaveContacts", cards("a", 100, last: #","birthday":"1990-02-30""#))
        let answer = try mail.replies(1, to: call)[0]
        #expect(answer.error == "InvalidContact" && answer.parameters["index"]?.integer == 99, "\(answer.text)")
        let unread = try mail.begin("SaveContacts", cards("a", 100, last: #","birthday":7"#))
        #expect(try mail.replies(1, to: unread)[0].error == "InvalidParameter")
        #expect(try mail.fetch().names == ["Ada"])
    }
}
