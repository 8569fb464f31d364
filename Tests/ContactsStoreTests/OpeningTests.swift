import BrokerModel
import BrokerSQLite
import Glibc
import Testing

@testable import BrokerContactsStore

@Suite("Opening a book", .serialized)
struct OpeningTests {
    @Test("A missing book is made only on request")
    func absent() throws {
        let folder = try ScratchFolder()
        #expect(try ContactsStore.open(folder: folder.book, owner: owner, creating: false, onDamage: { _ in }) == nil)
        #expect(access(folder.book, F_OK) != 0)
    }

    /// Gives this thread its own umask, because the process's umask applies to other tests too. It calls unshare(2)
    /// with CLONE_FS, which Swift's Glibc does not name. Where a container forbids that, other tests see this umask.
    private func takeOwnUmask() {
        guard let found = dlsym(nil, "unshare") else { return }
        // Sound: sched.h declares the function with this type.
        let unshare = unsafeBitCast(found, to: (@convention(c) (CInt) -> CInt).self)
        _ = unshare(0x200)
    }

    @Test("Only the owner may read the files, whatever the umask", arguments: [mode_t(0), 0o077, 0o777])
    func modes(mask: mode_t) throws {
        let folder = try ScratchFolder()
        takeOwnUmask()
        let former = umask(mask)
        defer { umask(former) }
        let store = try #require(
            try ContactsStore.open(folder: folder.book, owner: owner, creating: true, onDamage: { _ in }))
        try store.apply([.add(RecordNumber(1), person("Ada"))], at: 0)
        #expect(mode(folder.book) == 0o700)
        for name in ["", "-wal", "-shm"] { #expect(mode(folder.file + name) == 0o600) }
        store.close()
    }

    @Test("Saved contacts are there after closing and opening, and after a crash")
    func reopened() throws {
        let book = try Book([person("Ada")])
        // A crash leaves the file and its log as they are.
        let crashed = try ScratchFolder()
        mkdir(crashed.book, 0o700)
        for name in ["", "-wal"] { write(contents(book.folder.file + name), to: crashed.file + name) }
        book.store.close()
        for folder in [book.folder, crashed] {
            let store = try #require(
                try ContactsStore.open(folder: folder.book, owner: owner, creating: false, onDamage: { _ in }))
            #expect(try store.count(ContactQuery(scope: .all)) == 1)
            store.close()
        }
    }

    @Test(
        "A look at the size or the anchor of an open book leaves SQLite's locks, so that other processes see that it is in use"
    )
    func locks() throws {
        let book = try Book([person("Ada")])
        // Closed last: to close it drops the locks, too.
        let file = open(book.folder.file, O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        // F_OFD_GETLK of fcntl(2), which Swift's Glibc does not name. It also tells of locks of this process. The range is
        // SQLite's, for readers.
        func isInUse() -> Bool {
            var lock = flock()
            (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
            (lock.l_start, lock.l_len) = (0x4000_0002, 510)
            return fcntl(file, 36, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
        }
        #expect(isInUse())
        #expect(try BookSize.read(folder: book.folder.book) != nil)
        _ = try AuditAnchor.read(folder: book.folder.book)
        #expect(isInUse())
        book.store.close()
        #expect(!isInUse())
    }

    @Test("A closed book answers no read and accepts no save")
    func closed() throws {
        let book = try Book([person("Ada")])
        book.store.close()
        #expect(throws: StoreError.unavailable(reason: "the book was closed")) {
            try book.store.count(ContactQuery(scope: .all))
        }
        #expect(throws: ChangeError.store(.unavailable(reason: "the book was closed"))) {
            try book.store.apply([.delete(RecordNumber(1))], at: 0)
        }
    }

    /// Makes a book with one contact, closes it and applies `change`. Opening must then fail and leave it untouched.
    private func refusal(
        of other: StoreOwner = owner, creating: Bool = true, _ change: (ScratchFolder) throws -> Void
    ) throws -> StoreError? {
        let book = try Book([person("Ada")])
        book.store.close()
        try change(book.folder)
        let before = [contents(book.folder.file), contents(book.folder.file + "-wal")]
        let modes = mode(book.folder.file)
        var refused: StoreError?
        do throws(StoreError) {
            try ContactsStore.open(folder: book.folder.book, owner: other, creating: creating, onDamage: { _ in })?
                .close()
        } catch {
            refused = error
        }
        #expect([contents(book.folder.file), contents(book.folder.file + "-wal")] == before)
        #expect(mode(book.folder.file) == modes)
        return refused
    }

    @Test("A book's owner may open it")
    func sameOwner() throws {
        #expect(try refusal { _ in } == nil)
    }

    @Test(
        "A user with another UID or another name may not open a book",
        arguments: [StoreOwner(uid: 1001, name: "ada"), StoreOwner(uid: 1000, name: "eve")])
    func otherOwner(other: StoreOwner) throws {
        #expect(try refusal(of: other) { _ in } == .wrongOwner)
    }

    @Test("A book of a later version is refused and left untouched")
    func newer() throws {
        let newer = try refusal { folder in
            try folder.execute("PRAGMA user_version = \(Schema.version + 1)")
        }
        #expect(newer == .newerSchema)
        let migrated = try refusal { folder in
            try folder.execute("INSERT INTO grdb_migrations VALUES ('5: more')")
        }
        #expect(migrated == .newerSchema)
    }

    @Test("A migration step runs once, and a failed one leaves the book untouched")
    func steps() throws {
        let book = try Book()
        let database = try BookConnection.writing(BookFile(folder: book.folder.book))
        defer { database.close() }
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name IN ('more', 'most')"
        var migrator = Schema.migrator
        migrator.registerMigration("more") { try $0.execute("CREATE TABLE more (x)") }
        for _ in 0..<2 { try migrator.migrate(database) }
        #expect(try database.integer(tables) == 1)
        migrator.registerMigration("most") { try $0.execute("CREATE TABLE most (x); SELECT nonsense") }
        #expect(throws: StoreError.self) { try migrator.migrate(database) }
        #expect(try database.integer(tables) == 1)
        #expect(try Schema.migrator.hasBeenSuperseded(database))
    }

    @Test("Migrations that the library GRDB recorded in the first books are recognised")
    func library() throws {
        let database = try Database(path: ":memory:", .readWrite, patience: 0)
        defer { database.close() }
        try database.execute(
            """
            CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
            INSERT INTO grdb_migrations VALUES ('1: contacts'), ('2: beginnings');
            """)
        var ours = DatabaseMigrator()
        ours.registerMigration("1: contacts") { _ in Issue.record("the step ran a second time") }
        #expect(try ours.hasBeenSuperseded(database))
        ours.registerMigration("2: beginnings") { _ in Issue.record("the step ran a second time") }
        #expect(try !ours.hasBeenSuperseded(database))
        try ours.migrate(database)
    }

    private func isDamaged(_ error: StoreError?) -> Bool {
        if case .damaged = error { true } else { false }
    }

    private func isUnavailable(_ error: StoreError?) -> Bool {
        if case .unavailable = error { true } else { false }
    }

    @Test("A damaged file is refused and left untouched")
    func damaged() throws {
        #expect(isDamaged(try refusal { write([], to: $0.file) }))
        #expect(isDamaged(try refusal { write(Array("no database at all".utf8), to: $0.file) }))
        #expect(isDamaged(try refusal { write([UInt8](repeating: 7, count: 8_192), to: $0.file) }))
        #expect(isDamaged(try refusal { write(Array(contents($0.file).dropLast(4_096)), to: $0.file) }), "truncated")
        #expect(
            isDamaged(
                try refusal { folder in
                    var bytes = contents(folder.file)
                    for index in 100..<4_096 { bytes[index] = 0xAA }
                    write(bytes, to: folder.file)
                }), "the list of tables")
        #expect(
            isDamaged(
                try refusal { folder in
                    try folder.execute("DROP INDEX wordByKey")
                }), "an index is missing")
    }

    @Test("Damage that is found while reading is an error, not a crash")
    func damagedInside() throws {
        let book = try Book((0..<500).map { person("Ada\($0)") { $0.note = String(repeating: "n", count: 900) } })
        book.store.close()
        var bytes = contents(book.folder.file)
        for index in 4_096..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
        write(bytes, to: book.folder.file)
        var refused: StoreError?
        do throws(StoreError) {
            if let store = try ContactsStore.open(
                folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in })
            {
                defer { store.close() }
                _ = try store.fetch(ContactQuery(scope: .all, limit: 1_000)) { _, _, _ in }
            }
        } catch {
            refused = error
        }
        #expect(isDamaged(refused))
    }

    @Test("Another program's database is refused and left untouched")
    func foreign() throws {
        #expect(
            isDamaged(
                try refusal { folder in
                    unlink(folder.file)
                    write([], to: folder.file)
                    try folder.execute("CREATE TABLE contact (record INTEGER)")
                }))
    }

    @Test("A file that is not a regular file is refused")
    func irregular() throws {
        #expect(
            isUnavailable(
                try refusal {
                    unlink($0.file)
                    symlink("/dev/null", $0.file)
                }))
        #expect(
            isUnavailable(
                try refusal {
                    unlink($0.file)
                    mkfifo($0.file, 0o600)
                    unlink($0.file)
                    mkdir($0.file, 0o700)
                    rmdir($0.file)
                    symlink($0.book, $0.file)
                }))
    }

    @Test("A read-only file is refused and left untouched")
    func readOnly() throws {
        #expect(isUnavailable(try refusal { chmod($0.file, 0o400) }))
    }

    @Test("If the folder cannot be made, the book is unavailable")
    func noFolder() throws {
        let folder = try ScratchFolder()
        let file = folder.path + "/file"
        write([1], to: file)
        defer { unlink(file) }
        #expect(throws: StoreError.self) {
            try ContactsStore.open(folder: file + "/book", owner: owner, creating: true, onDamage: { _ in })
        }
        #expect(contents(file) == [1])
    }

    @Test("A save to a file that was removed is refused rather than lost")
    func replaced() throws {
        let book = try Book([person("Ada")])
        unlink(book.folder.file)
        #expect(throws: ChangeError.store(.unavailable(reason: "the file was replaced"))) {
            try book.store.apply([.add(RecordNumber(2), person("Bob"))], at: 0)
        }
    }

    @Test("Sort keys and words from other rules are rebuilt")
    func rebuilt() throws {
        let book = try Book([
            person("Bob"), person("Ada") { $0.phoneNumbers = [LabeledString(value: "020 7946 0018")] },
        ])
        book.store.close()
        try book.folder.execute(
            """
            UPDATE book SET forms = 'of old'; UPDATE contact SET givenNameKey = x'00', familyNameKey = x'00';
            DELETE FROM word; DELETE FROM phone; INSERT INTO word VALUES (1, 2, 'wrong');
            """)
        let store = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { store.close() }
        var order: [Int64] = []
        _ = try store.fetch(ContactQuery(scope: .all, order: .givenName)) { record, _, _ in
            order.append(record.rawValue)
        }
        #expect(order == [2, 1])
        #expect(try store.count(ContactQuery(scope: .all, predicate: .name("ada"))) == 1)
        #expect(try store.count(ContactQuery(scope: .all, predicate: .name("wrong"))) == 0)
        #expect(try store.count(ContactQuery(scope: .all, predicate: .phoneNumber("7946 0018"))) == 1)
    }
}
