import BrokerAccessControl
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import Testing

@testable import BrokerAccessStore
@testable import BrokerCore

@Suite("What a book knows of the audit")
struct AuditAnchorTests {
    private let house: BrokerHouse
    private let keeper: TestApp

    init() throws {
        house = try BrokerHouse()
        keeper = try house.keeper(adding: "Ada")
        try sync()
    }

    /// Everything that is on record reaches the disk.
    private func sync() throws {
        var isDone = false
        house.broker.turn.sync.onDisk { _ in isDone = true }
        try #require(house.loop.run { isDone })
    }

    /// The access database's files, as they are now.
    private func accessFiles(of house: BrokerHouse) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for (path, bytes) in house.files() where path.contains("/access.") {
            files[self.house.folder + "/" + (path.split(separator: "/").last ?? "")] = bytes
        }
        return files
    }

    private func contradictions() throws -> [Int64] {
        let root = TestApp(house: house, caller: house.caller("root", uid: 0), door: .admin)
        guard let found = try root.call("VerifyAudit").parameters["contradictions"]?.elements else { return [] }
        var users: [Int64] = []
        for each in found { users.append(try #require(each["uid"]?.integer)) }
        return users
    }

    /// A moment after the start.
    private func isNamedAtStart() throws -> Bool {
        house.loop.advance(by: .seconds(2))
        // Behind what the start has read off the loop.
        _ = try contradictions()
        return house.journal.lines.contains { $0.contains("is not the one that user 1000's address book") }
    }

    @Test(
        "An older audit that is put back, with all of its files, is named at the start, on record and by verification")
    func olderAudit() throws {
        let older = accessFiles(of: house)
        _ = try house.app("mail", .full).fetch()
        try sync()
        #expect(try keeper.save([.add(given: "Grace")]).error == nil)
        try house.crash(losing: older)
        #expect(house.broker.access.loss == nil)
        #expect(try isNamedAtStart())
        #expect(try contradictions() == [1_000])
        #expect(try house.audit(.gap).contains { $0.contains("which the address book names") })
    }

    @Test("So is another audit, whose chain is whole")
    func otherAudit() throws {
        let other = try BrokerHouse()
        try other.keeper(adding: "Ada")
        for name in ["a", "b", "c", "d"] { _ = try other.app(name, .full).fetch() }
        #expect(try keeper.save([.add(given: "Grace")]).error == nil)
        try house.crash(losing: accessFiles(of: other))
        #expect(house.broker.access.loss == nil)
        #expect(try isNamedAtStart())
        #expect(try contradictions() == [1_000])
    }

    @Test("A power cut that takes what was never synced is not named, nor is an ordinary restart")
    func powerCut() throws {
        let synced = accessFiles(of: house)
        #expect(try keeper.save([.add(given: "Grace")]).error == nil)
        try house.crash(losing: synced)
        #expect(try !isNamedAtStart())
        #expect(try contradictions().isEmpty)
        try house.restart()
        #expect(try !isNamedAtStart())
        #expect(try contradictions().isEmpty)
    }

    @Test("Each save names what the disk has by then, and never more")
    func anchor() throws {
        for number in 1...5 {
            try sync()
            let synced = house.broker.access.onDisk.position
            #expect(try keeper.save([.add(given: "N\(number)")]).error == nil)
            let anchor = try #require(try AuditAnchor.read(folder: house.book))
            #expect(anchor == AuditAnchor(sequence: synced.sequence, hash: synced.hash))
        }
    }
}
