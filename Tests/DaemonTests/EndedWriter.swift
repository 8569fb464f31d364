import BrokerAccessControl
import BrokerAccessStore
import BrokerJSON
import BrokerVarlinkClient
import CBrokerSQLite
import Glibc
import Testing

/// What a broker does when it ends.
enum Change: CaseIterable, Sendable { case firstSave, restore, deletion, putBack, backup, migration, retention }

/// Repeats a change on the same files, and ends the broker after another operation each time.
final class EndedWriter {
    private let change: Change
    private let fixture: DaemonFixture
    private let cut: PowerCut
    /// The files in the state folder before the change, by path.
    private let files: [String: [UInt8]]
    /// The names in the book before and after the change.
    private var before = Set(DaemonFixture.names)
    private var after = Set(DaemonFixture.names)
    private var hasGrant = true
    /// The step that deletes a contact.
    private var deleting = ""
    /// The save that is put back.
    private var deletion = ""

    /// Replies that came before the end.
    private var isGranted = false
    private var isDone = false

    private static let seconds = Int64(time(nil))
    private static let day: Int64 = 86_400

    init(_ change: Change) throws {
        self.change = change
        fixture = try DaemonFixture(starting: false)
        cut = try PowerCut(below: fixture.state)
        switch change {
        case .firstSave:
            (before, after, hasGrant) = ([], ["New"], false)
            files = [:]
            return
        case .restore, .deletion: before.insert("Later")
        case .putBack: after.insert("Later")
        case .backup: break
        case .migration: after.insert("New")
        case .retention:
            after.insert("New")
            try Self.fillAudit(fixture)
        }
        try fixture.start()
        let keeper = try fixture.keeper(with: fixture.person())
        if change == .restore {
            let made = try Command(
                DaemonFixture.programs + "/contactctl", ["backup", "--plain", fixture.folder + "/backup"], in: fixture)
            try #require(made.end == .exited(0), "\(made.errors)")
            try #require(try keeper.save([App.adding(given: "Later")]).word == "ok")
        }
        if change == .deletion || change == .putBack { deleting = try Self.addLater(keeper) }
        if change == .putBack {
            try #require(try keeper.save([deleting]).error == nil)
            deletion = try #require(try Self.lastDeletion(fixture))
        }
        try fixture.stop()
        if change == .migration { try Self.makeOld(fixture) }
        files = DaemonFixture.contents(of: fixture.state)
    }

    /// Adds a contact with a photo, and returns the step that deletes it.
    private static func addLater(_ keeper: App) throws -> String {
        let photo = String(repeating: "QUJD", count: 2_000)
        let reply = try keeper.save([App.adding(#""givenName":"Later","imageData":"\#(photo)""#)])
        let identifier = try #require(reply.strings("identifiers").first)
        return #"{"operation":"delete","contact":{"identifier":"\#(identifier)"}}"#
    }

    /// The number of the newest save in the bin that deleted a contact.
    private static func lastDeletion(_ fixture: DaemonFixture) throws -> String? {
        let saves = try fixture.administrator().call("io.contactbroker.Admin.ListChanges")["saves"]?.elements
        return saves?.first { $0["deleted"]?.integer != 0 }?["number"]?.integer.map { "\($0)" }
    }

    /// Records of 45 days, and a setting that keeps 30.
    private static func fillAudit(_ fixture: DaemonFixture) throws {
        let store = try AccessStore.open(folder: fixture.state, now: (seconds - 45 * day) * 1_000_000)
        for number in 0..<450 {
            let time = (seconds - 45 * day + Int64(number) * day / 10) * 1_000_000
            store.audit.append(AuditRecord(time: time, uid: getuid(), app: "old", strength: .installed, event: .grant))
            try store.commit()
        }
        store.close(now: seconds * 1_000_000)
        try #require(mkdir(fixture.configuration, 0o755) == 0)
        try DaemonFixture.write(
            Array("[audit]\nkeep_days = 30\n".utf8), to: fixture.configuration + "/contactbroker.toml", mode: 0o644)
    }

    /// Undoes the last migrations of both databases.
    private static func makeOld(_ fixture: DaemonFixture) throws {
        _ = try run(
            """
            DROP TABLE allowance; ALTER TABLE member DROP COLUMN confirmed; DROP TABLE photographed;
            DROP TABLE bin; DROP TABLE binSave; DROP TABLE binItem; DROP TABLE binPhoto; ALTER TABLE book DROP COLUMN binDays;
            ALTER TABLE book DROP COLUMN binSaves; ALTER TABLE book DROP COLUMN binDaysNext;
            ALTER TABLE book DROP COLUMN binDaysAt; ALTER TABLE contact DROP COLUMN sole;
            ALTER TABLE contactGroup DROP COLUMN sole;
            ALTER TABLE contactGroup DROP COLUMN confirmed; DROP TABLE uid; ALTER TABLE book DROP COLUMN language;
            PRAGMA user_version = 11;
            DELETE FROM grdb_migrations
            WHERE substr(identifier, 1, 3) IN ('12:', '13:', '15:', '16:', '17:', '18:', '19:', '20:', '21:', '22:', '23:');
            """, on: "\(fixture.state)/users/\(getuid())/contacts.sqlite", SQLITE_OPEN_READWRITE)
        _ = try run(
            """
            DROP TABLE declaredFolder; DROP TABLE cardDAVConnection; DROP TABLE changedContact; ALTER TABLE appGrant DROP COLUMN purposeHash;
            ALTER TABLE appGrant DROP COLUMN contactsRead; ALTER TABLE appGrant DROP COLUMN changes; ALTER TABLE appGrant DROP COLUMN lastReadAt;
            ALTER TABLE state DROP COLUMN forwarded; ALTER TABLE outboxMark DROP COLUMN change; PRAGMA user_version = 11
            """,
            on: fixture.state + "/access.sqlite", SQLITE_OPEN_READWRITE)
    }

    /// Runs SQL, and returns the first column of the last row.
    ///
    /// - Parameter flags: by default, the log that a broker left is not checkpointed.
    private static func run(_ sql: String, on path: String, _ flags: CInt = SQLITE_OPEN_READONLY) throws -> Int64 {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        var found: Int64 = 0
        guard sqlite3_open_v2(path, &database, flags, nil) == SQLITE_OK,
            sqlite3_exec(
                database, sql,
                { found, _, values, _ in
                    let text = values?[0].map { String(cString: $0) } ?? ""
                    found?.assumingMemoryBound(to: Int64.self).pointee = Int64(text) ?? 0
                    return 0
                }, &found, nil) == SQLITE_OK
        else { throw Trouble("\(path): \(String(cString: sqlite3_errmsg(database)))") }
        return found
    }

    // MARK: -

    /// The broker is ended after at most this many operations of a change; after each one with
    /// `CONTACTBROKER_POWER_CUTS=1000`.
    private static let most = getenv("CONTACTBROKER_POWER_CUTS").flatMap { Int(String(cString: $0)) } ?? 12

    func endAfterEach(losing loss: PowerCut.Loss) throws {
        try begin(endingAfter: 0, losing: loss)
        try #require(isDone, "\(fixture.journal)")
        let all = cut.count
        let operations = Self.most < all ? cut.operations : Array(1...all)
        try check("no operation")
        let step = max(1, Double(operations.count) / Double(Self.most))
        for place in stride(from: Double.random(in: 0..<step), to: Double(operations.count), by: step) {
            try begin(endingAfter: operations[Int(place)], losing: loss)
            try check("\(change), operation \(operations[Int(place)]) of \(all), \(cut.last)")
        }
    }

    /// Starts the broker on the files as they were before, and makes the change, until the broker is ended.
    private func begin(endingAfter operation: Int, losing loss: PowerCut.Loss) throws {
        DaemonFixture.remove(fixture.state)
        for (path, bytes) in files {
            for place in path.indices.dropFirst(fixture.folder.count + 1) where path[place] == "/" {
                mkdir(String(path[..<place]), 0o700)
            }
            try DaemonFixture.write(bytes, to: path)
        }
        unlink(fixture.folder + "/journal")
        (isGranted, isDone) = (hasGrant, false)
        let prefix = try cut.prefix(endingAfter: operation, losing: loss)
        do {
            try fixture.start(by: prefix)
            try makeChange()
            try fixture.stop()
        } catch {
            guard operation > 0, cut.count == operation else { throw error }
        }
        fixture.kill()
    }

    private func makeChange() throws {
        switch change {
        case .firstSave:
            let keeper = try fixture.app("keeper", .everything, by: fixture.person())
            isGranted = true
            try save("New", by: keeper)
        case .migration: try save("New", by: fixture.app("keeper"))
        case .restore: try contactctl("restore", "--replace", fixture.folder + "/backup")
        case .deletion:
            let reply = try fixture.app("keeper").save([deleting])
            guard reply.error == nil else { throw Trouble(reply.text) }
        case .putBack: try contactctl("put-back", deletion, "--yes")
        case .backup: try contactctl("backup", "--plain", fixture.folder + "/backup")
        case .retention:
            try cut.advance(seconds: 1_000)
            // Until the removal is on record and every removed record is deleted.
            let left =
                "SELECT count(*) OR NOT (SELECT count(*) FROM auditRemoval) FROM audit "
                + "WHERE sequence <= (SELECT last FROM auditRemoval)"
            repeat { try verify() } while try Self.run(left, on: fixture.state + "/access.sqlite") != 0
            try save("New", by: fixture.app("keeper"))
        }
        isDone = true
    }

    private func save(_ name: String, by app: App) throws {
        let reply = try app.save([App.adding(given: name)])
        guard reply.error == nil else { throw Trouble(reply.text) }
    }

    private func contactctl(_ arguments: String...) throws {
        let command = try Command(DaemonFixture.programs + "/contactctl", arguments, in: fixture)
        guard command.end == .exited(0) else { throw Trouble(command.errors) }
    }

    private func verify() throws {
        let verified = try fixture.administrator().call("io.contactbroker.Admin.VerifyAudit")
        guard verified["brokenAt"] == nil, verified["contradictions"] == nil else {
            throw Trouble(String(decoding: verified.text, as: UTF8.self))
        }
    }

    // MARK: -

    /// Expects that a new broker on the files serves and saves.
    private func check(_ moment: String) throws {
        do {
            try fixture.start()
            var keeper = try fixture.app("keeper")
            let access = try keeper.call("GetAuthorization").word
            #expect(access == "full" || access == "notDetermined" && !isGranted, "\(moment): \(access)")
            if access != "full" { keeper = try fixture.app("keeper", .everything, by: fixture.person()) }
            let found = Set(try keeper.fetch().names)
            #expect(found == after || found == before && !isDone, "\(moment): \(found)")
            try save("Next", by: keeper)
            #expect(try keeper.fetch(#""predicate":{"name":"next"}"#).names == ["Next"], "\(moment)")
            try verify()
            if change == .backup {
                try contactctl("backup", "--plain", fixture.folder + "/after")
            }
            fixture.kill()
            try fixture.start()
            #expect(try Set(fixture.app("keeper").fetch().names) == found.union(["Next"]), "\(moment)")
            if change == .deletion {
                // The bin has what was deleted, and nothing else.
                let deletion = try Self.lastDeletion(fixture)
                #expect((deletion == nil) == found.contains("Later"), "\(moment)")
                if let deletion { try contactctl("put-back", deletion, "--yes") }
                #expect(try fixture.app("keeper").fetch().names.contains("Later"), "\(moment)")
            }
            fixture.kill()
        } catch {
            fixture.kill()
            Issue.record("\(moment): \(error)\n\(fixture.journal)")
        }
    }
}
