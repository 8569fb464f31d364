import BrokerAccessControl
import BrokerAccessStore
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerAppCalls
@testable import BrokerBooks
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Grants that are not used")
struct UnusedGrantTests {
    let fixture: BrokerFixture
    let app: TestApp
    private static let day: Int64 = 86_400

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Grace")
        app = try fixture.app("mail", .full, strength: .installed)
    }

    private func rule(days: Int64) {
        var rule = Rule(place: "test.toml:1")
        rule.strengths = [.installed]
        rule.maximumUnused = days * Self.day
        fixture.rule([rule])
    }

    private func status(_ app: TestApp) throws -> String? {
        try app.call("GetAuthorization").parameters["status"]?.string
    }

    private func revocations() throws -> [String] { try fixture.audit(.revocation) }

    @Test("A grant ends when it was not used for so long, once and on record, and not while it is used")
    func ends() throws {
        rule(days: 10)
        for _ in 0..<3 {
            fixture.loop.advance(by: .seconds(9 * Self.day))
            #expect(try app.fetch().names == ["Ada", "Grace"])
        }
        fixture.loop.advance(by: .seconds(10 * Self.day - 60))
        #expect(try status(app) == "full")
        #expect(try revocations() == [])
        // A look at the status is no use.
        fixture.loop.advance(by: .seconds(61))
        #expect(try revocations() == ["notDetermined expired unused"])
        #expect(try status(app) == "notDetermined")
        fixture.loop.advance(by: .seconds(20 * Self.day))
        #expect(try revocations().count == 1)
    }

    @Test("Other apps keep their unused grants")
    func others() throws {
        let other = try fixture.app("other", .full, strength: .service)
        rule(days: 1)
        fixture.loop.advance(by: .seconds(2 * Self.day))
        #expect(try status(app) == "notDetermined")
        #expect(try status(other) == "full")
    }

    @Test("A denial stays")
    func denial() throws {
        let denied = try fixture.app("denied", .denied, strength: .installed)
        rule(days: 1)
        fixture.loop.advance(by: .seconds(2 * Self.day))
        #expect(try status(denied) == "denied")
    }

    @Test(
        "A rule ends grants that were unused before it came into force, also at a start; they do not return without it")
    func atOnce() throws {
        fixture.loop.advance(by: .seconds(20 * Self.day))
        #expect(try status(app) == "full")
        rule(days: 10)
        #expect(try revocations() == ["notDetermined expired unused"])
        #expect(try status(app) == "notDetermined")
        #expect(fixture.access.grant(of: app.principal) == nil)
        fixture.rule([])
        #expect(try status(app) == "notDetermined")
        try fixture.restart()
        #expect(try status(fixture.app("mail", strength: .installed)) == "notDetermined")
    }

    @Test("A call does not use a grant whose end has passed while the timer was late")
    func lateTimer() throws {
        rule(days: 10)
        // The timer is set for the end of the app's grant. This grant is older, and was never used.
        let late = try fixture.app("late", strength: .installed)
        let access = fixture.access
        _ = try access.makeIdentifiers(for: late.principal, sharesPersistentKey: true)
        let grant = Grant(
            access: .full, revision: access.nextRevision(), decidedBy: .person,
            decidedAt: fixture.surroundings.seconds - 5 * Self.day)
        access.setGrant(grant, for: late.principal, displayName: "late", at: fixture.books.moment(of: 1_000))
        fixture.history.movedOfAll()
        fixture.groupCommit.work(committed: {})
        fixture.loop.advance(by: .seconds(5 * Self.day - 60))
        // This call caches the effective access.
        #expect(try status(late) == "full")
        #expect(fixture.access.grant(of: late.principal) != nil)
        fixture.loop.advance(by: .seconds(61))
        #expect(try late.begin("FetchContacts", #"{"keys":["givenName"]}"#).isOver == false)
        #expect(try status(late) == "notDetermined")
        #expect(try status(app) == "full")
        #expect(try revocations() == ["notDetermined expired unused"])
    }

    @Test("Queued replies of an app whose grant ends are withdrawn")
    func watch() throws {
        rule(days: 1)
        let watch = try app.begin("WatchChanges", more: true)
        #expect(try app.replies(1, to: watch).count == 1)
        fixture.loop.advance(by: .seconds(Self.day + 1))
        #expect(watch.isOver)
        #expect(try app.replies(to: watch).last?.error == "AccessDenied")
    }
}
