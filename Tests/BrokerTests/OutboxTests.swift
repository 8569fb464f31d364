import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerAccessStore
@testable import BrokerAppCalls
@testable import BrokerLedger

@Suite("A crash between the commits of the contacts database and the access database")
struct OutboxTests {
    private let fixture: BrokerFixture
    private let mail: TestApp

    /// Mail sees Ada and may add contacts.
    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Grace")
        mail = try fixture.app("mail", .limited(to: try fixture.records("Ada")))
    }

    /// The files of the access database only.
    private func access() -> [String: [UInt8]] { fixture.files().filter { $0.key.contains("access.sqlite") } }

    /// Makes a save by mail that is acknowledged, then a crash that loses the save's part of the access database.
    private func saveAndLose(_ changes: [Change], meanwhile: (AccessStore) throws -> Void = { _ in }) throws {
        let before = access()
        #expect(try mail.save(changes).error == nil)
        try fixture.crash(losing: before) {
            let store = try AccessStore.open(folder: fixture.folder, now: 5)
            try meanwhile(store)
            try store.commit()
            store.close(now: 6)
        }
    }

    private func isWhole() throws -> Bool {
        let root = TestApp(fixture: fixture, caller: fixture.caller("root", uid: 0), interface: .admin)
        return try root.call("VerifyAudit").parameters["brokenAt"] == nil
    }

    /// The details of the records of saves, without the counts of contacts.
    private func saves(_ fixture: BrokerFixture) throws -> [String] {
        try fixture.audit(.save).map { detail in
            detail.split(separator: ", ").filter { !$0.hasSuffix("added") }.joined(separator: ", ")
        }
    }

    @Test("An acknowledged save is visible to its app and recorded once, however often the broker starts")
    func kept() throws {
        try saveAndLose([.add(given: "Mine")])
        // The first request waits for the recovery.
        #expect(try fixture.app("mail").fetch().names == ["Ada", "Mine"])
        for _ in 1...2 {
            #expect(try saves(fixture) == ["", "before a crash"])
            #expect(try isWhole())
            try fixture.crash()
            #expect(try fixture.app("mail").fetch().names == ["Ada", "Mine"])
        }
        #expect(try fixture.app("mail").save([.add(given: "More")]).error == nil)
        #expect(try saves(fixture) == ["", "before a crash", ""])
        #expect(try fixture.app("mail").fetch().names == ["Ada", "Mine", "More"])
    }

    @Test("The audit is completed without a request for the contacts database")
    func background() throws {
        try saveAndLose([.add(given: "Mine")])
        #expect(fixture.loop.run { (try? saves(fixture).count) == 2 })
        #expect(try saves(fixture) == ["", "before a crash"])
    }

    @Test("A deleted card leaves every granted set, and the app that saw it gets the event")
    func deleting() throws {
        let token = try #require(try mail.fetch().token)
        let keeper = try fixture.app("keeper")
        let ada = try keeper.identifier(of: "Ada")
        var isSynced = false
        fixture.groupCommit.sync.onDisk { _ in isSynced = true }
        try #require(fixture.loop.run { isSynced })
        let before = access()
        #expect(try keeper.save([.delete(ada)]).error == nil)
        try fixture.crash(losing: before)
        let again = try fixture.app("mail")
        #expect(try again.fetch().names == [])
        let history = try again.call("FetchHistory", #"{"token":"\#(token)"}"#)
        #expect(history.text.contains("delete"), "\(history.text)")
    }

    @Test("An app reset, narrowed or denied before the start stays so, and the card stays in the book")
    func decided() throws {
        let narrowed = { (access: Access) in
            { [mail] (store: AccessStore) in
                store.setGrant(
                    Grant(access: access, revision: store.nextRevision(), decidedBy: .administrator, decidedAt: 5),
                    for: mail.principal, displayName: "mail", at: SetMoment(change: 0, time: 0))
            }
        }
        let decisions: [(Access?, (AccessStore) -> Void)] = [
            (nil, { [mail] in $0.removeGrant(of: mail.principal) }), (.limited(to: []), narrowed(.limited(to: []))),
            (.denied, narrowed(.denied)),
        ]
        for (expected, decide) in decisions {
            try saveAndLose([.add(given: "Mine")], meanwhile: decide)
            let keeper = try fixture.app("keeper")
            #expect(try keeper.fetch().names.contains("Mine"))
            #expect(fixture.access.grant(of: mail.principal)?.access == expected)
            #expect(try saves(fixture).last == "before a crash")
            #expect(try keeper.save([.delete(try keeper.identifier(of: "Mine"))]).error == nil)
            try fixture.grant(.limited(to: []), to: mail)
        }
    }

    @Test("A damaged outbox entry grants nothing and does not block the contacts database")
    func damaged() throws {
        let before = access()
        #expect(try mail.save([.add(given: "Mine")]).error == nil)
        try fixture.crash(losing: before) {
            let book = try Connection<AccessStoreError>(
                path: fixture.book + "/contacts.sqlite", .readWrite, patience: 5_000)
            try book.execute("UPDATE outbox SET entry = zeroblob(40) WHERE number = (SELECT max(number) FROM outbox)")
        }
        #expect(try fixture.app("mail").fetch().names == ["Ada"])
        #expect(try fixture.app("keeper").fetch().names == ["Ada", "Grace", "Mine"])
        #expect(try saves(fixture) == ["", "unreadable, before a crash"])
        #expect(try fixture.app("mail").save([.add(given: "More")]).error == nil)
        #expect(try fixture.app("mail").fetch().names == ["Ada", "More"])
    }

    @Test("A purge records the saves that a crash kept out of the audit, and then nothing is left")
    func purge() throws {
        try saveAndLose([.add(given: "Mine")])
        fixture.names[1_000] = "somebody else"
        let root = TestApp(fixture: fixture, caller: fixture.caller("root", uid: 0), interface: .admin)
        #expect(try root.call("PurgeUser", #"{"uid":1000}"#).error == nil)
        #expect(try saves(fixture) == ["", "before a crash"])
        #expect(fixture.access.outboxMark(of: 1_000) == 0)
        #expect(fixture.access.principals.isEmpty)
    }

    @Test(
        "If the access database cannot be written, a save succeeds and is recorded once it can be")
    func fullDisk() throws {
        let access = fixture.access
        let call = try mail.begin(
            "SaveContacts", #"{"changes":[{"operation":"add","contact":{"givenName":"Mine"}}]}"#)
        _ = try access.file.writer?.connection.integer("PRAGMA query_only = 1")
        #expect(try mail.replies(1, to: call).map(\.error) == [nil])
        #expect(access.hasUndelivered)
        #expect(fixture.journal.lines.contains { $0.contains("its audit record could not be written") })
        #expect(try mail.fetch().error == "StoreUnavailable")
        #expect(try saves(fixture) == [""])
        _ = try access.file.writer?.connection.integer("PRAGMA query_only = 0")
        fixture.loop.advance(by: .seconds(2))
        #expect(try saves(fixture) == ["", ""])
        #expect(!access.hasUndelivered)
        #expect(try mail.fetch().names == ["Ada", "Mine"])
        try fixture.crash()
        #expect(try fixture.app("mail").fetch().names == ["Ada", "Mine"])
        #expect(try saves(fixture) == ["", ""])
    }

    @Test(
        "A save that could not be recorded is recorded with the next record, and its app sees what it added",
        arguments: [false, true])
    func recordedLater(failsAgain: Bool) throws {
        let access = fixture.access
        let large = AuditRecord(time: 5, uid: 0, event: .policy, detail: String(repeating: "x", count: 5_000))
        let call = try mail.begin(
            "SaveContacts", #"{"changes":[{"operation":"add","contact":{"givenName":"Mine"}}]}"#)
        // There is room for small records only.
        _ = try access.file.writer?.connection.integer("PRAGMA max_page_count = 1")
        access.audit.append(large)
        #expect(try mail.replies(1, to: call).map(\.error) == [nil])
        #expect(access.hasUndelivered)
        if failsAgain {
            // The save is recorded together with this call's disclosure, which was decided before.
            access.audit.append(large)
            #expect(try mail.fetch().names == ["Ada"])
        }
        // Otherwise this call records the save before it is decided.
        #expect(try mail.fetch().names == ["Ada", "Mine"])
        #expect(!access.hasUndelivered)
        #expect(try saves(fixture) == ["", ""])
        try fixture.crash()
        #expect(try fixture.app("mail").fetch().names == ["Ada", "Mine"])
        #expect(try saves(fixture) == ["", ""])
    }

    @Test("A save while the broker ends is both done and recorded, or neither")
    func ending() throws {
        let call = try mail.begin(
            "SaveContacts", #"{"changes":[{"operation":"add","contact":{"givenName":"Mine"}}]}"#)
        try fixture.restart()
        _ = call
        let names = try fixture.app("mail").fetch().names
        #expect(try saves(fixture).count == (names == ["Ada", "Mine"] ? 2 : 1))
        #expect(try fixture.audit(.gap).isEmpty)
    }

    @Test("A save is answered after the decisions that it depends on are synced")
    func rests() throws {
        #expect(fixture.access.hasDecisionsOffDisk)
        let call = try mail.begin(
            "SaveContacts", #"{"changes":[{"operation":"add","contact":{"givenName":"Mine"}}]}"#)
        #expect(try mail.replies(1, to: call).map(\.error) == [nil])
        #expect(!fixture.access.hasDecisionsOffDisk)
    }

    @Test("Intents that an earlier version left open are settled by what the contacts database contains")
    func intents() throws {
        let records = try fixture.records("Ada", "Grace").sorted()
        try fixture.crash {
            let file = try Connection<AccessStoreError>(
                path: fixture.folder + "/access.sqlite", .readWrite, patience: 5_000)
            let known = records[0].rawValue.littleEndian, unknown = Int64(77).littleEndian
            let adds = withUnsafeBytes(of: (known, unknown)) { Array($0) }
            try file.statement(
                "INSERT INTO saveIntent VALUES (1, 1000, 'claimed', 'mail', ?), (2, 1000, 'claimed', 'mail', x'4D00000000000000')"
            )
            .bind(1, adds).run()
        }
        #expect(fixture.loop.run { fixture.access.openIntents().isEmpty })
        fixture.loop.iterate()
        #expect(try saves(fixture) == ["", "before a crash"])
        #expect(try fixture.audit(.saveNotDone) == ["before a crash"])
    }
}
