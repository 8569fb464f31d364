import BrokerAccessControl
import BrokerDisclosure
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerAccessStore

@Suite("Storing grants")
struct GrantTests {
    private let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    /// Closes the store and opens it again.
    private func again(_ store: AccessStore) throws -> AccessStore {
        store.close(now: fixture.now)
        return try fixture.open()
    }

    @Test(
        "A persistent grant survives a restart",
        arguments: [Access.denied, .full, .limited(to: []), .limited(to: contacts(1, 2, .max))],
        [Lifetime.untilRevoked, .untilTime(1_800_000_000)])
    func reopen(access: Access, lifetime: Lifetime) throws {
        var store = try fixture.open()
        store.decide(access, for: mail, keys: .names, lifetime: lifetime)
        let grant = try #require(store.grant(of: mail))
        try store.commit()
        store = try again(store)
        #expect(store.grant(of: mail) == grant)
        #expect(store.displayName(of: mail) == "An App")
        #expect(store.principals == [mail])
        #expect(store.grant(of: elsewhere) == nil)
        #expect(store.grant(of: Principal(uid: mail.uid, strength: .unverified, app: mail.app)) == nil)
    }

    @Test("What an app may change survives a restart", arguments: ChangeRight.allCases)
    func rights(right: ChangeRight) throws {
        let store = try fixture.open()
        let grant = Grant(
            access: .full, changes: right, revision: store.nextRevision(), decidedBy: .person, decidedAt: 1)
        store.setGrant(grant, for: mail, displayName: "An App", at: beginning)
        try store.commit()
        #expect(try again(store).grant(of: mail)?.changes == right)
    }

    @Test("A grant of an earlier version keeps what it allowed to change, and an unknown right denies the app")
    func rightsOfEarlierVersion() throws {
        let store = try fixture.open()
        let deleter = Principal(uid: mail.uid, strength: .claimed, app: "deleter")
        let denied = Principal(uid: mail.uid, strength: .claimed, app: "denied")
        store.decide(.full, for: mail, keys: .names)
        store.decide(.limited(to: contacts(1)), for: deleter, keys: Grant.ordinaryKeys.union(.groups))
        store.decide(.denied, for: denied)
        try store.commit()
        store.close(now: fixture.now)
        try fixture.tamper(
            "DROP TABLE cardDAVConnection; DROP TABLE changedContact; ALTER TABLE appGrant DROP COLUMN changes; PRAGMA user_version = 15"
        )
        let upgraded = try fixture.open()
        #expect(upgraded.grant(of: mail)?.changes == .edit)
        #expect(upgraded.grant(of: deleter)?.changes == .all)
        #expect(upgraded.grant(of: denied)?.access == .denied)
        upgraded.close(now: fixture.now)
        try fixture.tamper("UPDATE appGrant SET changes = 'everything'")
        let unknown = try fixture.open()
        #expect(unknown.grant(of: mail)?.access == .denied)
        #expect(unknown.grant(of: deleter)?.access == .denied)
    }

    @Test("A grant for a session or a process ends with the broker and is never written")
    func bound() throws {
        var store = try fixture.open()
        let session = mail.bound(to: terminal)
        let process = mail.bound(to: .process(ProcessIdentity(pid: 1, startTime: 1)))
        store.decide(.full, for: session, lifetime: .session)
        store.decide(.full, for: process, lifetime: .process)
        // By mistake, a persistent principal gets a grant for a session. That grant must not be written either.
        store.decide(.full, for: notes, lifetime: .session)
        try store.commit()
        #expect(store.access(of: session) == .full)
        #expect(store.access(of: mail) == nil)
        #expect(try store.file.writer?.connection.integer("SELECT count(*) FROM appGrant") == 0)
        store = try again(store)
        #expect(store.principals.isEmpty)
    }

    @Test("An app's uses are kept until the last of its grants ends, also after commits that failed and purges")
    func lastGrant() throws {
        let store = try fixture.open()
        let process = mail.bound(to: .process(ProcessIdentity(pid: 1, startTime: 1)))
        func use(_ uses: Int) throws {
            store.disclose(7)
            try store.commit()
            store.audit.closeWindows(at: nil)
            try store.commit()
            #expect(store.usage(of: mail).uses == uses)
        }
        for principal in [mail, process, notes] { store.decide(.full, for: principal) }
        try use(1)
        store.endGrant(of: mail)
        try use(2)
        // A commit that fails does not bring back a grant that ended, nor make a new one.
        try store.diskIsFull(true)
        store.decide(.full, for: mail)
        store.disclose(8, detail: String(repeating: "x", count: 5_000))
        #expect(throws: AccessStoreError.self) { try store.commit() }
        try store.diskIsFull(false)
        #expect(Set(store.principals(of: mail.uid)) == [process, notes])
        try use(3)
        store.endGrant(of: process)
        try store.commit()
        #expect(store.usage(of: mail).uses == 0)
        store.decide(.full, for: mail)
        try use(1)
        #expect(store.beginPurge(of: mail.uid) == 2 && store.principals(of: nil).isEmpty)
        store.decide(.full, for: process)
        store.endGrant(of: process)
        #expect(store.usage(of: mail).uses == 0)
    }

    @Test("A revision is higher than every earlier one, across restarts and failures")
    func revisions() throws {
        var store = try fixture.open()
        let first = store.nextRevision()
        try store.commit()
        store = try again(store)
        let second = store.nextRevision()
        #expect(second > first)
        try store.diskIsFull(true)
        store.discloseMuch()
        #expect(throws: AccessStoreError.self) { try store.commit() }
        #expect(store.nextRevision() > second)
    }

    @Test("A granted set grows and shrinks, each time with a new revision, and survives a restart")
    func sets() throws {
        var store = try fixture.open()
        store.decide(.limited(to: contacts(1, 2)), for: mail)
        store.decide(.limited(to: contacts(2)), for: elsewhere)
        store.decide(.full, for: notes)
        try store.commit()
        var revision = try #require(store.grant(of: mail)?.revision)
        for (change, set) in [
            ({ (store: AccessStore) in store.widen(mail, with: contacts(3, 4), at: beginning) }, contacts(1, 2, 3, 4)),
            ({ $0.drop(contacts(2, 3, 99), uid: 1_000, at: beginning) }, contacts(1, 4)),
            (
                {
                    $0.widen(mail, with: contacts(2), at: beginning); $0.drop(contacts(2), uid: 1_000, at: beginning)
                }, contacts(1, 4)
            ),
            (
                {
                    $0.drop(contacts(4), uid: 1_000, at: beginning); $0.widen(mail, with: contacts(4), at: beginning)
                }, contacts(1, 4)
            ),
        ] {
            change(store)
            #expect(store.access(of: mail) == .limited(to: set))
            let next = try #require(store.grant(of: mail)?.revision)
            #expect(next > revision)
            revision = next
            try store.commit()
            store = try again(store)
            #expect(store.access(of: mail) == .limited(to: set))
            #expect(store.grant(of: mail)?.revision == revision)
        }
        #expect(store.access(of: elsewhere) == .limited(to: contacts(2)))
        #expect(store.access(of: notes) == .full)
    }

    @Test("Adding a known contact, dropping an absent one, and changing a full or a missing grant have no effect")
    func unchanged() throws {
        let store = try fixture.open()
        store.decide(.limited(to: contacts(1)), for: mail)
        store.decide(.full, for: notes)
        try store.commit()
        store.widen(mail, with: contacts(1), at: beginning)
        store.widen(notes, with: contacts(1), at: beginning)
        store.widen(elsewhere, with: contacts(1), at: beginning)
        store.drop(contacts(7), uid: 1_000, at: beginning)
        store.drop(contacts(1), uid: 1_001, at: beginning)
        store.endGrant(of: elsewhere)
        store.removeGrant(of: elsewhere)
        #expect(!store.hasUncommitted)
    }

    @Test("An expired grant is reported, and ending it keeps the app's identifiers")
    func expiry() throws {
        var store = try fixture.open()
        store.decide(.full, for: mail, lifetime: .untilTime(100))
        store.decide(.full, for: notes)
        let name = try store.makeIdentifiers(for: mail, sharesPersistentKey: true).identifier(
            of: RecordNumber(1), as: .contact)
        try store.commit()
        #expect(store.expired(at: 99).isEmpty)
        #expect(store.expired(at: 100) == [mail])
        store.endGrant(of: mail)
        try store.commit()
        store = try again(store)
        #expect(store.grant(of: mail) == nil)
        #expect(store.access(of: notes) == .full)
        #expect(store.identifiers(for: mail, sharesPersistentKey: true)?.record(name, as: .contact) == RecordNumber(1))
    }

    @Test("An app's uses are counted, including those of its sessions, and the count survives a restart")
    func usage() throws {
        var store = try fixture.open()
        store.decide(.limited(to: []), for: mail)
        #expect(store.usage(of: mail).uses == 0 && store.usage(of: mail).lastUsedAt == nil)
        for _ in 0..<100 {
            store.disclose(1)
            try store.commit()
        }
        store.audit.append(AuditRecord(time: 9, uid: mail.uid, app: mail.app, strength: mail.strength, event: .refusal))
        // A number of contacts tells none of them.
        store.audit.append(
            AuditRecord(
                time: 1_700_000_123_000_000, uid: mail.uid, app: mail.app, strength: mail.strength, event: .disclosure,
                keys: [], count: 7, detail: "CountContacts"))
        store.disclose(1, to: elsewhere)
        try store.commit()
        store = try again(store)
        // Each of the replies had the same contact, within seconds.
        #expect(store.usage(of: mail) == (1_700_000_123, 101, 1, 1_700_000_123))
        #expect(store.usage(of: mail.bound(to: terminal)) == (1_700_000_123, 101, 1, 1_700_000_123))
        #expect(store.usage(of: elsewhere).uses == 0)
    }

    @Test("An unreadable grant counts as a denial, and the audit records this")
    func unreadable() throws {
        for change in ["level = 'more'", "decidedBy = 'oracle'", "keys = -1"] {
            let fixture = try StoreFixture()
            var store = try fixture.open()
            store.decide(.full, for: mail)
            store.decide(.full, for: notes)
            try store.commit()
            store.close(now: fixture.now)
            try fixture.tamper(
                """
                PRAGMA ignore_check_constraints = ON;
                UPDATE appGrant SET \(change) WHERE principal = (SELECT id FROM principal WHERE app = '\(mail.app)')
                """)
            store = try fixture.open()
            #expect(store.access(of: mail) == .denied)
            #expect(store.access(of: notes) == .full)
            let entry = try store.records(
                matching: AuditFilter(app: mail.app, event: .revocation), after: nil, limit: 9)
            #expect(entry.map(\.detail) == ["unreadable grant"])
        }
    }
}

@Suite("Keys of apps' identifiers")
struct IdentifierKeyTests {
    private let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }
    private let ada = RecordNumber(1)

    @Test(
        "An app's identifiers survive a restart and are valid in its sessions; without a key there are none"
    )
    func kept() throws {
        var store = try fixture.open()
        #expect(store.identifiers(for: mail, sharesPersistentKey: true) == nil)
        let session = mail.bound(to: terminal)
        let name = try store.makeIdentifiers(for: session, sharesPersistentKey: true).identifier(of: ada, as: .contact)
        #expect(
            try store.makeIdentifiers(for: mail, sharesPersistentKey: true).identifier(of: ada, as: .contact) == name)
        try store.commit()
        store.close(now: fixture.now)
        store = try fixture.open()
        #expect(store.identifiers(for: mail, sharesPersistentKey: true)?.record(name, as: .contact) == ada)
        #expect(store.identifiers(for: session, sharesPersistentKey: true)?.record(name, as: .contact) == ada)
        #expect(store.identifiers(for: notes, sharesPersistentKey: true) == nil)
    }

    @Test("Two scripts of one interpreter have different identifiers, and their keys are never written")
    func interpreters() throws {
        let store = try fixture.open()
        let first = notes.bound(to: .process(ProcessIdentity(pid: 1, startTime: 1)))
        let second = notes.bound(to: .process(ProcessIdentity(pid: 1, startTime: 2)))
        let name = try store.makeIdentifiers(for: first, sharesPersistentKey: false).identifier(of: ada, as: .contact)
        let other = try store.makeIdentifiers(for: second, sharesPersistentKey: false)
        #expect(other.record(name, as: .contact) == nil)
        try store.commit()
        #expect(try store.file.writer?.connection.integer("SELECT count(*) FROM principal") == 0)
        store.removeGrant(of: first)
        #expect(store.identifiers(for: first, sharesPersistentKey: false) == nil)
        #expect(store.identifiers(for: second, sharesPersistentKey: false) != nil)
    }

    @Test("After a reset nothing is decided, and the app's old identifiers name nothing")
    func reset() throws {
        var store = try fixture.open()
        store.decide(.limited(to: contacts(1)), for: mail)
        let name = try store.makeIdentifiers(for: mail, sharesPersistentKey: true).identifier(of: ada, as: .contact)
        try store.commit()
        store.removeGrant(of: mail)
        #expect(store.grant(of: mail) == nil)
        #expect(store.identifiers(for: mail, sharesPersistentKey: true) == nil)
        let renamed = try store.makeIdentifiers(for: mail, sharesPersistentKey: true)
        #expect(renamed.record(name, as: .contact) == nil)
        try store.commit()
        store.close(now: fixture.now)
        store = try fixture.open()
        #expect(store.grant(of: mail) == nil)
        #expect(store.identifiers(for: mail, sharesPersistentKey: true)?.record(name, as: .contact) == nil)
        #expect(try store.file.writer?.connection.integer("SELECT count(*) FROM grantedContact") == 0)
    }

    @Test("A removed key leaves no bytes in the file")
    func keyIsGone() throws {
        let store = try fixture.open()
        _ = try store.makeIdentifiers(for: mail, sharesPersistentKey: true)
        try store.commit()
        let key = try #require(store.identifierKeys[mail]?.bytes)
        try store.checkpointer.run()
        func isInFile() throws -> Bool {
            let file = try StoreFixture.bytes(of: fixture.database)
            return file.indices.contains { file[$0...].starts(with: key) }
        }
        #expect(try isInFile())
        store.removeGrant(of: mail)
        try store.commit()
        store.close(now: fixture.now)
        #expect(try !isInFile())
    }
}
