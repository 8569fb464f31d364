import BrokerAccessControl
import BrokerModel
import BrokerSQLite
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import BrokerAccessStore

@Suite("Opening the store")
struct OpeningTests {
    private let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func error(opening folder: String) -> AccessStoreError? {
        do throws(AccessStoreError) {
            _ = try AccessStore.open(folder: folder, now: 1)
            return nil
        } catch {
            return error
        }
    }

    @Test("The folder and its files are closed to other users, whatever the folder's mode was")
    func modes() throws {
        chmod(fixture.folder, 0o755)
        let store = try fixture.open()
        #expect(try StoreFixture.mode(of: fixture.folder) == 0o700)
        for file in ["access.sqlite", "access.sqlite-wal", "access.sqlite-shm", "access.synced", "lock"] {
            #expect(try StoreFixture.mode(of: fixture.folder + "/" + file) == 0o600)
        }
        store.close(now: 2)
    }

    @Test("A missing folder is created with its parents")
    func makesFolders() throws {
        let folder = fixture.folder + "/a/b/state"
        let store = try AccessStore.open(folder: folder, now: 1)
        #expect(try StoreFixture.mode(of: folder) == 0o700)
        #expect(try StoreFixture.mode(of: fixture.folder + "/a") == 0o700)
        store.close(now: 2)
    }

    @Test("Starts and stops are recorded, and a start without a stop before it records a gap")
    func gaps() throws {
        var store: AccessStore? = try fixture.open()
        store?.close(now: 2)
        store = nil
        store = try fixture.open()
        #expect(try store?.events() == [.start, .stop, .start])
        // Release the store without closing it, as a crash does.
        store = nil
        store = try fixture.open()
        #expect(try store?.events() == [.start, .stop, .start, .gap, .start])
        #expect(try store?.verifyAll().brokenAt == nil)
    }

    @Test("A second store on a folder fails as in use until the first has closed")
    func inUse() throws {
        let store = try fixture.open()
        #expect(error(opening: fixture.folder) == .inUse)
        #expect(store.audit.last.sequence == 1)
        store.close(now: 2)
        #expect(error(opening: fixture.folder) == nil)
    }

    /// Opens and closes files during the test, as other parts of a process do.
    private final class Bystander: Sendable {
        let isOver = Atomic(false)
        let opened = Atomic(0)
        let lost = Atomic(0)

        func run() {
            while !isOver.load(ordering: .relaxed) {
                let file = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
                if file >= 0 { opened.add(1, ordering: .relaxed) }
                if file >= 0, Glibc.close(file) != 0 { lost.add(1, ordering: .relaxed) }
            }
        }
    }

    @Test("A store that fails as in use closes no descriptor but its own")
    func inUseClosesItsOwn() throws {
        let store = try fixture.open()
        let bystander = Bystander()
        let queue = DispatchQueue(label: "bystander")
        queue.async { bystander.run() }
        while bystander.opened.load(ordering: .relaxed) == 0 { sched_yield() }
        for _ in 0..<3_000 { #expect(error(opening: fixture.folder) == .inUse) }
        bystander.isOver.store(true, ordering: .relaxed)
        queue.sync {}
        #expect(bystander.lost.load(ordering: .relaxed) == 0)
        store.close(now: 2)
    }

    @Test("A closed store writes nothing, and may be closed twice")
    func closed() throws {
        let store = try fixture.open()
        store.close(now: 2)
        store.close(now: 3)
        store.disclose(1)
        #expect(throws: AccessStoreError.self) { try store.commit() }
        #expect(throws: AccessStoreError.self) { try store.records(matching: AuditFilter(), after: nil, limit: 1) }
        #expect(try fixture.open().events() == [.start, .stop, .start])
    }

    @Test("A file of a later version is refused and left unchanged")
    func newer() throws {
        try fixture.open().close(now: 2)
        try fixture.tamper("PRAGMA user_version = \(Schema.version + 1)")
        let before = try StoreFixture.bytes(of: fixture.database)
        #expect(error(opening: fixture.folder) == .newerSchema)
        #expect(try StoreFixture.bytes(of: fixture.database) == before)
    }

    @Test("Another program's database is refused and left unchanged")
    func foreign() throws {
        try StoreFixture.write([], to: fixture.database)
        let connection = try Database.open(fixture.database, .readWrite)
        try connection.execute("CREATE TABLE other (x); INSERT INTO other VALUES (1)")
        let before = try StoreFixture.bytes(of: fixture.database)
        guard case .damaged? = error(opening: fixture.folder) else {
            Issue.record("a foreign database was opened")
            return
        }
        #expect(try StoreFixture.bytes(of: fixture.database) == before)
    }

    @Test("A damaged file is refused and left unchanged", arguments: ["noise", "cut", "scribbled", "no counters"])
    func damaged(how: String) throws {
        let store = try fixture.open()
        store.decide(.limited(to: Set((1...2_000).map { RecordNumber($0) })), for: mail)
        try store.commit()
        store.close(now: 2)
        var bytes = try StoreFixture.bytes(of: fixture.database)
        switch how {
        case "noise": bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 167) }
        case "cut": bytes.removeLast(bytes.count / 2)
        case "scribbled": for place in 4_096..<bytes.count { bytes[place] ^= 0x55 }
        default: try fixture.tamper("DELETE FROM state")
        }
        if how != "no counters" { try StoreFixture.write(bytes, to: fixture.database) }
        let before = try StoreFixture.bytes(of: fixture.database)
        guard case .damaged? = error(opening: fixture.folder) else {
            Issue.record("a damaged database was opened")
            return
        }
        #expect(try StoreFixture.bytes(of: fixture.database) == before)
    }

    @Test("A refused file is left unchanged, even with transactions in its log")
    func refusedWithLog() throws {
        let store = try fixture.open()
        let connection = try Database.open(fixture.database, .readWrite)
        try connection.execute("PRAGMA user_version = \(Schema.version + 1)")
        let copy = try StoreFixture()
        for file in ["", "-wal"] {
            try StoreFixture.write(try StoreFixture.bytes(of: fixture.database + file), to: copy.database + file)
        }
        let before = try (StoreFixture.bytes(of: copy.database), StoreFixture.bytes(of: copy.database + "-wal"))
        #expect(error(opening: copy.folder) == .newerSchema)
        #expect(try StoreFixture.bytes(of: copy.database) == before.0)
        #expect(try StoreFixture.bytes(of: copy.database + "-wal") == before.1)
        store.close(now: 2)
    }

    @Test(
        "An unusable folder is reported with path and reason", arguments: ["/proc/contactbroker", "/proc", "/dev/null"])
    func readOnly(folder: String) throws {
        guard case .unavailable(let reason)? = error(opening: folder) else {
            Issue.record("opened \(folder)")
            return
        }
        #expect(reason.contains(folder))
    }

    @Test("A read-only database is reported with its path")
    func readOnlyFile() throws {
        try fixture.open().close(now: 2)
        guard geteuid() != 0 else {
            print("skipped: root may write any file")
            return
        }
        chmod(fixture.database, 0o400)
        guard case .unavailable(let reason)? = error(opening: fixture.folder) else {
            Issue.record("opened a read-only file")
            return
        }
        #expect(reason.contains(fixture.database))
    }

    @Test("A read-only file system is reported with the folder's path")
    func readOnlyFileSystem() throws {
        guard let disk = try SmallDisk(kilobytes: 1_024) else {
            print("skipped: mounting needs root")
            return
        }
        let folder = disk.path + "/state"
        try AccessStore.open(folder: folder, now: 1).close(now: 2)
        try disk.closeToWriting()
        guard case .unavailable(let reason)? = error(opening: folder) else {
            Issue.record("opened on a read-only file system")
            return
        }
        #expect(reason.contains(folder))
    }

    @Test(
        "A symbolic link in place of the database, the position or the lock is not followed",
        arguments: ["access.sqlite", "access.synced", "lock"])
    func links(file: String) throws {
        let target = fixture.folder + "/elsewhere"
        try StoreFixture.write([], to: target)
        try #require(symlink(target, fixture.folder + "/" + file) == 0)
        #expect(error(opening: fixture.folder) != nil)
        #expect(try StoreFixture.bytes(of: target).isEmpty)
    }

    @Test("A folder that is reached through a link can be used, and is the same folder")
    func linkedFolder() throws {
        let link = fixture.folder + "/link"
        let folder = fixture.folder + "/state"
        try AccessStore.open(folder: folder, now: 1).close(now: 2)
        try #require(symlink(folder, link) == 0)
        let store = try AccessStore.open(folder: link, now: 3)
        #expect(try store.events() == [.start, .stop, .start])
        #expect(error(opening: folder) == .inUse)
    }
}
