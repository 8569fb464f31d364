import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import Glibc
import Testing

@testable import BrokerCore

/// What a state folder that goes away, or a disk that takes nothing, leaves of the broker's promises.
@Suite("A broker whose records cannot be kept")
struct LostFilesTests {
    private let house: BrokerHouse
    private let mail: TestApp
    private let root: TestApp
    private var log: String { house.folder + "/access.sqlite-wal" }

    init() throws {
        house = try BrokerHouse()
        try house.keeper(adding: "Ada")
        mail = try house.app("mail", .full)
        root = TestApp(house: house, caller: house.caller("root", uid: 0), door: .admin)
        #expect(try mail.fetch().names == ["Ada"])
    }

    private func removeFolder() {
        for name in BrokerHouse.names(in: house.folder) { unlink(house.folder + "/" + name) }
    }

    private var complaints: Int { house.journal.lines.count { $0.contains("cannot keep audit records") } }

    @Test("With the state folder removed nothing is disclosed, not even what is on record")
    func removedAndRead() throws {
        let other = try house.app("other", .full)
        removeFolder()
        // The same as before, which would only be counted.
        #expect(try mail.fetch().error == "StoreUnavailable")
        #expect(try other.fetch().error == "StoreUnavailable")
        #expect(complaints == 1)
    }

    @Test("Nor is what would be a record of its own")
    func removedAndNew() throws {
        let other = try house.app("other", .full)
        removeFolder()
        #expect(try other.fetch().error == "StoreUnavailable")
        #expect(complaints == 1)
    }

    @Test("A revocation then takes effect and is answered as not kept")
    func removedAndRevoked() throws {
        removeFolder()
        let reply = try root.call("SetGrant", #"{"uid":1000,"app":"mail","status":"denied"}"#)
        #expect(reply.error == "InvalidValue")
        #expect(house.broker.access.grant(of: mail.principal)?.access ?? .denied == .denied)
        #expect(try mail.fetch().error != nil)
        #expect(complaints == 1)
    }

    @Test("What the person grants then does not count")
    func removedAndGranted() throws {
        let new = try house.app("new")
        removeFolder()
        var isSettled: Bool?
        let grant = Grant(
            access: .full, keys: Grant.ordinaryKeys, revision: house.broker.access.nextRevision(), decidedBy: .person,
            decidedAt: house.broker.surroundings.seconds)
        house.broker.grants.settle(grant, for: new.principal, displayName: "new", sharesStandingKey: true) {
            isSettled = $0
        }
        try #require(house.loop.run { isSettled != nil })
        #expect(isSettled == false)
        #expect(house.broker.access.grant(of: new.principal) == nil)
    }

    @Test("A folder that was renamed or replaced is noticed with the next sync, and stays noticed when it is back")
    func renamed() throws {
        try #require(rename(log, log + ".away") == 0)
        _ = try house.app("other", .full).fetch()
        house.loop.advance(by: .seconds(1))
        #expect(house.loop.run { complaints == 1 })
        try #require(rename(log + ".away", log) == 0)
        house.loop.advance(by: .seconds(1))
        #expect(try mail.fetch().error == "StoreUnavailable")
        #expect(complaints == 1)
    }

    @Test("A revocation is answered once the disk has it")
    func revokedOnDisk() throws {
        let position = house.folder + "/access.synced"
        let before = house.files()[position]
        #expect(try root.call("SetGrant", #"{"uid":1000,"app":"mail","status":"denied"}"#).error == nil)
        // Written after the sync, and by nothing else: no time has passed on this loop.
        #expect(house.files()[position] != before)
    }

    @Test("Where the audit is durable, a reply leaves once the disk has its record")
    func disclosedOnDisk() throws {
        house.rule([], isAuditDurable: true)
        let other = try house.app("other", .full)
        let position = house.folder + "/access.synced"
        let before = house.files()[position]
        #expect(try other.fetch().names == ["Ada"])
        #expect(house.files()[position] != before)
    }

    @Test("A revocation is not undone by a damaged log: every app is refused, and the journal and verification say why")
    func damagedLog() throws {
        #expect(try root.call("SetGrant", #"{"uid":1000,"app":"mail","status":"denied"}"#).error == nil)
        var damaged = try #require(house.files()[log])
        // In the first frame of the log, before everything that was decided.
        damaged[32 + 24 + 100] ^= 1
        try house.crash(losing: [log: damaged])
        #expect(house.journal.lines.contains { $0.contains("audit records are lost") })
        for app in [mail, try house.app("keeper")] {
            #expect(house.broker.access.grant(of: app.principal)?.access ?? .denied == .denied)
        }
        let again = TestApp(house: house, caller: house.caller("root", uid: 0), door: .admin)
        #expect(try again.call("VerifyAudit").parameters["brokenAt"]?.integer != nil)
    }
}
