import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerPolicy
import BrokerVarlink
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import BrokerAdminCalls
@testable import BrokerBooks
@testable import BrokerCalls
@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

/// The broker without its sockets: real databases in a temporary folder, and simulated apps, agents and administrators.
final class BrokerFixture {
    let folder: String
    let loop = TestLoop()
    let journal = Journal()
    /// The names of the system's users.
    let names = Names()
    /// The folders that the person can declare.
    let folders = Folders()
    private(set) var broker: Broker
    /// How many answers of persons the broker has accepted.
    var acceptedAnswers = 0
    /// How many rows with contacts the agents received.
    var agentRows = 0
    /// How many contacts each app received in lists, searches and histories.
    var receivedContacts: [String: Int] = [:]
    private var nextProcess: Int32 = 100
    /// Microseconds since 1970 when the loop's clock starts.
    static let start: Int64 = 1_800_000_000_000_000

    private let authority: TestAuthority?
    private let withoutAuthentication: Policy.WithoutAuthentication?
    private let limits: Limits
    private let hasLoginSession: Bool
    private let disk: SlowDisk?
    private let mode: BrokerMode
    private let mayLookUpContacts: Bool
    private let makeThumbnail: @Sendable ([UInt8]) -> [UInt8]?

    /// - Parameters:
    ///   - authority: answers the password requests; `nil` for session mode.
    ///   - withoutAuthentication: the administrator's setting for a system without an authority.
    ///   - disk: syncs committed data; `nil` for the real disk.
    ///   - hasLoginSession: whether every user is logged in.
    ///   - silences: the maximum number of apps with *Never ask again*.
    ///   - readsOnWorker: whether every read that can run off the loop does so.
    init(
        authority: TestAuthority? = nil, withoutAuthentication: Policy.WithoutAuthentication? = nil,
        disk: SlowDisk? = nil, hasLoginSession: Bool = false, silences: Int? = nil, readsOnWorker: Bool = false,
        readsSavesByStep: Bool = false, cardsPerSave: Int? = nil,
        contactsPerIteration: Int? = nil, bytesPerReply: Int? = nil, bytesPerIteration: Int? = nil,
        space: SpaceBounds? = nil, retention: RetentionBounds = RetentionBounds(), mode: BrokerMode = .session,
        mayLookUpContacts: Bool = false, makeThumbnail: @escaping @Sendable ([UInt8]) -> [UInt8]? = { _ in nil }
    ) throws {
        self.authority = authority
        self.withoutAuthentication = withoutAuthentication
        self.disk = disk
        self.hasLoginSession = hasLoginSession
        self.mode = mode
        self.mayLookUpContacts = mayLookUpContacts
        self.makeThumbnail = makeThumbnail
        var limits = Limits()
        // Where a read runs must not depend on the machine's load.
        limits.timePerRead = .seconds(3_600)
        limits.timePerSave = readsSavesByStep ? .zero : .seconds(3_600)
        if let silences { limits.silences = silences }
        if let bytesPerReply { limits.bytesPerReply = bytesPerReply }
        if let contactsPerIteration { limits.contactsPerIteration = contactsPerIteration }
        if let bytesPerIteration { limits.bytesPerIteration = bytesPerIteration }
        if let space { limits.space = space }
        limits.retention = retention
        if let cardsPerSave { limits.cardsPerSave = cardsPerSave }
        if readsOnWorker { limits.stepsPerIteration = 0 }
        self.limits = limits
        authority?.loop = loop
        var template = Array("/tmp/broker-test.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        broker = try Self.open(
            folder, loop, journal, names, folders, authority, withoutAuthentication, limits, hasLoginSession, disk,
            mode, mayLookUpContacts, makeThumbnail)
    }

    deinit {
        broker.close()
        Self.remove(folder)
    }

    private static func open(
        _ folder: String, _ loop: TestLoop, _ journal: Journal, _ names: Names, _ folders: Folders,
        _ authority: TestAuthority?,
        _ withoutAuthentication: Policy.WithoutAuthentication?, _ limits: Limits, _ hasLoginSession: Bool,
        _ disk: SlowDisk?, _ mode: BrokerMode, _ mayLookUpContacts: Bool,
        _ makeThumbnail: @escaping @Sendable ([UInt8]) -> [UInt8]?
    ) throws -> Broker {
        let now = { start + loop.now.microseconds }
        let access = try AccessStore.open(folder: folder, now: now())
        var surroundings = Surroundings(
            loop: loop, now: now, uptime: { loop.now.microseconds }, stateFolder: folder, ownUID: 1_000,
            userName: { names.lookUp($0, isOnLoop: loop.isCurrent) }, watch: { _, _ in BrokerFixture.Watch() },
            areKin: { _, _ in false }, facts: [],
            log: { journal.lines.append($0) })
        surroundings.authority = authority
        surroundings.withoutAuthentication = withoutAuthentication
        surroundings.limits = limits
        surroundings.socketUse = {
            SocketUse(connections: 7, connectionsLimit: 9, heldBytes: 8, heldBytesLimit: 10)
        }
        surroundings.hasLoginSession = { _ in hasLoginSession }
        surroundings.mode = mode
        surroundings.inspectFolder = { (path, _) throws(FolderProblem) in try folders.inspect(path) }
        surroundings.mayLookUpContacts = mayLookUpContacts
        surroundings.makeThumbnail = makeThumbnail
        surroundings.parsePolicy = { Policy(reading: $0) }
        guard let disk else { return Broker(surroundings: surroundings, access: access) }
        return Broker(surroundings: surroundings, access: access) { (_) throws(AccessStoreError) in
            try disk.sync()
        }
    }

    private final class Watch {}

    /// Folders below `/home/ada`. `link` leads to `/home/ada`, and `none` does not exist.
    final class Folders: Sendable {
        private let numbers = Mutex<UInt64>(1)

        func inspect(_ path: String) throws(FolderProblem) -> FoundFolder {
            guard !path.hasSuffix("/none") else { throw .notFound }
            let identity = FolderIdentity(
                deviceMajor: 8, deviceMinor: 1, inode: numbers.withLock { $0 }, createdSeconds: 0, createdNanoseconds: 0
            )
            return FoundFolder(path: path.replacing("/link/..", with: ""), identity: identity)
        }

        /// Another folder takes the place of each one.
        func replace() { numbers.withLock { $0 += 1 } }
    }

    final class Names: Sendable {
        private let given = Mutex<[UInt32: String]>([:])
        /// How often the broker looked up a name, off the loop and on it.
        private let asked = Mutex<(off: Int, on: Int)>((0, 0))
        var lookUps: (off: Int, on: Int) { asked.withLock { $0 } }

        func lookUp(_ uid: UInt32, isOnLoop: Bool) -> String {
            asked.withLock { if isOnLoop { $0.on += 1 } else { $0.off += 1 } }
            return self[uid]
        }

        subscript(uid: UInt32) -> String {
            get { given.withLock { $0[uid] } ?? "user \(uid)" }
            set { given.withLock { $0[uid] = newValue } }
        }
    }

    /// Collects the lines that the broker would write to the journal.
    final class Journal {
        var lines: [String] = []
    }

    /// Ends the broker and starts another one on the same folder. Apps have to connect again.
    func restart() throws {
        broker.close()
        broker = try Self.open(
            folder, loop, journal, names, folders, authority, withoutAuthentication, limits, hasLoginSession, disk,
            mode, mayLookUpContacts, makeThumbnail)
    }

    /// The current contents of the files of the access database and of the book.
    func files() -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        // On the user's queue, no checkpoint can run between reading the book's file and reading its write-ahead log.
        broker.books.queue(of: 1_000).sync {
            for name in ["access.sqlite", "users/1000/contacts.sqlite"] {
                for path in ["\(folder)/\(name)", "\(folder)/\(name)-wal"] { files[path] = Self.bytes(of: path) }
            }
            files["\(folder)/access.synced"] = Self.bytes(of: "\(folder)/access.synced")
        }
        return files
    }

    /// Ends the broker as a crash at this moment would, and starts another one.
    ///
    /// - Parameters:
    ///   - lost: earlier contents of files whose later changes had not reached the disk.
    ///   - meanwhile: runs while no broker runs.
    func crash(losing lost: [String: [UInt8]] = [:], meanwhile: () throws -> Void = {}) throws {
        let left = files().merging(lost) { _, earlier in earlier }
        broker.close()
        for (path, bytes) in left {
            unlink(path)
            unlink(path + "-shm")
            let file = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            try #require(file >= 0)
            defer { Glibc.close(file) }
            try #require(bytes.isEmpty || Glibc.write(file, bytes, bytes.count) == bytes.count)
        }
        try meanwhile()
        broker = try Self.open(
            folder, loop, journal, names, folders, authority, withoutAuthentication, limits, hasLoginSession, disk,
            mode, mayLookUpContacts, makeThumbnail)
    }

    static func bytes(of path: String) -> [UInt8]? {
        let file = Glibc.open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { Glibc.close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        return read(file, &bytes, bytes.count) == bytes.count ? bytes : nil
    }

    private static func remove(_ path: String) {
        guard unlink(path) != 0 else { return }
        for name in names(in: path) { remove(path + "/" + name) }
        rmdir(path)
    }

    static func names(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    var book: String { folder + "/users/1000" }

    // MARK: The administrator

    /// Puts these rules into force, as a reload does.
    func rule(_ rules: [Rule], isAuditDurable: Bool = false) {
        broker.administrators.reloads.bringIntoForce(Policy(rules: rules, isAuditDurable: isAuditDurable))
        loop.iterate()
    }

    /// All audit records of an event, each as its status and detail.
    func audit(_ event: AuditEvent) throws -> [String] {
        var filter = AuditFilter()
        filter.event = event
        return try broker.access.audit.reader.records(matching: filter, after: nil, limit: .max).map {
            [$0.status?.rawValue, $0.detail].compactMap { $0 }.joined(separator: " ")
        }
    }

    /// How many contacts the records of an event count together.
    func recordedContacts(_ event: AuditEvent, app: String? = nil) throws -> Int {
        broker.groupCommit.catchUp()
        broker.access.audit.closeWindows(at: nil)
        broker.groupCommit.flush()
        let filter = AuditFilter(app: app, event: event)
        var sum = 0
        for record in try broker.access.audit.reader.records(matching: filter, after: nil, limit: .max) {
            sum += (record.count ?? 0) * (record.repeats ?? 1)
        }
        return sum
    }

    // MARK: Apps and callers

    /// An app with its own connection. If an access is given, the app also has a grant.
    func app(
        _ name: String, _ access: Access? = nil, keys: ContactKeySet = Grant.ordinaryKeys,
        changes: ChangeRight = .all, strength: IdentityStrength = .claimed, uid: UInt32 = 1_000
    ) throws -> TestApp {
        let app = TestApp(fixture: self, caller: caller(name, uid: uid, strength: strength))
        if let access { try grant(access, keys: keys, changes: changes, to: app) }
        return app
    }

    /// A caller in a process of its own.
    ///
    /// - Parameter path: the path of its executable; `nil` for the file with its name in `/usr/bin`.
    func caller(
        _ name: String, uid: UInt32 = 1_000, strength: IdentityStrength = .claimed, path: String? = nil,
        session: SessionIdentity? = nil, isInterpreter: Bool = false, isSandboxed: Bool = false, sandbox: String? = nil
    ) -> Caller {
        nextProcess += 1
        return Caller(
            uid: uid, strength: strength, app: name, displayName: name, executable: path ?? "/usr/bin/" + name,
            process: ProcessIdentity(pid: nextProcess, startTime: 1), session: session, terminal: nil,
            isInterpreter: isInterpreter, isSandboxed: isSandboxed, sandbox: sandbox)
    }

    /// Stores a grant by the person and puts it into effect at once.
    func grant(
        _ access: Access, keys: ContactKeySet = Grant.ordinaryKeys, changes: ChangeRight = .all, to app: TestApp
    ) throws {
        let principal = app.principal
        _ = try broker.access.makeIdentifiers(for: principal, sharesPersistentKey: true)
        let before = broker.access.grant(of: principal)
        let grant = Grant(
            access: access, keys: keys, changes: changes, revision: broker.access.nextRevision(), decidedBy: .person,
            decidedAt: broker.surroundings.seconds)
        broker.access.setGrant(
            grant, for: principal, displayName: app.caller.displayName, at: broker.books.moment(of: principal.uid))
        if before == nil { broker.history.moved(principal.uid) } else { broker.grants.narrowed(principal) }
        broker.groupCommit.work(committed: {})
        loop.iterate()
    }

    /// Gives a grant as a person's answer does, so that it is recorded and synced.
    ///
    /// - Parameter principal: the app's persistent principal, unless another one is given.
    func settle(
        _ access: Access, changes: ChangeRight = .all, lifetime: Lifetime = .untilRevoked, for app: TestApp,
        as principal: Principal? = nil
    ) throws {
        var settled = false
        broker.grants.settle(
            Grant(
                access: access, changes: changes, lifetime: lifetime, revision: broker.access.nextRevision(),
                decidedBy: .person,
                decidedAt: broker.surroundings.seconds),
            for: principal ?? app.principal, displayName: app.caller.displayName,
            sharesPersistentKey: !app.caller.isInterpreter
        ) { settled = $0 }
        try #require(loop.run { settled })
    }

    /// The records of the contacts with these given names.
    func records(_ names: String...) throws -> Set<RecordNumber> {
        var found: [String: RecordNumber] = [:]
        var book: ContactsStore?
        var isThere = false
        broker.books.with(1_000) { result in
            book = try? result.get()
            isThere = true
        }
        try #require(loop.run { isThere })
        _ = try book?.fetch(ContactQuery(scope: .all, limit: 100_000)) { record, stored, _ in
            found[Contact(stored)?.givenName ?? ""] = record
        }
        return Set(try names.map { try #require(found[$0], "no contact has the given name \($0)") })
    }

    /// An app with full access that has added contacts with these given names.
    @discardableResult
    func keeper(adding names: String...) throws -> TestApp {
        let keeper = try app("keeper", .full)
        let reply = try keeper.save(names.map { .add(given: $0) })
        try #require(reply.error == nil)
        return keeper
    }
}
