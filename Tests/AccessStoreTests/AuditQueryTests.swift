import BrokerAccessControl
import BrokerModel
import Glibc
import Testing

@testable import BrokerAccessStore

@Suite("Reading the audit")
struct AuditQueryTests {
    private let fixture: StoreFixture
    private let store: AccessStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        store.disclose(1, 2)
        store.disclose(2, to: notes)
        store.disclose(1, to: elsewhere)
        store.audit.append(
            AuditRecord(time: 1_700_000_200_000_000, uid: 1_000, app: mail.app, strength: .claimed, event: .refusal))
        try store.commit()
    }

    private func sequences(_ filter: AuditFilter) throws -> [Int64] {
        let entries = try store.records(matching: filter, after: nil, limit: 100)
        let offLoop = try store.audit.reader.records(matching: filter, after: nil, limit: 100)
        #expect(entries == offLoop)
        return entries.map(\.sequence)
    }

    @Test("Reading, verifying, writing and closing leave no file open")
    func closesFiles() throws {
        /// Counts only files of this test, because other tests of this process open files too.
        func openFiles() throws -> Int {
            let folder = try #require(opendir("/proc/self/fd"))
            defer { closedir(folder) }
            var count = 0
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                var target = [CChar](repeating: 0, count: 4_096)
                let length = readlink("/proc/self/fd/" + name, &target, target.count)
                let path = String(decoding: target.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
                if path.hasPrefix(fixture.folder) { count += 1 }
            }
            return count
        }
        var before: Int?
        for _ in 1...4 {
            _ = try store.audit.reader.records(matching: AuditFilter(), after: nil, limit: 100)
            _ = try store.audit.reader.verify(from: nil, budget: 100)
            store.decide(.limited(to: [RecordNumber(7)]), for: notes)
            try store.commit()
            // SQLite keeps a descriptor of the first round for reuse: closing it would drop the other connections'
            // locks.
            let now = try openFiles()
            #expect(before == nil || now == before)
            before = now
        }
        store.close(now: fixture.now)
        // The descriptors for syncing the log and for the synced position stay open as long as the store exists.
        #expect(try openFiles() == 2)
    }

    @Test("Records can be filtered by user, app, strength and event")
    func filters() throws {
        #expect(try sequences(AuditFilter()) == [1, 2, 3, 4, 5])
        #expect(try sequences(AuditFilter(uid: 1_001)) == [4])
        #expect(try sequences(AuditFilter(app: mail.app)) == [2, 4, 5])
        #expect(try sequences(AuditFilter(uid: 1_000, app: mail.app, event: .disclosure)) == [2])
        #expect(try sequences(AuditFilter(strength: .unverified)) == [3])
        #expect(try sequences(AuditFilter(event: .refusal)) == [5])
        #expect(try sequences(AuditFilter(app: "nobody")).isEmpty)
    }

    @Test("A time span includes its start and excludes its end")
    func time() throws {
        let moment: Int64 = 1_700_000_123_456_789
        #expect(try sequences(AuditFilter(since: moment, until: moment + 1)) == [2, 3, 4])
        #expect(try sequences(AuditFilter(since: moment + 1)) == [5])
        #expect(try sequences(AuditFilter(until: moment)) == [1])
    }

    @Test("Records can be filtered by a contact's pseudonym, which differs between users")
    func contact() throws {
        let keys = store.audit.pseudonyms
        let ada = keys.pseudonym(of: RecordNumber(1), uid: 1_000)
        let bob = keys.pseudonym(of: RecordNumber(2), uid: 1_000)
        #expect(try sequences(AuditFilter(contact: ada)) == [2])
        #expect(try sequences(AuditFilter(contact: bob)) == [2, 3])
        #expect(try sequences(AuditFilter(contact: keys.pseudonym(of: RecordNumber(1), uid: 1_001))) == [4])
        #expect(try sequences(AuditFilter(contact: keys.pseudonym(of: RecordNumber(9), uid: 1_000))).isEmpty)
        for text in ["", "00", "not hexadecimal", ada.uppercased(), ada + "00"] where text != ada {
            #expect(try sequences(AuditFilter(contact: text)).isEmpty)
        }
        // A text that spans two pseudonyms in a record matches neither.
        let middle = String((ada + bob).dropFirst(16).prefix(32))
        #expect(try sequences(AuditFilter(contact: middle)).isEmpty)
    }

    @Test("A record reads as it was written")
    func entry() throws {
        let entry = try #require(try store.records(matching: AuditFilter(), after: 1, limit: 1).first)
        #expect(entry.time == 1_700_000_123_456_789)
        #expect(entry.uid == 1_000 && entry.app == mail.app && entry.strength == .claimed)
        #expect(entry.event == .disclosure && entry.status == .limited && entry.keys == .names)
        #expect(entry.count == 2 && entry.revision == 3 && entry.repeats == nil && entry.detail == "FetchContacts")
        #expect(entry.contacts == [1, 2].map { store.audit.pseudonyms.pseudonym(of: RecordNumber($0), uid: 1_000) })
        let first = try #require(try store.records(matching: AuditFilter(), after: nil, limit: 1).first)
        #expect(entry.previous == first.hash)
    }

    @Test("Pages follow one another without gap or overlap, in either direction")
    func pages() throws {
        for newestFirst in [false, true] {
            var all: [Int64] = []
            var after: Int64?
            while true {
                let page = try store.records(matching: AuditFilter(), after: after, limit: 2, newestFirst: newestFirst)
                guard let last = page.last else { break }
                #expect(page.count <= 2)
                all += page.map(\.sequence)
                after = last.sequence
            }
            #expect(all == (newestFirst ? [5, 4, 3, 2, 1] : [1, 2, 3, 4, 5]))
        }
        #expect(try store.records(matching: AuditFilter(), after: nil, limit: 0).isEmpty)
    }

    @Test("An uncommitted record is neither read nor verified")
    func uncommitted() throws {
        store.disclose(3)
        #expect(store.hasUncommitted)
        #expect(try sequences(AuditFilter()).count == 5)
        #expect(store.audit.last.sequence == 5)
        try store.commit()
        #expect(!store.hasUncommitted)
        #expect(try sequences(AuditFilter()).count == 6)
        #expect(try store.audit.reader.verify(from: nil, budget: 100).checked == 6)
    }

    @Test("A contact's pseudonym stays the same, and differs between contacts and users")
    func pseudonyms() {
        let own = store.audit.pseudonyms.pseudonym(of: RecordNumber(1), uid: 1_000)
        #expect(own.utf8.count == 32)
        #expect(own == store.audit.pseudonyms.pseudonym(of: RecordNumber(1), uid: 1_000))
        #expect(own != store.audit.pseudonyms.pseudonym(of: RecordNumber(2), uid: 1_000))
        #expect(own != store.audit.pseudonyms.pseudonym(of: RecordNumber(1), uid: 1_001))
    }
}
