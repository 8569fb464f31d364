import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerCalls
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Glibc
import Testing

@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

/// A broker without sockets, with real databases in a temporary folder. The test drives its loop and its clock.
final class BrokerFixture {
    let folder: String
    let loop = StandInLoop()
    private(set) var broker: Broker
    private let limits: Limits

    /// - Parameter keeper: also gets the audit's records.
    init(keeper: (any AuditKeeper)? = nil, _ change: (inout Limits) -> Void = { _ in }) throws {
        var template = Array("/tmp/broker-test.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var limits = Limits()
        change(&limits)
        self.limits = limits
        broker = try Self.open(folder, loop, limits, keeper)
        loop.iterate()
    }

    private static func open(
        _ folder: String, _ loop: StandInLoop, _ limits: Limits, _ keeper: (any AuditKeeper)?
    ) throws -> Broker {
        var surroundings = Surroundings(
            loop: loop, now: { loop.now }, uptime: { loop.now }, stateFolder: folder, ownUID: 1_000,
            userName: { "\($0)" }, watch: { _, _ in nil }, areKin: { _, _ in false }, facts: [], log: { _ in })
        surroundings.auditKeeper = keeper
        surroundings.limits = limits
        surroundings.isUser = { $0 < 65_536 }
        return Broker(surroundings: surroundings, access: try AccessStore.open(folder: folder, now: loop.now))
    }

    /// Closes the broker, and starts another one on the same folder.
    func restart(keeper: (any AuditKeeper)?) throws {
        loop.iterate()
        broker.close()
        broker = try Self.open(folder, loop, limits, keeper)
        loop.iterate()
    }

    deinit {
        broker.close()
        Self.remove(folder)
    }

    private static func remove(_ path: String) {
        // Try to unlink it first, so that a symbolic link is removed and its target is never entered.
        guard unlink(path) != 0, let directory = opendir(path) else { return }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { remove(path + "/" + name) }
        }
        closedir(directory)
        rmdir(path)
    }

    func app(_ name: String, uid: UInt32 = 1_000) -> StandInConnection {
        StandInConnection(
            CallerSession(caller: caller(name, uid: uid), interface: .contacts, inspect: Self.isStillItself), self)
    }

    func administrator() -> StandInConnection {
        StandInConnection(
            CallerSession(caller: caller("contactctl"), interface: .admin, inspect: Self.isStillItself), self)
    }

    private static func isStillItself(_ done: @escaping (ExecutableCheck) -> Void) -> (() -> Void)? {
        done(.same)
        return nil
    }

    private func caller(_ name: String, uid: UInt32 = 1_000) -> Caller {
        Caller(
            uid: uid, strength: .installed, app: name, displayName: name, executable: nil,
            process: ProcessIdentity(pid: 1, startTime: 1), session: nil, terminal: nil, isInterpreter: false,
            isSandboxed: false)
    }

    /// Stores a decision of the person about an app, with its audit record.
    func decide(_ access: Access, _ name: String, uid: UInt32 = 1_000) {
        let principal = Principal(uid: uid, strength: .installed, app: name)
        let grant = Grant(
            access: access, keys: Grant.ordinaryKeys, lifetime: .untilRevoked, revision: broker.access.nextRevision(),
            decidedBy: .person, decidedAt: loop.now / 1_000_000)
        var isSettled = false
        broker.grants.settle(grant, for: principal, displayName: name, sharesPersistentKey: true) { isSettled = $0 }
        #expect(loop.run { isSettled })
    }

    /// The event of each record about an app, with its count of repeats.
    func audit(of app: String) throws -> [String] {
        try broker.access.audit.reader.records(matching: AuditFilter(app: app), after: nil, limit: .max).map {
            $0.event.rawValue + ($0.repeats.map { " +\($0)" } ?? "")
        }
    }
}

/// A stand-in for a connection. It stores the messages that the broker sends.
final class StandInConnection: Connection {
    var context: AnyObject?
    var isClosed = false
    /// Whether the peer reads the messages that the broker sends.
    var isReading = true {
        didSet {
            guard isReading else { return }
            let waiting = self.waiting
            self.waiting = []
            for body in waiting { body() }
        }
    }
    private(set) var replies: [JSONValue] = []
    private(set) var errors: [String] = []
    private var waiting: [() -> Void] = []
    private var calls: [Call] = []
    private unowned let fixture: BrokerFixture

    init(_ session: CallerSession, _ fixture: BrokerFixture) {
        self.fixture = fixture
        context = session
    }

    var answers: Int { replies.count + errors.count }

    /// Starts a call. The broker replies when the loop runs.
    func begin(_ method: String, _ parameters: String = "{}", more: Bool = false) throws {
        let session = try #require(context as? CallerSession)
        let call = Call(
            method: session.interface.name + "." + method,
            parameters: try JSONDocument(parsing: Array(parameters.utf8)).root,
            more: more, oneway: false, connection: self)
        calls.append(call)
        fixture.broker.answer(call)
    }

    /// Makes a call and waits for the reply.
    @discardableResult
    func call(_ method: String, _ parameters: String = "{}") throws -> String {
        let before = answers
        try begin(method, parameters)
        #expect(fixture.loop.run { self.answers > before })
        return errors.last ?? replies.last.map { String(decoding: $0.text, as: UTF8.self) } ?? ""
    }

    static let fetching = #"{"keys":["givenName"]}"#

    @discardableResult
    func fetch() throws -> String { try call("FetchContacts", Self.fetching) }

    func send(_ reply: Reply, for call: Call) {
        switch reply {
        case .parameters(let bytes, _, _):
            if let document = try? JSONDocument(parsing: bytes) { replies.append(document.root) }
        case .error(let error): errors.append(String(error.name.split(separator: ".").last ?? ""))
        }
    }

    func whenWritable(_ body: @escaping () -> Void) {
        if isReading { body() } else { waiting.append(body) }
    }

    func withdraw(_ error: VarlinkError) -> Int { 0 }

    func close() {
        isClosed = true
        for call in calls { call.abandon() }
        fixture.broker.closed(self)
    }
}
