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
}
