import BrokerAccessControl
import BrokerModel
import BrokerVarlink
import Glibc
import Testing

@testable import BrokerCore

@Suite("Watching")
struct WatchTests {
    private static let interval = Duration.milliseconds(60)

    @Test("The first reply is the token, then there is one for each burst that the app can see")
    func bursts() throws {
        let house = try BrokerHouse()
        let keeper = try house.keeper(adding: "Ada", "Bob")
        let mail = try house.app("mail", .limited(to: house.records("Ada")))
        let token = try mail.fetch().token
        let watch = try mail.begin("WatchChanges", more: true)
        #expect(try mail.replies(1, to: watch).map(\.token) == [token])
        house.loop.advance(by: Self.interval)

        // Nothing about whom it does not see.
        _ = try keeper.save([.update(keeper.identifier(of: "Bob"), #""nickname":"B""#), .add(given: "Cid")])
        _ = try keeper.save([.delete(keeper.identifier(of: "Cid"))])
        house.loop.advance(by: Self.interval)
        #expect(try mail.replies(to: watch).count == 1)

        let ada = try keeper.identifier(of: "Ada")
        for name in ["a", "b", "c"] { _ = try keeper.save([.update(ada, #""nickname":"\#(name)""#)]) }
        #expect(try mail.replies(to: watch).count == 2)
        house.loop.advance(by: Self.interval)
        let replies = try mail.replies(to: watch)
        #expect(replies.count == 3 && replies.allSatisfy(\.continues))
        #expect(try mail.fetch().token == replies.last?.token)
        #expect(Set(replies.compactMap(\.token)).count == 3)
        house.loop.advance(by: Self.interval)
        #expect(try mail.replies(to: watch).count == 3)
    }

    @Test("What is given and taken back is told, and so is what the app does itself")
    func access() throws {
        let house = try BrokerHouse()
        try house.keeper(adding: "Ada", "Bob")
        let mail = try house.app("mail", .limited(to: house.records("Ada")))
        let watch = try mail.begin("WatchChanges", more: true)
        var count = try mail.replies(1, to: watch).count
        for set in [try house.records("Ada", "Bob"), try house.records("Bob")] {
            house.loop.advance(by: Self.interval)
            try house.grant(.limited(to: set), to: mail)
            count += 1
            #expect(try mail.replies(to: watch).count == count)
        }
        house.loop.advance(by: Self.interval)
        _ = try house.app("mail").save([.add(given: "Mine")])
        house.loop.advance(by: Self.interval)
        #expect(try mail.replies(to: watch).count > count)
    }

    @Test("It never asks; it waits in silence until something is decided, and ends when that is taken back")
    func silence() throws {
        let house = try BrokerHouse()
        try house.keeper(adding: "Ada")
        let mail = try house.app("mail")
        let watch = try mail.begin("WatchChanges", more: true)
        house.loop.advance(by: .seconds(600))
        #expect(try mail.replies(to: watch).isEmpty && !watch.isOver)
        #expect(house.broker.prompts.openCount(1_000) == 0)
        try house.grant(.limited(to: house.records("Ada")), to: mail)
        #expect(try mail.replies(to: watch).count == 1)
        house.broker.grants.takeBack(mail.principal, detail: "ended")
        #expect(try mail.replies(2, to: watch).last?.error == "AccessDenied")
        #expect(watch.isOver)
    }

    @Test("Who was refused is told so, at once or when that is decided")
    func refused() throws {
        let house = try BrokerHouse()
        try house.keeper(adding: "Ada")
        let denied = try house.app("denied", .denied)
        #expect(try denied.stream("WatchChanges").map(\.error) == ["AccessDenied"])
        let full = try house.app("full", .full)
        let watch = try full.begin("WatchChanges", more: true)
        #expect(try full.replies(1, to: watch)[0].error == nil)
        try house.grant(.denied, to: full)
        #expect(try full.replies(2, to: watch)[1].error == "AccessDenied")
        let waiting = try house.app("waiting")
        let wait = try waiting.begin("WatchChanges", more: true)
        try house.grant(.denied, to: waiting)
        #expect(try waiting.replies(1, to: wait)[0].error == "AccessDenied")
        #expect(try full.call("WatchChanges").error == "ExpectedMore")
    }

    @Test("Nothing is kept for who cannot be told because the book cannot be read")
    func unreadable() throws {
        let house = try BrokerHouse()
        try house.keeper(adding: "Ada")
        try house.restart()
        let file = open(house.book + "/contacts.sqlite", O_WRONLY | O_TRUNC | O_CLOEXEC)
        try #require(file >= 0)
        close(file)
        let keeper = try house.app("keeper")
        for _ in 0..<3 { #expect(try keeper.stream("WatchChanges").map(\.error) == ["StoreUnavailable"]) }
        #expect(house.broker.history.watchers == 0)
    }

    @Test("Nothing is kept for who has gone")
    func gone() throws {
        let house = try BrokerHouse()
        let keeper = try house.keeper(adding: "Ada")
        let chat = try house.app("chat", .full)
        let watch = try chat.begin("WatchChanges", more: true)
        _ = try chat.replies(1, to: watch)
        #expect(house.broker.history.watchers == 1)
        chat.hangUp()
        #expect(house.broker.history.watchers == 0)
        _ = try keeper.save([.add(given: "Bob")])
        #expect(try chat.replies(to: watch).count == 1)
    }
}
