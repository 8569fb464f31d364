import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerCalls
import BrokerJSON
import Testing

@testable import BrokerCore
@testable import BrokerLedger

@Suite("Following the audit")
struct AuditFollowTests {
    private func events(_ connection: StandInConnection) -> [String] {
        connection.replies.flatMap { $0["records"]?.elements.map(Array.init) ?? [] }.compactMap { $0["event"]?.string }
    }

    @Test("A follower gets the latest records, and then each one as it is committed")
    func live() throws {
        let fixture = try BrokerFixture()
        fixture.decide(.denied, "nosy")
        let follower = fixture.administrator()
        try follower.begin("QueryAudit", #"{"allUsers":true,"limit":1,"follow":true}"#, more: true)
        #expect(fixture.loop.run { follower.replies.count == 1 })
        #expect(events(follower) == ["grant"])
        try fixture.app("nosy").fetch()
        fixture.loop.pass(.milliseconds(20))
        #expect(fixture.loop.run { follower.replies.count == 2 })
        fixture.decide(.full, "nosy")
        fixture.loop.pass(.milliseconds(20))
        #expect(fixture.loop.run { follower.replies.count == 3 })
        #expect(events(follower) == ["grant", "refusal", "grant"])
        #expect(follower.errors.isEmpty)
    }

    @Test("A follower with a filter gets all earlier matches first, and then only matches")
    func filtered() throws {
        let fixture = try BrokerFixture { $0.auditRecordsPerBatch = 2 }
        for name in ["a", "b", "a", "a"] { fixture.decide(.denied, name) }
        let follower = fixture.administrator()
        try follower.begin("QueryAudit", #"{"app":"a","follow":true}"#, more: true)
        #expect(
            fixture.loop.run {
                fixture.loop.pass(.milliseconds(20)); return events(follower).count == 3
            })
        try fixture.app("b").fetch()
        fixture.loop.pass(.milliseconds(20))
        try fixture.app("a").fetch()
        #expect(
            fixture.loop.run {
                fixture.loop.pass(.milliseconds(20)); return events(follower).count == 4
            })
        #expect(events(follower) == ["grant", "grant", "grant", "refusal"])
    }

    @Test("A follower that does not read is sent nothing more, misses nothing and delays nobody")
    func slowReader() throws {
        let fixture = try BrokerFixture {
            $0.auditRecordsPerBatch = 3
            $0.audit.refusalWindow = .zero
        }
        fixture.decide(.denied, "nosy")
        let follower = fixture.administrator()
        try follower.begin("QueryAudit", #"{"app":"nosy","event":"refusal","follow":true}"#, more: true)
        #expect(fixture.loop.run { follower.replies.count == 1 })
        follower.isReading = false
        let app = fixture.app("nosy")
        for _ in 1...10 {
            try app.fetch()
            fixture.loop.pass(.milliseconds(50))
        }
        #expect(
            fixture.loop.run {
                fixture.loop.pass(.milliseconds(20)); return follower.replies.count == 2
            })
        #expect(app.answers == 10 && events(follower).count <= 3)
        follower.isReading = true
        #expect(
            fixture.loop.run {
                fixture.loop.pass(.milliseconds(20)); return events(follower).count == 10
            })
        #expect(follower.replies.dropFirst().allSatisfy { $0["records"]?.count ?? 0 <= 3 })
    }

    @Test("When a follower's connection closes, following ends and its place is free")
    func gone() throws {
        let fixture = try BrokerFixture { $0.auditFollowers = 1 }
        let (first, second, third) = (fixture.administrator(), fixture.administrator(), fixture.administrator())
        try first.begin("QueryAudit", #"{"limit":1,"follow":true}"#, more: true)
        #expect(fixture.loop.run { first.replies.count == 1 })
        try second.begin("QueryAudit", #"{"follow":true}"#, more: true)
        #expect(second.errors == ["InvalidValue"])
        first.close()
        #expect(fixture.broker.feed.followers.isEmpty)
        fixture.decide(.denied, "nosy")
        fixture.loop.pass(.seconds(1))
        #expect(first.replies.count == 1)
        try third.begin("QueryAudit", #"{"limit":1,"follow":true}"#, more: true)
        #expect(fixture.loop.run { third.replies.count == 1 })
    }

    @Test("Following without the flag more is an error")
    func withoutMore() throws {
        let fixture = try BrokerFixture()
        #expect(try fixture.administrator().call("QueryAudit", #"{"follow":true}"#) == "ExpectedMore")
    }
}
