import BrokerAccessControl
import BrokerAccessStore
import BrokerModel
import Testing

@testable import BrokerBooks
@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Expired grants")
struct EndedGrantTests {
    @Test(
        "An expired grant of a process gives nothing and does not hide the app's persistent grant",
        arguments: ["its own end", "the policy's end"])
    func lastingGrantCounts(whose: String) throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Grace")
        if whose == "the policy's end" {
            var rule = Rule(place: "test.toml:1")
            rule.maximumLifetime = 1_000
            fixture.rule([rule])
        }
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let bound = app.principal.bound(to: .process(app.caller.process))
        let now = fixture.surroundings.seconds
        let access = fixture.access
        _ = try access.makeIdentifiers(for: bound, sharesPersistentKey: true)
        let grant =
            whose == "its own end"
            ? Grant(
                access: .full, lifetime: .untilTime(now + 300), revision: access.nextRevision(), decidedBy: .person,
                decidedAt: now)
            : Grant(
                access: .full, lifetime: .process, revision: access.nextRevision(), decidedBy: .person,
                decidedAt: now - 700)
        access.setGrant(grant, for: bound, displayName: "mail", at: fixture.books.moment(of: 1_000))
        fixture.history.movedOfAll()
        fixture.groupCommit.work(committed: {})
        fixture.loop.iterate()
        #expect(try app.fetch().names == ["Ada", "Grace"])
        // No timer is set for this grant: the read itself compares the time.
        fixture.loop.advance(by: .seconds(301))
        #expect(try app.fetch().names == ["Ada"])
        #expect(fixture.grants.effectiveAccess(of: app.session).principal == app.principal)
    }
}
