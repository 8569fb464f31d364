import BrokerAccessControl
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import Testing

@testable import BrokerAccessStore
@testable import BrokerCore

@Suite("The audit position that a contacts database keeps")
struct AuditAnchorTests {
    private let house: BrokerHouse
    private let keeper: TestApp

    init() throws {
        house = try BrokerHouse()
        keeper = try house.keeper(adding: "Ada")
        try sync()
    }

    /// Syncs every record that is committed so far.
    private func sync() throws {
        var isDone = false
        house.broker.turn.sync.onDisk { _ in isDone = true }
        try #require(house.loop.run { isDone })
    }

    /// The current contents of the access database's files.
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

    /// Whether the journal reports a contradiction soon after the start.
    private func isNamedAtStart() throws -> Bool {
        house.loop.advance(by: .seconds(2))
        // The check at the start reads off the loop, and this request is queued behind it.
        _ = try contradictions()
        return house.journal.lines.contains { $0.contains("does not match the address book of user 1000") }
    }

    @Test(
        "An older audit that was restored completely is reported at the start, in the audit and by verification")
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

    @Test("An intact audit of another broker is reported too")
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

    @Test("Neither a power cut that loses unsynced records nor a restart is reported")
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

    @Test("Each save stores the position of the last synced record")
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
