import BrokerAccessControl
import BrokerModel
import BrokerVarlink
import Glibc
import Testing

@testable import BrokerAppCalls
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Watches")
struct WatchTests {
    private static let interval = Duration.milliseconds(60)

    @Test("The first reply is the token, and then visible changes cause at most one reply in each interval")
    func bursts() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let token = try mail.fetch().token
        let watch = try mail.begin("WatchChanges", more: true)
        #expect(try mail.replies(1, to: watch).map(\.token) == [token])
        fixture.loop.advance(by: Self.interval)

        // Changes of hidden contacts cause no reply.
        _ = try keeper.save([.update(keeper.identifier(of: "Bob"), #""nickname":"B""#), .add(given: "Cid")])
        _ = try keeper.save([.delete(keeper.identifier(of: "Cid"))])
        fixture.loop.advance(by: Self.interval)
        #expect(try mail.replies(to: watch).count == 1)

        let ada = try keeper.identifier(of: "Ada")
        for name in ["a", "b", "c"] { _ = try keeper.save([.update(ada, #""nickname":"\#(name)""#)]) }
        #expect(try mail.replies(to: watch).count == 2)
        fixture.loop.advance(by: Self.interval)
        let replies = try mail.replies(to: watch)
        #expect(replies.count == 3 && replies.allSatisfy(\.continues))
        #expect(try mail.fetch().token == replies.last?.token)
        #expect(Set(replies.compactMap(\.token)).count == 3)
        fixture.loop.advance(by: Self.interval)
        #expect(try mail.replies(to: watch).count == 3)
    }

    @Test("A watch reports what is granted and revoked, and what the app changes itself")
    func access() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Bob")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let watch = try mail.begin("WatchChanges", more: true)
        var count = try mail.replies(1, to: watch).count
        for set in [try fixture.records("Ada", "Bob"), try fixture.records("Bob")] {
            fixture.loop.advance(by: Self.interval)
            try fixture.grant(.limited(to: set), to: mail)
            count += 1
            #expect(try mail.replies(to: watch).count == count)
        }
        fixture.loop.advance(by: Self.interval)
        _ = try fixture.app("mail").save([.add(given: "Mine")])
        fixture.loop.advance(by: Self.interval)
        #expect(try mail.replies(to: watch).count > count)
    }

    @Test("A watch never prompts, does not reply until access is decided, and ends when access is revoked")
    func silence() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        let mail = try fixture.app("mail")
        let watch = try mail.begin("WatchChanges", more: true)
        fixture.loop.advance(by: .seconds(600))
        #expect(try mail.replies(to: watch).isEmpty && !watch.isOver)
        #expect(fixture.prompts.openCount(1_000) == 0)
        try fixture.grant(.limited(to: fixture.records("Ada")), to: mail)
        #expect(try mail.replies(to: watch).count == 1)
        fixture.grants.endGrant(mail.principal, detail: "ended")
        #expect(try mail.replies(2, to: watch).last?.error == "AccessDenied")
        #expect(watch.isOver)
    }

    @Test("A watch of a denied app gets an error, at once or when the denial is decided")
    func refused() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        let denied = try fixture.app("denied", .denied)
        #expect(try denied.stream("WatchChanges").map(\.error) == ["AccessDenied"])
        let full = try fixture.app("full", .full)
        let watch = try full.begin("WatchChanges", more: true)
        #expect(try full.replies(1, to: watch)[0].error == nil)
        try fixture.grant(.denied, to: full)
        #expect(try full.replies(2, to: watch)[1].error == "AccessDenied")
        let waiting = try fixture.app("waiting")
        let wait = try waiting.begin("WatchChanges", more: true)
        try fixture.grant(.denied, to: waiting)
        #expect(try waiting.replies(1, to: wait)[0].error == "AccessDenied")
        #expect(try full.call("WatchChanges").error == "ExpectedMore")
    }

    @Test("The broker keeps no watch that failed because the book cannot be read")
    func unreadable() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        try fixture.restart()
        let file = open(fixture.book + "/contacts.sqlite", O_WRONLY | O_TRUNC | O_CLOEXEC)
        try #require(file >= 0)
        close(file)
        let keeper = try fixture.app("keeper")
        for _ in 0..<3 { #expect(try keeper.stream("WatchChanges").map(\.error) == ["StoreUnavailable"]) }
        #expect(fixture.history.watchers == 0)
    }

    @Test("The broker keeps no watch of a closed connection")
    func gone() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada")
        let chat = try fixture.app("chat", .full)
        let watch = try chat.begin("WatchChanges", more: true)
        _ = try chat.replies(1, to: watch)
        #expect(fixture.history.watchers == 1)
        chat.hangUp()
        #expect(fixture.history.watchers == 0)
        _ = try keeper.save([.add(given: "Bob")])
        #expect(try chat.replies(to: watch).count == 1)
    }
}
