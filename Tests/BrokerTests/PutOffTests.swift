import AccessControl
import Testing

@testable import AccessStore
@testable import Broker

@Suite("The record of a save, committed a little later than the app is told")
struct PutOffTests {
    private let house: BrokerHouse
    private let mail: TestApp

    /// An app that sees Ada, has added a card, and says the next thing at once.
    init() throws {
        house = try BrokerHouse()
        try house.keeper(adding: "Ada", "Grace")
        mail = try house.app("mail", .limited(to: try house.records("Ada")))
        house.loop.turn()
        house.loop.keepHearing(true)
        #expect(try mail.save([.add(given: "Mine")]).error == nil)
        #expect(house.broker.access.hasUncommitted)
    }

    @Test("It is committed before anything is told that rests on it")
    func told() throws {
        #expect(try mail.fetch().names == ["Ada", "Mine"])
        #expect(!house.broker.access.hasUncommitted)
    }

    @Test("The next save is on its way into the book before it is committed, and sees what the first did")
    func next() throws {
        let added = #"{"changes":[{"operation":"add","contact":{"givenName":"Too"}}]}"#
        let call = try mail.begin("SaveContacts", added)
        #expect(house.broker.turn.isPutOff)
        #expect(house.broker.access.hasUncommitted)
        #expect(try mail.replies(1, to: call).map(\.error) == [nil])
        #expect(try mail.fetch().names == ["Ada", "Mine", "Too"])
        house.loop.keepHearing(false)
        house.loop.turn()
        #expect(!house.broker.access.hasUncommitted)
        #expect(try house.audit(.save).count == 3)
    }

    @Test("Who asks what is on record is told of it")
    func audit() throws {
        let root = TestApp(house: house, caller: house.caller("root", uid: 0), door: .admin)
        let records = try root.call("QueryAudit", #"{"uid":1000,"event":"save"}"#).parameters["records"]?.elements
        // The keeper's, and this one.
        #expect(records.map { Array($0).count } == 2)
    }

    @Test("It is committed when nobody has more to say")
    func silence() throws {
        house.loop.keepHearing(false)
        house.loop.turn()
        #expect(!house.broker.access.hasUncommitted)
        #expect(try house.audit(.save).count == 2)
    }

    @Test("A crash before that takes nothing away")
    func crash() throws {
        house.loop.keepHearing(false)
        try house.crash()
        #expect(try house.app("mail").fetch().names == ["Ada", "Mine"])
        #expect(try house.audit(.save) == ["", "before a crash"])
    }
}
