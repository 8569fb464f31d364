import AccessControl
import ContactsModel
import Testing

@testable import Broker

@Suite("What an app may save")
struct SavingTests {
    @Test("Under a key scope an app deletes the card that it added, and no other", arguments: [true, false])
    func deleting(limited: Bool) throws {
        let house = try BrokerHouse()
        try house.keeper(adding: "Ada")
        let keys = ContactKeySet([.givenName])
        let access = limited ? Access.limited(to: try house.records("Ada")) : .full
        let mail = try house.app("mail", access, keys: keys)
        #expect(try mail.save([.add(given: "Mine")]).error == nil)
        let (ada, mine) = (try mail.identifier(of: "Ada"), try mail.identifier(of: "Mine"))
        let refused = try mail.save([.delete(mine), .delete(ada)])
        #expect(refused.error == "RecordNotWritable")
        #expect(refused.text == #"{"index":1,"identifier":"\#(ada)"}"#)
        #expect(try mail.fetch().names == ["Ada", "Mine"])
        try house.restart()
        let again = try house.app("mail")
        #expect(try again.save([.delete(mine)]).error == nil)
        #expect(try again.fetch().names == ["Ada"])
        // An app of the same name after a reset is not the one that made it.
        #expect(try again.save([.add(given: "Mine")]).error == nil)
        house.broker.takeBack(again.principal, detail: "reset")
        try house.grant(.full, keys: keys, to: again)
        let anew = try house.app("mail")
        #expect(try anew.save([.delete(anew.identifier(of: "Mine"))]).error == "RecordNotWritable")
    }

    /// So many as are made ready by another thread.
    private func cards(_ name: String) -> String {
        let steps = (0..<50).map { #"{"operation":"add","contact":{"givenName":"\#(name)\#($0)"}}"# }
        return #"{"changes":["# + steps.joined(separator: ",") + "]}"
    }

    @Test("Large saves that come at once are made one after the other, each with its own contacts")
    func several() throws {
        let house = try BrokerHouse()
        try house.keeper(adding: "Ada")
        let apps = try ["a", "b", "c", "d"].map { try house.app($0, .full) }
        let calls = try apps.map { try $0.begin("SaveContacts", cards($0.caller.app)) }
        for (app, call) in zip(apps, calls) { #expect(try app.replies(1, to: call).map(\.error) == [nil]) }
        let names = try apps[0].fetch().names
        #expect(Set(names) == Set(["Ada"] + ["a", "b", "c", "d"].flatMap { app in (0..<50).map { "\(app)\($0)" } }))
        #expect(names.count == 201)
    }

    @Test("A save that is taken its permission while another one is made leaves nothing, though it was made ready")
    func withdrawn() throws {
        let house = try BrokerHouse()
        try house.keeper(adding: "Ada")
        let (first, second) = (try house.app("a", .full), try house.app("b", .full))
        let calls = [
            try first.begin("SaveContacts", cards("a")), try second.begin("SaveContacts", cards("b")),
        ]
        try house.grant(.denied, to: second)
        #expect(try first.replies(1, to: calls[0]).map(\.error) == [nil])
        #expect(try second.replies(1, to: calls[1]).map(\.error) == ["AccessDenied"])
        #expect(try first.fetch().names.count == 51)
    }
}
