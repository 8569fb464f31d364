import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerCalls
import BrokerJSON
import Testing

@testable import BrokerCore

@Suite("Rate limit of the audit")
struct AuditPaceTests {
    @Test("An app that is refused in a loop writes one record a minute, and a count")
    func refusals() throws {
        let fixture = try BrokerFixture()
        fixture.decide(.denied, "nosy")
        let app = fixture.app("nosy")
        for _ in 1...180 {
            for _ in 1...20 { #expect(try app.fetch() == "AccessDenied") }
            fixture.loop.pass(.seconds(1))
        }
        fixture.loop.pass(.seconds(60))
        let records = try fixture.audit(of: "nosy")
        #expect(records == ["grant"] + Array(repeating: ["refusal", "refusal +1199"], count: 3).flatMap { $0 })
        #expect(fixture.broker.access.audit.nextWindowEnd == nil)
        #expect(try fixture.broker.access.audit.reader.verify(from: nil, budget: 1_000).brokenAt == nil)
    }

    @Test("A repeated disclosure is recorded before the first reply, and counted ten seconds later")
    func repeats() throws {
        let fixture = try BrokerFixture()
        fixture.decide(.full, "mail")
        let app = fixture.app("mail")
        for _ in 1...5 { #expect(try app.fetch().hasPrefix(#"{"contacts":[]"#)) }
        #expect(try fixture.audit(of: "mail") == ["grant", "disclosure"])
        fixture.loop.pass(.seconds(11))
        #expect(try fixture.audit(of: "mail") == ["grant", "disclosure", "disclosure +4"])
        fixture.loop.pass(.seconds(3_600))
        #expect(try fixture.audit(of: "mail").count == 3)
    }

    /// A broker in which an app may write ten records at once, and ten more per hour.
    private func narrow(held: Int = 64) throws -> BrokerFixture {
        let fixture = try BrokerFixture {
            $0.audit.recordsPerHour = 20
            $0.audit.disclosureWindow = .zero
            $0.audit.refusalWindow = .zero
            $0.callsHeld = held
        }
        for name in ["loud", "quiet"] { fixture.decide(.denied, name) }
        return fixture
    }

    @Test("An app above its limit waits and continues at the allowed rate, and no other app waits")
    func pace() throws {
        let fixture = try narrow()
        let (loud, quiet) = (fixture.app("loud"), fixture.app("quiet"))
        for _ in 1...10 { try loud.fetch() }
        #expect(loud.answers == 10)
        let more = fixture.app("loud")
        try loud.begin("FetchContacts", StandInConnection.fetching)
        try more.begin("FetchContacts", StandInConnection.fetching)
        fixture.loop.pass(.seconds(359))
        #expect(loud.answers == 10 && more.answers == 0)
        try quiet.fetch()
        #expect(quiet.answers == 1)
        fixture.loop.pass(.seconds(2))
        #expect(loud.answers == 11 && more.answers == 0)
        fixture.loop.pass(.seconds(358))
        #expect(more.answers == 0)
        fixture.loop.pass(.seconds(2))
        #expect(more.answers == 1)
        #expect(try fixture.audit(of: "loud").count == 13)
    }

    @Test("A grant and a revocation of an app above its limit are recorded at once")
    func reserve() throws {
        let fixture = try narrow()
        let loud = fixture.app("loud")
        for _ in 1...10 { try loud.fetch() }
        try loud.begin("FetchContacts", StandInConnection.fetching)
        fixture.decide(.full, "loud")
        let administrator = fixture.administrator()
        try administrator.call("SetGrant", #"{"app":"loud","status":"denied"}"#)
        #expect(administrator.errors.isEmpty)
        #expect(try fixture.audit(of: "loud").suffix(2) == ["grant", "revocation"])
        #expect(loud.answers == 10)
        fixture.loop.pass(.seconds(361))
        // The waiting call is decided by the access at that time.
        #expect(loud.errors.count == 11)
    }

    @Test("When sub-UIDs have used up their allowance, further ones wait, and users' apps and administrators do not")
    func strangers() throws {
        let fixture = try BrokerFixture {
            $0.audit.strangers = AuditAllowance(recordsPerHour: 20, bytesPerHour: 1_000_000)
        }
        fixture.decide(.denied, "quiet")
        func app(_ number: UInt32) -> StandInConnection {
            fixture.decide(.denied, "app \(number)", uid: 100_000 + number)
            return fixture.app("app \(number)", uid: 100_000 + number)
        }
        let strangers = (1...10).map(app)
        for stranger in strangers { try stranger.fetch() }
        #expect(strangers.map(\.answers) == Array(repeating: 1, count: 10))
        let more = app(11)
        for app in [more, strangers[0]] { try app.begin("FetchContacts", StandInConnection.fetching) }
        fixture.loop.pass(.seconds(359))
        #expect(more.answers == 0 && strangers[0].answers == 1)
        let quiet = fixture.app("quiet")
        try quiet.fetch()
        #expect(quiet.answers == 1)
        try fixture.administrator().call("ResetGrant", #"{"app":"quiet"}"#)
        // Ten records are refilled in an hour.
        fixture.loop.pass(.seconds(400))
        #expect(more.answers + strangers[0].answers == 3)
    }

    @Test("A limited number of an app's calls wait, and a closed connection frees its place")
    func waiting() throws {
        let fixture = try narrow(held: 2)
        let loud = fixture.app("loud")
        for _ in 1...10 { try loud.fetch() }
        let others = (0..<4).map { _ in fixture.app("loud") }
        for each in others[..<3] { try each.begin("FetchContacts", StandInConnection.fetching) }
        fixture.loop.iterate()
        #expect(others.map(\.errors) == [[], [], ["LimitExceeded"], []])
        others[0].close()
        try others[3].begin("FetchContacts", StandInConnection.fetching)
        fixture.loop.iterate()
        #expect(others[3].errors.isEmpty)
        fixture.loop.pass(.seconds(721))
        #expect(others[0].answers == 0 && others[1].answers == 1 && others[3].answers == 1)
    }
}
