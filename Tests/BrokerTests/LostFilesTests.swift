import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import Glibc
import Testing

@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

/// The broker when its state folder is lost or damaged.
@Suite("A broker that cannot keep its records")
struct LostFilesTests {
    private let fixture: BrokerFixture
    private let mail: TestApp
    private let root: TestApp
    private var log: String { fixture.folder + "/access.sqlite-wal" }

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        mail = try fixture.app("mail", .full)
        root = TestApp(fixture: fixture, caller: fixture.caller("root", uid: 0), interface: .admin)
        #expect(try mail.fetch().names == ["Ada"])
    }

    private func removeFolder() {
        for name in BrokerFixture.names(in: fixture.folder) { unlink(fixture.folder + "/" + name) }
    }

    private var complaints: Int { fixture.journal.lines.count { $0.contains("cannot keep audit records") } }

    @Test("Without the state folder nothing is disclosed, not even what is already recorded")
    func removedAndRead() throws {
        let other = try fixture.app("other", .full)
        removeFolder()
        // The fetch repeats the last disclosure, so the audit would only count it.
        #expect(try mail.fetch().error == "StoreUnavailable")
        #expect(try other.fetch().error == "StoreUnavailable")
        #expect(complaints == 1)
    }

    @Test("Without the state folder a disclosure that needs a new record is refused too")
    func removedAndNew() throws {
        let other = try fixture.app("other", .full)
        removeFolder()
        #expect(try other.fetch().error == "StoreUnavailable")
        #expect(complaints == 1)
    }

    @Test("Without the state folder a revocation takes effect and is answered as not stored")
    func removedAndRevoked() throws {
        removeFolder()
        let reply = try root.call("SetGrant", #"{"uid":1000,"app":"mail","status":"denied"}"#)
        #expect(reply.error == "InvalidValue")
        #expect(fixture.access.grant(of: mail.principal)?.access ?? .denied == .denied)
        #expect(try mail.fetch().error != nil)
        #expect(complaints == 1)
    }

    @Test("Without the state folder a new grant does not take effect")
    func removedAndGranted() throws {
        let new = try fixture.app("new")
        removeFolder()
        var isSettled: Bool?
        let grant = Grant(
            access: .full, keys: Grant.ordinaryKeys, revision: fixture.access.nextRevision(), decidedBy: .person,
            decidedAt: fixture.surroundings.seconds)
        fixture.grants.settle(grant, for: new.principal, displayName: "new", sharesPersistentKey: true) {
            isSettled = $0
        }
        try #require(fixture.loop.run { isSettled != nil })
        #expect(isSettled == false)
        #expect(fixture.access.grant(of: new.principal) == nil)
    }

    @Test("A renamed log is noticed at the next sync, and stays noticed when it is back")
    func renamed() throws {
        try #require(rename(log, log + ".away") == 0)
        _ = try fixture.app("other", .full).fetch()
        fixture.loop.advance(by: .seconds(1))
        #expect(fixture.loop.run { complaints == 1 })
        try #require(rename(log + ".away", log) == 0)
        fixture.loop.advance(by: .seconds(1))
        #expect(try mail.fetch().error == "StoreUnavailable")
        #expect(complaints == 1)
    }

    @Test("A revocation is answered after it is synced")
    func revokedOnDisk() throws {
        let position = fixture.folder + "/access.synced"
        let before = fixture.files()[position]
        #expect(try root.call("SetGrant", #"{"uid":1000,"app":"mail","status":"denied"}"#).error == nil)
        // Only a sync writes this file. No time has passed on this loop, so no other sync has run.
        #expect(fixture.files()[position] != before)
    }

    @Test("If the audit is durable, a reply is sent after its record is synced")
    func disclosedOnDisk() throws {
        fixture.rule([], isAuditDurable: true)
        let other = try fixture.app("other", .full)
        let position = fixture.folder + "/access.synced"
        let before = fixture.files()[position]
        #expect(try other.fetch().names == ["Ada"])
        #expect(fixture.files()[position] != before)
    }

    @Test("A damaged log does not undo a revocation: every app is refused, and the journal and verification say why")
    func damagedLog() throws {
        #expect(try root.call("SetGrant", #"{"uid":1000,"app":"mail","status":"denied"}"#).error == nil)
        var damaged = try #require(fixture.files()[log])
        // A byte in the first frame of the log, before every decision.
        damaged[32 + 24 + 100] ^= 1
        try fixture.crash(losing: [log: damaged])
        #expect(fixture.journal.lines.contains { $0.contains("audit records are lost") })
        for app in [mail, try fixture.app("keeper")] {
            #expect(fixture.access.grant(of: app.principal)?.access ?? .denied == .denied)
        }
        let again = TestApp(fixture: fixture, caller: fixture.caller("root", uid: 0), interface: .admin)
        #expect(try again.call("VerifyAudit").parameters["brokenAt"]?.integer != nil)
    }
}
