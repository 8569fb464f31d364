import ContactsModel
import GRDB
import Glibc
import Testing

@testable import ContactsStore

/// What is written to the log is kept until it is synced. Each time that counts, the files are copied as a crash would leave them,
/// and looked into by SQLite as it is.
@Suite("A log that is gathered")
struct GatheringTests {
    private typealias Rows = [Int64: String]

    /// A database with one table, whose pages hardly find room in its cache, so that large transactions write to the log
    /// before they end, and write anew what they wrote.
    private func database(in folder: ScratchFolder) throws -> OwnDatabase {
        try #require(mkdir(folder.book, 0o700) == 0)
        write([], to: folder.file)
        let database = try OwnDatabase(
            path: folder.file, patience: 0,
            settings: """
                PRAGMA synchronous = FULL;
                PRAGMA journal_mode = WAL;
                PRAGMA wal_autocheckpoint = 0;
                PRAGMA cache_size = 8;
                CREATE TABLE line (number INTEGER PRIMARY KEY, text TEXT NOT NULL);
                """, gathersLog: true)
        return database
    }

    /// What somebody finds who starts after a crash.
    private func survivors(_ folder: ScratchFolder) throws -> Rows {
        let survivor = try ScratchFolder()
        try #require(mkdir(survivor.book, 0o700) == 0)
        for name in ["", "-wal"] { write(contents(folder.file + name), to: survivor.file + name) }
        let database = try DatabaseQueue(path: survivor.file)
        defer { try? database.close() }
        return try database.read { db in
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
            let rows = try Row.fetchAll(db, sql: "SELECT number, text FROM line")
            return Rows(uniqueKeysWithValues: rows.map { ($0["number"], $0["text"]) })
        }
    }

    @Test("After each commit a crash leaves all of it, and before it nothing", arguments: [1, 2, 3] as [UInt64])
    func crashes(seed: UInt64) throws {
        var random = SmallRandom(seed: seed)
        let folder = try ScratchFolder()
        let database = try database(in: folder)
        defer { database.close() }
        var committed = Rows()
        for _ in 0..<40 {
            var rows = committed
            // Some fit into the cache, some are larger than what is gathered at most. No savepoint is taken back: of a
            // transaction that does not fit into its cache SQLite 3.40 may then write frames that nobody can read.
            let steps = [1, 5, 60, 600].randomElement(using: &random) ?? 1
            func change() throws {
                let number = Int64.random(in: 1...400, using: &random)
                if Int.random(in: 0..<4, using: &random) == 0 {
                    try database.execute(sql: "DELETE FROM line WHERE number = \(number)")
                    rows[number] = nil
                } else {
                    let text = String(
                        repeating: "\(UInt8.random(in: 0...9, using: &random))",
                        count: Int.random(in: 1...3_000, using: &random))
                    try database.execute(sql: "INSERT OR REPLACE INTO line VALUES (\(number), '\(text)')")
                    rows[number] = text
                }
            }
            try database.execute(sql: "BEGIN IMMEDIATE")
            for _ in 0..<steps { try change() }
            #expect(try survivors(folder) == committed)
            if Int.random(in: 0..<4, using: &random) == 0 {
                try database.execute(sql: "ROLLBACK")
            } else {
                try database.execute(sql: "COMMIT")
                committed = rows
            }
            #expect(try survivors(folder) == committed)
            if Int.random(in: 0..<6, using: &random) == 0 { try database.checkpoint() }
        }
        #expect(try database.integer("SELECT count(*) FROM line") == Int64(committed.count))
    }

    @Test("Whoever else has the file open sees a commit when it is made, and none before")
    func others() throws {
        let folder = try ScratchFolder()
        let database = try database(in: folder)
        defer { database.close() }
        let reader = try DatabaseQueue(path: folder.file)
        defer { try? reader.close() }
        let count = { try reader.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM line") } }
        for number in 1...50 {
            try database.execute(sql: "BEGIN IMMEDIATE")
            try database.execute(sql: "INSERT INTO line VALUES (\(number), hex(zeroblob(3000)))")
            #expect(try count() == number - 1)
            try database.execute(sql: "COMMIT")
            #expect(try count() == number)
        }
    }

    @Test(
        "A save is a few writes, however many pages it changes",
        .enabled(if: access("/proc/thread-self/io", R_OK) == 0, "this kernel counts no writes"))
    func writes() throws {
        let book = try Book([person("Ada", "Lovelace")])
        try book.store.checkpoint()
        let pages = try book.folder.frames()
        let before = try #require(Self.writes())
        try book.store.apply([.add(RecordNumber(2), person("Grace", "Hopper") { $0.nickname = "Amazing" })], at: 0)
        let after = try #require(Self.writes())
        #expect(try book.folder.frames() - pages > 8)
        // One of them wakes the disk, if it has rested by then.
        #expect(after - before <= 3)
        #expect(try book.records().count == 2)
    }

    @Test(
        "Where the disk has rested it is given something to write, and the log is as it was",
        .enabled(if: access("/proc/thread-self/io", R_OK) == 0, "this kernel counts no writes"))
    func stirred() throws {
        let folder = try ScratchFolder()
        let database = try database(in: folder)
        defer { database.close() }
        try database.execute(sql: "INSERT INTO line VALUES (1, 'one')")
        let log = contents(folder.file + "-wal")
        let rested = ContinuousClock.now + .milliseconds(5)
        while ContinuousClock.now < rested {}
        let before = try #require(Self.writes())
        try database.execute(sql: "BEGIN IMMEDIATE")
        database.stirLog()
        let after = try #require(Self.writes())
        #expect(after - before == 1)
        #expect(contents(folder.file + "-wal") == log)
        #expect(try survivors(folder) == [1: "one"])
        try database.execute(sql: "INSERT INTO line VALUES (2, 'two')")
        try database.execute(sql: "COMMIT")
        #expect(try survivors(folder) == [1: "one", 2: "two"])
        #expect(try #require(database.logEnd) == Int64(contents(folder.file + "-wal").count))
        let other = try OwnDatabase(path: folder.file, patience: 0)
        defer { other.close() }
        other.stirLog()
        #expect(other.logEnd == nil)
    }

    /// Calls by which this thread has written.
    private static func writes() -> Int? {
        String(decoding: contents("/proc/thread-self/io"), as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("syscw:") }.flatMap { Int($0.dropFirst(7)) }
    }
}
