import BrokerAccessControl
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import Testing

@testable import BrokerAccessStore
@testable import BrokerCore
@testable import BrokerLedger

@Suite("The audit position that a contacts database keeps")
struct AuditAnchorTests {
    private let fixture: BrokerFixture
    private let keeper: TestApp

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.keeper(adding: "Ada")
        try sync()
    }

    /// Syncs every record that is committed so far.
    private func sync() throws {
        var isDone = false
        fixture.groupCommit.sync.onDisk { _ in isDone = true }
        try #require(fixture.loop.run { isDone })
    }

    /// The current contents of the access database's files.
    private func accessFiles(of fixture: BrokerFixture) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for (path, bytes) in fixture.files() where path.contains("/access.") {
            files[self.fixture.folder + "/" + (path.split(separator: "/").last ?? "")] = bytes
        }
        return files
    }

    private func contradictions() throws -> [Int64] {
        let root = TestApp(fixture: fixture, caller: fixture.caller("root", uid: 0), interface: .admin)
        guard let found = try root.call("VerifyAudit").parameters["contradictions"]?.elements else { return [] }
        var users: [Int64] = []
        for each in found { users.append(try #require(each["uid"]?.integer)) }
        return users
    }

    /// Whether the journal reports a contradiction soon after the start.
    private func isNamedAtStart() throws -> Bool {
        fixture.loop.advance(by: .seconds(2))
        // The check at the start reads off the loop, and this request is queued behind it.
        _ = try contradictions()
        return fixture.journal.lines.contains { $0.contains("does not match the address book of user 1000") }
    }

    @Test(
        "An older audit that was restored completely is reported at the start, in the audit and by verification")
    func olderAudit() throws {
        let older = accessFiles(of: fixture)
        _ = try fixture.app("mail", .full).fetch()
        try sync()
        #expect(try keeper.save([.add(given: "Grace")]).error == nil)
        try fixture.crash(losing: older)
        #expect(fixture.access.loss == nil)
        #expect(try isNamedAtStart())
        #expect(try contradictions() == [1_000])
        #expect(try fixture.audit(.gap).contains { $0.contains("which the address book names") })
    }

    @Test("An intact audit of another broker is reported too")
    func otherAudit() throws {
        let other = try BrokerFixture()
        try other.keeper(adding: "Ada")
        for name in ["a", "b", "c", "d"] { _ = try other.app(name, .full).fetch() }
        #expect(try keeper.save([.add(given: "Grace")]).error == nil)
        try fixture.crash(losing: accessFiles(of: other))
        #expect(fixture.access.loss == nil)
        #expect(try isNamedAtStart())
        #expect(try contradictions() == [1_000])
    }

    @Test("Neither a power cut that loses unsynced records nor a restart is reported")
    func powerCut() throws {
        let synced = accessFiles(of: fixture)
        #expect(try keeper.save([.add(given: "Grace")]).error == nil)
        try fixture.crash(losing: synced)
        #expect(try !isNamedAtStart())
        #expect(try contradictions().isEmpty)
        try fixture.restart()
        #expect(try !isNamedAtStart())
        #expect(try contradictions().isEmpty)
    }

    @Test("Each save stores the position of the last synced record")
    func anchor() throws {
        for number in 1...5 {
            try sync()
            let synced = fixture.access.onDisk.position
            #expect(try keeper.save([.add(given: "N\(number)")]).error == nil)
            let anchor = try #require(try AuditAnchor.read(folder: fixture.book))
            #expect(anchor == AuditAnchor(sequence: synced.sequence, hash: synced.hash))
        }
    }
}
