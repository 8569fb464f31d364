import BrokerModel
import BrokerSQLite
import Glibc
import Testing

@testable import BrokerContactsStore

@Suite("Making a book, and what a crash leaves of it")
struct CreationTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func names() -> [String] {
        ["", "-journal", "-wal", "-shm", ".new", ".new-journal", ".new-wal", ".new-shm"]
            .filter { access(folder.file + $0, F_OK) == 0 }
    }

    private func make() throws { try BookFile(folder: folder.book).create(owner: owner, forms: "") }

    /// Opens the book, expects these contacts, and saves one more.
    private func expectBook(with count: Int) throws {
        let store = try #require(
            try ContactsStore.open(folder: folder.book, owner: owner, creating: true, onDamage: { _ in }))
        defer { store.close() }
        #expect(try store.count(ContactQuery(scope: .all)) == count)
        try store.apply([.add(RecordNumber(1_000), person("Eve"))], at: 0)
        #expect(try store.count(ContactQuery(scope: .all)) == count + 1)
    }

    @Test("A book gets its name when it is complete and has its write-ahead log, after one transaction")
    func complete() throws {
        try make()
        #expect(names() == [""])
        let header = contents(folder.file).prefix(100)
        // sqlite.org/fileformat2.html, section 1.3: the versions for writing and reading, and the count of transactions.
        #expect(Array(header[18..<20]) == [2, 2])
        #expect(Array(header[24..<28]) == [0, 0, 0, 2], "one for the tables, and one that turns the log on")
        try expectBook(with: 0)
    }

    @Test("If a book cannot be made, nothing of it stays, and the next attempt succeeds")
    func failed() throws {
        try #require(mkdir(folder.book, 0o700) == 0 && mkdir(folder.file + ".new", 0o700) == 0)
        #expect(throws: StoreError.self) { try make() }
        try #require(rmdir(folder.file + ".new") == 0)
        #expect(names() == [])
        for name in [".new", ".new-journal", ".new-wal"] { write(Array("left over".utf8), to: folder.file + name) }
        try expectBook(with: 0)
    }

    /// Makes a book without a write-ahead log and leaves it as a crash within a transaction does: the file has some of
    /// the transaction's pages, and the journal has their former content.
    private func crash() throws {
        try make()
        let database = try Database(path: folder.file, .readWrite, patience: 0, settings: "PRAGMA cache_size = 1")
        #expect(try database.text("PRAGMA journal_mode = DELETE") == "delete")
        try database.execute("CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(200000))")
        try database.execute("BEGIN IMMEDIATE; UPDATE filler SET bytes = randomblob(200000)")
        let left = ["", "-journal"].map { contents(folder.file + $0) }
        try database.execute("ROLLBACK")
        database.close()
        try #require(left[1].first == 0xD9, "the journal has its header")
        write(left[0], to: folder.file)
        write(left[1], to: folder.file + "-journal")
    }

    @Test("A book whose log was not turned on before a crash opens, and saves")
    func hotJournal() throws {
        try crash()
        try expectBook(with: 0)
        #expect(names() == [""])
    }

    @Test("A stray file beside a book does not change it", arguments: ["-journal", "-shm", ".new"])
    func strays(name: String) throws {
        try crash()
        let journal = contents(folder.file + "-journal")
        for stray in [journal, [], Array("nothing of SQLite".utf8)] {
            for name in ["", "-journal"] { unlink(folder.file + name) }
            try Book([person("Ada"), person("Bob")], in: folder).store.close()
            write(stray, to: folder.file + name)
            try expectBook(with: 2)
            let database = try Database(path: folder.file, .readOnly, patience: 0)
            #expect(try database.text("PRAGMA quick_check") == "ok")
        }
    }

    @Test("What another book left is not applied to a new one", arguments: ["-journal", "-wal"])
    func leftovers(name: String) throws {
        if name == "-wal" {
            let book = try Book([person("Ada")], in: folder)
            let log = contents(folder.file + "-wal")
            book.store.close()
            write(log, to: folder.file + "-wal")
        } else {
            try crash()
        }
        unlink(folder.file)
        try expectBook(with: 0)
    }
}
