import BrokerBounds
@_spi(StoredBytes) import BrokerModel
import CBrokerSQLite
import Glibc
import Testing

@testable import BrokerContactsStore
@testable import BrokerSQLite

/// A temporary folder for one test.
final class ScratchFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/contactsstore.XXXXXX".utf8CString)
        let made = try #require(mkdtemp(&template))
        path = String(cString: made)
    }

    deinit {
        for name in ["", "-wal", "-shm", "-journal", ".new"] { unlink(book + "/contacts.sqlite" + name) }
        rmdir(book)
        rmdir(path)
    }

    /// The user's folder. The store creates it.
    var book: String { path + "/book" }
    var file: String { book + "/contacts.sqlite" }

    /// The number of frames in the log. The log's header has 32 bytes, and each frame has a header of 24 bytes and a
    /// page. Page number 0 ends the log.
    func frames() throws -> Int {
        let log = try bytes(of: file + "-wal")
        var count = 0
        var place = 32
        while place + 24 + 4_096 <= log.count, log[place..<place + 4].contains(where: { $0 != 0 }) {
            count += 1
            place += 24 + 4_096
        }
        return count
    }

    /// Runs statements on the book's file, in a connection of their own.
    func execute(_ sql: String) throws {
        let database = try Database(path: file, .readWrite, patience: 0)
        defer { database.close() }
        try database.execute(sql)
    }

    /// The rows of a query. Values are in the form of SQL, so a text differs from a number.
    func rows(_ sql: String) throws -> [[String]] {
        let database = try Database(path: file, .readWrite, patience: 0)
        defer { database.close() }
        return try PreparedStatement(sql, on: database).all { row in
            (0..<sqlite3_column_count(row.handle)).map { column in
                switch sqlite3_column_type(row.handle, column) {
                case SQLITE_NULL: "NULL"
                case SQLITE_TEXT: "'\(row.text(column))'"
                case SQLITE_BLOB: "\(row.bytes(column))"
                default: row.text(column)
                }
            }
        }
    }

    /// The steps in which SQLite runs a query. With NULL for its parameters the plan is the same as with values.
    func plan(_ sql: String) throws -> [String] {
        let database = try Database(path: file, .readWrite, patience: 0)
        defer { database.close() }
        return try PreparedStatement("EXPLAIN QUERY PLAN " + sql, on: database).all { $0.text(3) }
    }

    func bytes(of path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(file, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
        return all
    }
}

let owner = StoreOwner(uid: 1000, name: "ada")

/// An open book in a temporary folder.
final class Book {
    let folder: ScratchFolder
    let store: ContactsStore

    /// - Parameter folder: the folder of a book that was closed; `nil` for a new folder.
    init(
        _ contacts: [Contact] = [], in folder: ScratchFolder? = nil, region: String = "",
        space: SpaceBounds = SpaceBounds()
    ) throws {
        self.folder = try folder ?? ScratchFolder()
        store = try #require(
            try ContactsStore.open(
                folder: self.folder.book, owner: owner, creating: true, region: region, space: space,
                onDamage: { _ in }))
        try store.apply(contacts.enumerated().map { .add(RecordNumber(Int64($0.offset + 1)), $0.element) }, at: 0)
    }

    deinit { store.close() }

    /// The record numbers of a query, page by page.
    func records(
        _ scope: RecordScope = .all, _ predicate: ContactPredicate? = nil, seeing keys: ContactKeySet = .all,
        order: ContactOrder = .none, pages limit: Int = 1_000, unifies: Bool = false
    ) throws -> [Int64] {
        var found: [Int64] = []
        var after: Position?
        while true {
            let query = ContactQuery(
                scope: scope, predicate: predicate, matchKeys: keys, order: order, after: after, limit: limit,
                unifies: unifies)
            let end = try store.fetch(query) { record, _, _ in found.append(record.rawValue) }
            guard end.hasMore else { return found }
            // Encode and decode the cursor, as happens when an app gets it and sends it back.
            after = Position(bytes: try #require(end.last).bytes)
            #expect(after == end.last)
        }
    }

    /// One contact, decoded.
    func contact(_ record: Int64) throws -> Contact? {
        var found: Contact?
        _ = try store.fetch(ContactQuery(scope: .only([RecordNumber(record)]))) { _, stored, _ in
            found = Contact(stored)
        }
        return found
    }
}

func scope(_ records: Int64...) -> RecordScope { .only(Set(records.map { RecordNumber($0) })) }

func person(_ given: String = "", _ family: String = "", _ change: (inout Contact) -> Void = { _ in }) -> Contact {
    var contact = Contact()
    contact.givenName = given
    contact.familyName = family
    change(&contact)
    return contact
}

func contents(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return bytes
}

func write(_ bytes: [UInt8], to path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { break }
        rest = rest.dropFirst(count)
    }
    close(descriptor)
}

func mode(_ path: String) -> UInt32 {
    var status = stat()
    return lstat(path, &status) == 0 ? UInt32(status.st_mode) & 0o7777 : 0
}
