import BrokerAccessControl
import BrokerModel
import BrokerSQLite
import Glibc
import Testing

@testable import BrokerAccessStore

/// A folder for one test. It is removed when this object is released.
final class StoreFixture {
    let folder: String
    /// Microseconds since 1970; a test may advance it.
    var now: Int64 = 1_700_000_000_000_000

    init() throws {
        var template = Array("/tmp/access-store-test.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(folder) }

    private static func remove(_ path: String) {
        // Try to unlink it first, so that a symbolic link is removed and its target is never entered.
        guard unlink(path) != 0 else { return }
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != ".", name != ".." { remove(path + "/" + name) }
            }
            closedir(directory)
            rmdir(path)
        }
    }

    var database: String { folder + "/access.sqlite" }

    func open() throws -> AccessStore { try AccessStore.open(folder: folder, now: now) }

    /// Removes the audit's triggers and runs SQL on a separate connection, as a person with a SQLite shell could.
    func tamper(_ sql: String) throws {
        let connection = try Database.open(database, .readWrite)
        let triggers = ["auditKeepsWords", "auditKeepsRecords", "auditCallerKeepsWords", "auditCallerKeepsRecords"]
        for trigger in triggers { try connection.execute("DROP TRIGGER IF EXISTS \(trigger)") }
        try connection.execute(sql)
    }

    var position: String { folder + "/access.synced" }

    /// Copies the files as a crash at this moment would leave them, with the log that `change` returns.
    func copy(log change: ([UInt8]) throws -> ArraySlice<UInt8> = { $0[...] }) throws -> StoreFixture {
        let copy = try StoreFixture()
        try StoreFixture.write(try StoreFixture.bytes(of: database), to: copy.database)
        try StoreFixture.write(change(try StoreFixture.bytes(of: database + "-wal")), to: copy.database + "-wal")
        try StoreFixture.write(try StoreFixture.bytes(of: position), to: copy.position)
        return copy
    }

    static func bytes(of path: String) throws -> [UInt8] {
        let file = Glibc.open(path, O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(file, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
        return all
    }

    static func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let bytes = Array(bytes)
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    static func mode(of path: String) throws -> UInt32 {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status.st_mode & 0o7777
    }
}

let mail = Principal(uid: 1_000, strength: .claimed, app: "org.example.Mail")
let notes = Principal(uid: 1_000, strength: .unverified, app: "/usr/bin/notes")
let elsewhere = Principal(uid: 1_001, strength: .claimed, app: "org.example.Mail")
let terminal = Principal.Binding.session(
    SessionIdentity(bootIdentifier: "boot", leader: ProcessIdentity(pid: 5, startTime: 50)))

/// The moment of an empty book at time 0.
let beginning = SetMoment(change: 0, time: 0)

func contacts(_ numbers: Int64...) -> Set<RecordNumber> { Set(numbers.map { RecordNumber($0) }) }

extension AccessStore {
    /// Stores a decision of the person without committing it.
    func decide(
        _ access: Access, for principal: Principal, keys: ContactKeySet = Grant.ordinaryKeys,
        lifetime: Lifetime = .untilRevoked
    ) {
        let grant = Grant(
            access: access, keys: keys, lifetime: lifetime, revision: nextRevision(), decidedBy: .person, decidedAt: 5)
        setGrant(grant, for: principal, displayName: "An App", at: beginning)
    }

    func access(of principal: Principal) -> Access? { grant(of: principal)?.access }

    /// Records a disclosure to an app without committing it.
    func disclose(_ numbers: Int64..., to principal: Principal = mail, detail: String? = "FetchContacts") {
        audit.append(
            AuditRecord(
                time: 1_700_000_123_456_789, uid: principal.uid, app: principal.app, strength: principal.strength,
                event: .disclosure, status: .limited, keys: .names, count: numbers.count,
                contacts: numbers.map { RecordNumber($0) }, revision: 3, detail: detail))
    }

    /// Uses the store's own connection. It works after the folder is removed, but not after the store is closed.
    func records(
        matching filter: AuditFilter, after sequence: Int64?, limit: Int, newestFirst: Bool = false
    ) throws -> [AuditEntry] {
        try AuditQuery(connection: file.openWriter().connection)
            .records(matching: filter, after: sequence, limit: limit, newestFirst: newestFirst)
    }

    /// Uses the same connection as ``records(matching:after:limit:newestFirst:)``.
    func verify(from: Int64?, budget rows: Int) throws -> AuditVerification {
        try AuditQuery(connection: file.openWriter().connection).verify(from: from, budget: rows, known: audit.last)
    }

    /// Verifies the whole chain.
    func verifyAll(budget: Int = 1_000) throws -> (checked: Int, brokenAt: Int64?) {
        var checked = 0
        var from: Int64?
        while true {
            let step = try verify(from: from, budget: budget)
            checked += step.checked
            if let broken = step.brokenAt { return (checked, broken) }
            guard let next = step.next else { return (checked, nil) }
            from = next
        }
    }

    func events() throws -> [AuditEvent] {
        try records(matching: AuditFilter(), after: nil, limit: .max).map(\.event)
    }

    /// Makes the disk full, or gives it space again.
    func diskIsFull(_ full: Bool) throws {
        _ = try file.writer?.connection.integer("PRAGMA max_page_count = \(full ? 1 : 1_000_000)")
    }

    /// Records a disclosure that does not fit into the existing pages.
    func discloseMuch() { disclose(1, detail: String(repeating: "x", count: 5_000)) }
}
