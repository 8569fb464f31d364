import BrokerModel
import GRDB
import Glibc
import Testing

@testable import BrokerContactsStore

@Suite("The outbox of a book")
struct OutboxTests {
    private func entry(_ number: Int64, takenOver: Int64 = 0) -> OutgoingEntry {
        OutgoingEntry(
            number: number, bytes: [UInt8(number), 2, 3], takenOver: takenOver,
            anchor: AuditAnchor(sequence: number, hash: [UInt8](repeating: 7, count: 32)))
    }

    private func numbers(_ book: Book) throws -> [Int64] { try book.store.outbox().map(\.number) }

    @Test("It has an entry of every save that changed something, with its last change, until that is taken over")
    func kept() throws {
        let book = try Book([person("Ada")])
        #expect(try book.store.outbox() == [])
        try book.store.apply([.add(RecordNumber(2), person("Bob"))], at: 0, telling: entry(1))
        #expect(
            try book.store.outbox()
                == [OutboxEntry(number: 1, change: book.store.lastChange, bytes: [1, 2, 3])])
        // Says what is there already.
        try book.store.apply(
            [.update(RecordNumber(2), person("Bob"), keys: ContactKeySet([.givenName]))], at: 0, telling: entry(2))
        #expect(try numbers(book) == [1])
        // No change of the history, and a change all the same.
        try book.store.apply([.container(.add(RecordNumber(3), name: "Work"))], at: 0, telling: entry(2))
        #expect(try numbers(book) == [1, 2])
        try book.store.apply([.delete(RecordNumber(2))], at: 0, telling: entry(3, takenOver: 1))
        #expect(try numbers(book) == [2, 3])
        #expect(try book.store.outbox().last?.change == book.store.lastChange)
    }

    @Test("A save that is not made has no entry, and takes none away")
    func notMade() throws {
        let book = try Book([person("Ada")])
        try book.store.apply([.add(RecordNumber(2), person("Bob"))], at: 0, telling: entry(1))
        #expect(throws: ChangeError.recordDoesNotExist(index: 1)) {
            try book.store.apply(
                [.add(RecordNumber(3), person("Eve")), .delete(RecordNumber(9))], at: 0, telling: entry(2, takenOver: 1)
            )
        }
        #expect(try numbers(book) == [1])
        // A number that is there: both saves would have one entry.
        #expect(throws: ChangeError.self) {
            try book.store.apply([.add(RecordNumber(3), person("Eve"))], at: 0, telling: entry(1))
        }
        #expect(try book.records() == [1, 2])
    }

    @Test("A book of the version before gets one, and keeps what it has")
    func upgraded() throws {
        let book = try Book([person("Ada")])
        book.store.close()
        let database = try DatabaseQueue(path: book.folder.file)
        try database.write { db in
            try db.execute(
                sql: """
                    DROP TABLE outbox; DROP TABLE handLink; DROP TABLE unlike; DROP TABLE unsure;
                    DROP INDEX changeOfGroups; DROP INDEX changeByMember;
                    DELETE FROM grdb_migrations WHERE identifier >= '7'; PRAGMA user_version = 6
                    """)
        }
        try database.close()
        let store = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { store.close() }
        #expect(try store.outbox() == [])
        try store.apply([.add(RecordNumber(2), person("Bob"))], at: 0, telling: entry(1))
        #expect(try store.outbox().map(\.number) == [1])
        #expect(try store.existing([RecordNumber(1), RecordNumber(2)]).count == 2)
    }

    @Test("Whatever of the log a crash leaves, contacts and entries are there together")
    func everyByte() throws {
        let book = try Book()
        try book.store.checkpoint()
        for number in Int64(1)...4 {
            try book.store.apply([.add(RecordNumber(number), person("N\(number)"))], at: 0, telling: entry(number))
        }
        let (file, log) = (contents(book.folder.file), contents(book.folder.file + "-wal"))
        var seen: Set<Int> = []
        let end = 32 + (try book.folder.frames()) * (24 + 4_096)
        for size in Array(stride(from: 0, through: end, by: 3_001)) + [end] {
            let folder = try ScratchFolder()
            mkdir(folder.book, 0o700)
            write(file, to: folder.file)
            write(Array(log.prefix(size)), to: folder.file + "-wal")
            let store = try #require(
                try ContactsStore.open(folder: folder.book, owner: owner, creating: false, onDamage: { _ in }))
            defer { store.close() }
            let entries = try store.outbox().map(\.number)
            #expect(try store.existing((1...4).map { RecordNumber($0) }).map(\.rawValue).sorted() == entries)
            seen.insert(entries.count)
        }
        #expect(seen == Set(0...4))
    }
}
