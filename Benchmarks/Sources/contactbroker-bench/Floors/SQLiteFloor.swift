import CSQLite
import Glibc

/// The floor of the storage: the same bytes in a bare SQLite table in this process.
final class SQLiteFloor {
    private let handle: OpaquePointer
    private let count: Int
    /// The time to insert all rows in one transaction, with its commit.
    private(set) var insertion = Samples([])

    /// The size of a row in bytes, about that of a contact in a reply.
    private static let rowSize = 1_200

    /// Creates a database with `count` rows in the folder.
    init(folder: String, count: Int) throws {
        for end in ["", "-wal", "-shm"] { unlink(folder + "/floor.sqlite" + end) }
        var opened: OpaquePointer?
        guard sqlite3_open(folder + "/floor.sqlite", &opened) == SQLITE_OK, let opened else {
            throw Failure("SQLite cannot open a database in \(folder)")
        }
        handle = opened
        self.count = count
        try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        try execute("CREATE TABLE contact (record INTEGER PRIMARY KEY, stored BLOB NOT NULL)")
        let start = Clock.now()
        try execute("BEGIN")
        let insert = try prepare(Self.insertion)
        defer { sqlite3_finalize(insert) }
        for _ in 0..<count { try step(insert) }
        try execute("COMMIT")
        insertion = Samples([Clock.now() - start])
        try execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    deinit { sqlite3_close_v2(handle) }

    private static let insertion = "INSERT INTO contact (stored) VALUES (zeroblob(\(rowSize)))"

    func rowByKey() throws -> Samples {
        let select = try prepare("SELECT stored FROM contact WHERE record = ?")
        defer { sqlite3_finalize(select) }
        return Samples(
            try (0..<4_000).map { round in
                let start = Clock.now()
                sqlite3_bind_int64(select, 1, Int64(1 + round * 7_919 % count))
                guard sqlite3_step(select) == SQLITE_ROW, copy(select) else { throw failure }
                sqlite3_reset(select)
                return Clock.now() - start
            })
    }

    func everyRow() throws -> Samples {
        let select = try prepare("SELECT stored FROM contact ORDER BY record")
        defer { sqlite3_finalize(select) }
        return Samples(
            try (0..<20).map { _ in
                let start = Clock.now()
                while sqlite3_step(select) == SQLITE_ROW { guard copy(select) else { throw failure } }
                sqlite3_reset(select)
                return Clock.now() - start
            })
    }

    /// Measures commits of one row each.
    ///
    /// - Parameters:
    ///   - durable: whether SQLite syncs each commit before it returns.
    ///   - pause: the pause before each commit, in microseconds.
    func commits(durable: Bool, _ count: Int = 500, pause: UInt32 = 0) throws -> Samples {
        try execute("PRAGMA synchronous = \(durable ? "FULL" : "NORMAL")")
        let insert = try prepare(Self.insertion)
        defer { sqlite3_finalize(insert) }
        return Samples(
            try (0..<count).map { _ in
                if pause > 0 { usleep(pause) }
                let start = Clock.now()
                try step(insert)
                return Clock.now() - start
            })
    }

    private var sink: [UInt8] = []

    /// Copies the row out, as a server must to answer a client.
    private func copy(_ statement: OpaquePointer) -> Bool {
        guard let blob = sqlite3_column_blob(statement, 0) else { return false }
        sink.removeAll(keepingCapacity: true)
        sink.append(contentsOf: UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_column_bytes(statement, 0))))
        return true
    }

    private var failure: Failure { Failure("SQLite: \(String(cString: sqlite3_errmsg(handle)))") }

    private func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    private func prepare(_ sql: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else { throw failure }
        return statement
    }

    private func step(_ statement: OpaquePointer) throws {
        guard sqlite3_step(statement) == SQLITE_DONE else { throw failure }
        sqlite3_reset(statement)
    }
}
