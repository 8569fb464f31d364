import BrokerModel
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

    @Test("Every save with changes has an entry, with its last change, until it is taken over")
    func kept() throws {
        let book = try Book([person("Ada")])
        #expect(try book.store.outbox() == [])
        try book.store.apply([.add(RecordNumber(2), person("Bob"))], at: 0, outbox: entry(1))
        #expect(
            try book.store.outbox()
                == [OutboxEntry(number: 1, change: book.store.lastChange, bytes: [1, 2, 3])])
        // This save writes the values that are already there.
        try book.store.apply(
            [.update(RecordNumber(2), person("Bob"), keys: ContactKeySet([.givenName]))], at: 0, outbox: entry(2))
        #expect(try numbers(book) == [1])
        // This save makes a change that is not in the history.
        try book.store.apply([.container(.add(RecordNumber(3), name: "Work"))], at: 0, outbox: entry(2))
        #expect(try numbers(book) == [1, 2])
        try book.store.apply([.delete(RecordNumber(2))], at: 0, outbox: entry(3, takenOver: 1))
        #expect(try numbers(book) == [2, 3])
        #expect(try book.store.outbox().last?.change == book.store.lastChange)
    }

    @Test("A failed save adds no entry, and removes none")
    func notMade() throws {
        let book = try Book([person("Ada")])
        try book.store.apply([.add(RecordNumber(2), person("Bob"))], at: 0, outbox: entry(1))
        #expect(throws: ChangeError.recordDoesNotExist(index: 1)) {
            try book.store.apply(
                [.add(RecordNumber(3), person("Eve")), .delete(RecordNumber(9))], at: 0, outbox: entry(2, takenOver: 1)
            )
        }
        #expect(try numbers(book) == [1])
        // This number exists already, so both saves would have the same entry.
        #expect(throws: ChangeError.self) {
            try book.store.apply([.add(RecordNumber(3), person("Eve"))], at: 0, outbox: entry(1))
        }
        #expect(try book.records() == [1, 2])
    }

    @Test("A book of the previous version gets an outbox, and keeps its contents")
    func upgraded() throws {
        let book = try Book([person("Ada")])
        book.store.close()
        try book.folder.execute(
            """
            DROP TABLE outbox; DROP TABLE handLink; DROP TABLE unlike; DROP TABLE unsure;
            DROP INDEX changeOfGroups; DROP INDEX changeByMember;
            DELETE FROM grdb_migrations WHERE identifier >= '7'; PRAGMA user_version = 6
            """)
        let store = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { store.close() }
        #expect(try store.outbox() == [])
        try store.apply([.add(RecordNumber(2), person("Bob"))], at: 0, outbox: entry(1))
        #expect(try store.outbox().map(\.number) == [1])
        #expect(try store.existing([RecordNumber(1), RecordNumber(2)]).count == 2)
    }

    @Test("Whatever part of the log survives a crash, contacts and entries are both there or both missing")
    func everyByte() throws {
        let book = try Book()
        try book.store.checkpoint()
        for number in Int64(1)...4 {
            try book.store.apply([.add(RecordNumber(number), person("N\(number)"))], at: 0, outbox: entry(number))
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
