import BrokerAccessControl
import BrokerAccessStore
import BrokerModel
import Testing

@testable import BrokerCore

@Suite("Expired grants")
struct EndedGrantTests {
    @Test(
        "An expired grant of a process gives nothing and does not hide the app's lasting grant",
        arguments: ["its own end", "the policy's end"])
    func lastingGrantCounts(whose: String) throws {
        let house = try BrokerHouse()
        try house.keeper(adding: "Ada", "Grace")
        if whose == "the policy's end" {
            var rule = Rule(place: "test.toml:1")
            rule.maximumLifetime = 1_000
            house.rule([rule])
        }
        let app = try house.app("mail", .limited(to: house.records("Ada")))
        let bound = app.principal.bound(to: .process(app.caller.process))
        let now = house.broker.surroundings.seconds
        let access = house.broker.access
        _ = try access.makeIdentifiers(for: bound, sharesStandingKey: true)
        let grant =
            whose == "its own end"
            ? Grant(
                access: .full, lifetime: .untilTime(now + 300), revision: access.nextRevision(), decidedBy: .person,
                decidedAt: now)
            : Grant(
                access: .full, lifetime: .process, revision: access.nextRevision(), decidedBy: .person,
                decidedAt: now - 700)
        access.setGrant(grant, for: bound, displayName: "mail", at: house.broker.books.moment(of: 1_000))
        house.broker.history.moved()
        house.broker.turn.work(committed: {})
        house.loop.turn()
        #expect(try app.fetch().names == ["Ada", "Grace"])
        // No timer is set for this grant: the read itself compares the time.
        house.loop.advance(by: .seconds(301))
        #expect(try app.fetch().names == ["Ada"])
        #expect(house.broker.grants.standing(of: app.session).principal == app.principal)
    }
}
