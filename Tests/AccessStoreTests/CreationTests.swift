import BrokerAccessControl
import BrokerSQLite
import Glibc
import Testing

@testable import BrokerAccessStore

@Suite("Making the access database, and what a crash leaves of it")
struct CreationTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func expectNewStore() throws {
        let store = try fixture.open()
        defer { store.close(now: 2) }
        #expect(try store.events() == [.start])
        #expect(store.loss == nil)
    }

    @Test("The database gets its name when it is complete and has its write-ahead log")
    func complete() throws {
        try Schema.create(fixture.database)
        let header = try StoreFixture.bytes(of: fixture.database).prefix(100)
        // sqlite.org/fileformat2.html, section 1.3: the page size, and the versions for writing and reading.
        #expect(Array(header[16..<20]) == [4, 0, 2, 2])
        #expect(try Schema.inspect(path: fixture.database) == Schema.version)
        for name in ["-journal", "-wal", "-shm", ".new"] { #expect(access(fixture.database + name, F_OK) != 0) }
        // The position was not made yet, so this looks like a loss: opening makes the position first.
        #expect(try fixture.open().loss != nil)
    }

    @Test("If the database cannot be made, the next start makes it, and nothing counts as lost")
    func failed() throws {
        try #require(mkdir(fixture.database + ".new", 0o700) == 0)
        #expect(throws: AccessStoreError.self) { try fixture.open() }
        #expect(access(fixture.database, F_OK) != 0)
        #expect(access(fixture.position, F_OK) == 0)
        try #require(rmdir(fixture.database + ".new") == 0)
        for name in [".new", ".new-journal", "-wal", "-journal"] {
            try StoreFixture.write(Array("left over".utf8), to: fixture.database + name)
        }
        try expectNewStore()
    }

    /// The header of the journal of a transaction that makes a database: it had no pages before
    /// (sqlite.org/fileformat2.html, section 3).
    private static let journal: [UInt8] =
        [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 4, 0]
        + [UInt8](repeating: 0, count: 484)

    @Test(
        "A database that an earlier version had only begun before a power cut is created again", arguments: [0, 1_024])
    func begun(size: Int) throws {
        try StoreFixture.write([UInt8](repeating: 0, count: size), to: fixture.database)
        try StoreFixture.write(Self.journal, to: fixture.database + "-journal")
        try expectNewStore()
        #expect(access(fixture.database + "-journal", F_OK) != 0)
    }

    @Test("A stray journal beside a good database does not change it")
    func stray() throws {
        for stray in [Self.journal, [], Array("nothing of SQLite".utf8)] {
            let events = try fixture.open().events()
            try StoreFixture.write(stray, to: fixture.database + "-journal")
            let store = try fixture.open()
            #expect(try store.events().starts(with: events))
            #expect(store.loss == nil)
            #expect(try store.verifyAll().brokenAt == nil)
            store.close(now: 2)
        }
    }

    @Test("The position of the second place survives a crash, and its first use is known")
    func forwarded() throws {
        let store = try fixture.open()
        #expect(store.audit.forwarded == nil)
        store.disclose(1)
        try store.commit()
        store.audit.forwarded = store.audit.last.sequence
        store.disclose(2)
        try store.commit()
        let crashed = try fixture.copy().open()
        #expect(crashed.audit.forwarded == 2)
        store.audit.forwarded = 3
        store.close(now: 2)
        #expect(try fixture.open().audit.forwarded == 3)
    }
}
