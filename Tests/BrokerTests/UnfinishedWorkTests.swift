import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerModel
import Dispatch
import Synchronization
import Testing

@testable import BrokerBooks
@testable import BrokerCore

@Suite("Work that a closed book, a stop or a crash leaves unfinished")
struct UnfinishedWorkTests {
    /// Makes thumbnails; the first one waits until it is let go.
    private final class Maker: Sendable {
        private let count = Mutex(0)
        private let gate = DispatchSemaphore(value: 0)
        let makes: Bool

        init(makes: Bool) { self.makes = makes }

        var calls: Int { count.withLock { $0 } }

        func make(_ photo: [UInt8]) -> [UInt8]? {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 { gate.wait() }
            return makes ? Array("/9j/TTTT".utf8) : nil
        }

        func letGo() { gate.signal() }
    }

    private func fixture(with maker: Maker) throws -> BrokerFixture {
        try BrokerFixture(makeThumbnail: { maker.make($0) })
    }

    private func savePhotos(_ fixture: BrokerFixture) throws -> TestApp {
        let keeper = try fixture.app("keeper", .full, keys: .all)
        let photos = (1...5).map { Change.add(given: "Ada \($0)", extra: #","imageData":"/9j/4AA\#($0)""#) }
        #expect(try keeper.save(photos).error == nil)
        return keeper
    }

    private func thumbnails(_ fixture: BrokerFixture) throws -> Int {
        let contacts = try fixture.app("keeper").call("FetchContacts", #"{"keys":["thumbnailImageData"]}"#).contacts
        return contacts.count { $0["thumbnailImageData"]?.string == "/9j/TTTT" }
    }

    private func waitForThumbnails(_ fixture: BrokerFixture) throws {
        try #require(fixture.loop.run { fixture.thumbnails.isIdle })
    }

    @Test("Photos that wait for a thumbnail when the idle book closes get it when the book opens again")
    func closedWhenIdle() throws {
        let maker = Maker(makes: true)
        let fixture = try fixture(with: maker)
        let keeper = try savePhotos(fixture)
        try #require(fixture.loop.run { maker.calls == 1 })
        keeper.hangUp()
        fixture.loop.advance(by: .seconds(301))
        #expect(fixture.books.opened(1_000) == nil)
        maker.letGo()
        try waitForThumbnails(fixture)
        #expect(maker.calls == 1)
        _ = try thumbnails(fixture)
        try waitForThumbnails(fixture)
        #expect(try thumbnails(fixture) == 5)
    }

    @Test("Photos that wait for a thumbnail at a crash get it after the next start")
    func crashed() throws {
        let maker = Maker(makes: true)
        let fixture = try fixture(with: maker)
        _ = try savePhotos(fixture)
        try #require(fixture.loop.run { maker.calls == 1 })
        try fixture.crash()
        maker.letGo()
        _ = try thumbnails(fixture)
        try waitForThumbnails(fixture)
        #expect(try thumbnails(fixture) == 5)
    }

    @Test("A photo that has no thumbnail is decoded once, however often the book is opened")
    func withoutThumbnail() throws {
        let maker = Maker(makes: false)
        let fixture = try fixture(with: maker)
        maker.letGo()
        _ = try savePhotos(fixture)
        try waitForThumbnails(fixture)
        try fixture.restart()
        #expect(try thumbnails(fixture) == 0)
        try waitForThumbnails(fixture)
        #expect(maker.calls == 5)
    }

    @Test("A stop while saves and photos wait warns of nothing, and every save in the book is on record")
    func stopped() throws {
        let maker = Maker(makes: true)
        let fixture = try fixture(with: maker)
        let keeper = try savePhotos(fixture)
        for number in 1...40 {
            let change = Change.add(given: "Bob \(number)").text
            _ = try keeper.begin("SaveContacts", #"{"changes":[\#(change)]}"#, turning: number == 20)
        }
        keeper.hangUp()
        fixture.broker.close()
        maker.letGo()
        try waitForThumbnails(fixture)
        fixture.loop.advance(by: .seconds(60))
        #expect(warnings(fixture).isEmpty)
        try fixture.restart()
        let names = try fixture.app("keeper").fetch().names
        #expect(names.count >= 5)
        #expect(try fixture.recordedContacts(.save) == names.count)
        #expect(warnings(fixture).isEmpty)
    }

    /// The lines in the journal except the last record of the audit, which the broker reports when it stops.
    private func warnings(_ fixture: BrokerFixture) -> [String] {
        fixture.journal.lines.filter { !$0.hasPrefix("the audit has ") }
    }

    private func reports(_ fixture: BrokerFixture) -> Int {
        fixture.journal.lines.count { $0.contains("has lost saves") }
    }

    @Test("A book that lost acknowledged saves is reported once, and is served")
    func lostSaves() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada")
        let before = fixture.files().filter { $0.key.contains("contacts.sqlite") }
        #expect(try keeper.save([.add(given: "Bob")]).error == nil)
        try fixture.crash(losing: before)
        #expect(try fixture.app("keeper").fetch().names == ["Ada"])
        #expect(reports(fixture) == 1)
        let root = TestApp(fixture: fixture, caller: fixture.caller("root", uid: 0), interface: .admin)
        #expect(try root.call("GetStatus").text.contains("has lost saves"))
        fixture.loop.advance(by: .seconds(301))
        let again = try fixture.app("keeper")
        #expect(try again.save([.add(given: "Cid")]).error == nil)
        try fixture.restart()
        #expect(try fixture.app("keeper").fetch().names == ["Ada", "Cid"])
        #expect(reports(fixture) == 1)
    }

    @Test("A save that changes nothing, and a crash that loses only records, are no loss of a book")
    func noLoss() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada")
        let ada = try keeper.identifier(of: "Ada")
        #expect(try keeper.save([.update(ada, #""givenName":"Ada""#)]).error == nil)
        try fixture.restart()
        #expect(try fixture.app("keeper").fetch().names == ["Ada"])
        let before = fixture.files().filter { $0.key.contains("access.sqlite") }
        #expect(try fixture.app("keeper").save([.add(given: "Bob")]).error == nil)
        try fixture.crash(losing: before)
        #expect(try fixture.app("keeper").fetch().names == ["Ada", "Bob"])
        #expect(reports(fixture) == 0)
    }
}
