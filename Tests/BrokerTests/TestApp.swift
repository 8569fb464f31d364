import BrokerAccessControl
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

/// One reply as the app reads it.
struct Answer {
    /// The error's name, without its interface.
    let error: String?
    /// The parameters as JSON.
    let text: String
    let parameters: JSONValue
    let continues: Bool

    init(_ reply: Reply) throws {
        let bytes: [UInt8]
        switch reply {
        case .parameters(let parameters, let continues, _):
            (error, bytes, self.continues) = (nil, parameters, continues)
        case .error(let failure):
            error = failure.name.split(separator: ".").last.map(String.init)
            (bytes, continues) = (failure.parameters, false)
        }
        text = String(decoding: bytes, as: UTF8.self)
        parameters = try JSONDocument(parsing: bytes).root
    }

    func strings(_ name: String) -> [String] { parameters[name]?.elements?.compactMap(\.string) ?? [] }

    var contacts: [JSONValue] { parameters["contacts"].flatMap { $0.elements.map(Array.init) } ?? [] }
    var names: [String] { contacts.map { $0["givenName"]?.string ?? "" } }
    var token: String? { parameters["historyToken"]?.string }
}

/// One step of a save.
enum Change {
    case add(given: String, extra: String = "")
    case update(String, String)
    case delete(String)
    case other(String)

    var text: String {
        switch self {
        case .add(let given, let extra): #"{"operation":"add","contact":{"givenName":"\#(given)"\#(extra)}}"#
        case .update(let identifier, let members):
            #"{"operation":"update","contact":{"identifier":"\#(identifier)",\#(members)}}"#
        case .delete(let identifier): #"{"operation":"delete","contact":{"identifier":"\#(identifier)"}}"#
        case .other(let text): text
        }
    }
}

/// An app on one connection. With another `interface`, it is an agent or an administrator.
final class TestApp: Connection {
    let fixture: BrokerFixture
    let caller: Caller
    let session: CallerSession
    /// Its process, with the result of executable checks.
    let process = Process()
    var context: AnyObject?
    private(set) var isClosed = false
    private var sent: [ObjectIdentifier: [Reply]] = [:]
    private var open: [Call] = []
    /// While it is set, the app takes the next reply of a list only after ``readOn()``.
    var readsSlowly = false
    private var unread: [() -> Void] = []
    var isBehind: Bool { !unread.isEmpty }
    func readOn() {
        let bodies = unread
        unread = []
        for body in bodies { body() }
    }

    final class Process {
        /// The result of a check. With `nil`, a check lasts until ``found(_:)``.
        var finding: ExecutableCheck? = .same
        var isItself: Bool {
            get { finding == .same }
            set { finding = newValue ? .same : .changed }
        }
        var hasEnded = false
        /// Checks in progress.
        private var looks: [(number: Int, done: (ExecutableCheck) -> Void)] = []
        private(set) var lookCount = 0
        var looksUnderWay: Int { looks.count }

        func inspect(_ done: @escaping (ExecutableCheck) -> Void) -> (() -> Void)? {
            lookCount += 1
            if let finding {
                done(finding)
                return nil
            }
            let number = lookCount
            looks.append((number, done))
            return { [weak self] in self?.looks.removeAll { $0.number == number } }
        }

        /// Ends the checks in progress with this result.
        func found(_ found: ExecutableCheck) {
            let looks = self.looks
            self.looks = []
            for inspect in looks { inspect.done(found) }
        }
    }

    init(fixture: BrokerFixture, caller: Caller, interface: ContactsInterface = .contacts) {
        self.fixture = fixture
        self.caller = caller
        let isOwner = fixture.broker.isOwner(caller.uid, named: fixture.names[caller.uid])
        session = CallerSession(
            caller: caller, interface: interface, isAnotherPerson: !isOwner, hasEnded: { [process] in process.hasEnded }
        ) { [process] in
            process.inspect($0)
        }
        context = session
    }

    var principal: Principal { Principal(uid: caller.uid, strength: caller.strength, app: caller.app) }

    /// While it is set, replies with contact data stay queued, and a revocation can withdraw them.
    var isFull = false
    private var queued: [(call: Call, continues: Bool)] = []
    var hasQueued: Bool { !queued.isEmpty }

    func send(_ reply: Reply, for call: Call) {
        if isFull, case .parameters(_, let continues, sensitive: true) = reply {
            queued.append((call, continues))
        } else {
            sent[ObjectIdentifier(call), default: []].append(reply)
            count(reply)
        }
    }

    /// Counts the contacts that an app receives.
    private func count(_ reply: Reply) {
        guard session.interface == .contacts, let answer = try? Answer(reply), answer.error == nil else { return }
        let events = answer.parameters["events"]?.elements.map { Array($0) } ?? []
        fixture.receivedContacts[caller.app, default: 0] +=
            answer.contacts.count + events.count { $0["contact"] != nil }
    }

    func whenWritable(_ body: @escaping () -> Void) { if readsSlowly { unread.append(body) } else { body() } }

    /// As in a real connection, the error replaces a final reply.
    func withdraw(_ error: VarlinkError) -> Int {
        let withdrawn = queued
        queued = []
        for (call, continues) in withdrawn where !continues {
            sent[ObjectIdentifier(call), default: []].append(.error(error))
        }
        return withdrawn.count
    }

    /// Closes the connection as the broker does. As with a real connection, its calls and the broker are notified in a
    /// later iteration of the loop.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        let bound = LoopBound(self, loop: fixture.loop)
        fixture.loop.execute { bound.value.end() }
    }

    /// Closes the connection as the app does.
    func hangUp() {
        guard !isClosed else { return }
        isClosed = true
        end()
    }

    private func end() {
        for call in open { call.abandon() }
        fixture.broker.closed(self)
    }

    // MARK: Calls

    /// Begins a call and runs the loop. Without `turning`, the loop does not run, so the broker carries out no queued
    /// work.
    func begin(
        _ method: String, _ parameters: String = "{}", more: Bool = false, turning: Bool = true
    ) throws -> Call {
        let root = try JSONDocument(parsing: Array(parameters.utf8)).root
        let call = Call(
            method: (context as? CallerSession ?? session).interface.name + "." + method, parameters: root, more: more,
            oneway: false,
            connection: self)
        open.append(call)
        fixture.broker.answer(call)
        if turning { fixture.loop.iterate() }
        return call
    }

    /// The replies to a call so far.
    func replies(to call: Call) throws -> [Answer] { try (sent[ObjectIdentifier(call)] ?? []).map(Answer.init) }

    /// Waits until a call has this many replies.
    func replies(_ count: Int, to call: Call) throws -> [Answer] {
        try #require(fixture.loop.run { self.sent[ObjectIdentifier(call), default: []].count >= count }, "no reply")
        return try replies(to: call)
    }

    /// Makes a call and returns its only reply.
    func call(_ method: String, _ parameters: String = "{}") throws -> Answer {
        let call = try begin(method, parameters)
        try #require(fixture.loop.run { call.isOver }, "\(method) has no answer")
        let replies = try replies(to: call)
        try #require(replies.count == 1)
        return replies[0]
    }

    /// Makes a call with `more` and returns all its replies.
    func stream(_ method: String, _ parameters: String = "{}") throws -> [Answer] {
        let call = try begin(method, parameters, more: true)
        try #require(fixture.loop.run { call.isOver }, "\(method) has no answer")
        return try replies(to: call)
    }

    /// Saves what the app may save without asking the person.
    func save(_ changes: [Change], author: String? = nil) throws -> Answer {
        let author = author.map { #","author":"\#($0)""# } ?? ""
        return try call(
            "SaveContacts",
            #"{"changes":[\#(changes.map(\.text).joined(separator: ","))],"mayAsk":false\#(author)}"#)
    }

    /// Begins a save about which the person may be asked.
    func begin(saving changes: [Change]) throws -> Call {
        try begin("SaveContacts", #"{"changes":[\#(changes.map(\.text).joined(separator: ","))]}"#)
    }

    /// Fetches given names. `parameters` are further members, as JSON.
    func fetch(_ parameters: String = #""sortOrder":"givenName""#) throws -> Answer {
        try call("FetchContacts", #"{"keys":["givenName"]\#(parameters.isEmpty ? "" : ",")\#(parameters)}"#)
    }

    /// The identifier of a card that the app can see.
    func identifier(of given: String) throws -> String {
        let found = try fetch(#""sortOrder":"givenName","unify":false"#).contacts.first {
            $0["givenName"]?.string == given
        }
        return try #require(found?["identifier"]?.string, "\(caller.app) sees no contact named \(given)")
    }
}

/// Identifiers that name nothing that the app may see, each for another reason.
func namesOfNothing(for app: TestApp, hidden: String, of keeper: TestApp) throws -> [String] {
    let cipher = try #require(app.fixture.grants.effectiveAccess(of: app.session).identifiers)
    let record = try #require(try app.fixture.records(hidden).first)
    return [
        cipher.identifier(of: record, as: .contact), try keeper.identifier(of: hidden), "", "nothing",
        "0123456789abcdef0123456789abcdef", String(repeating: "f", count: 32), String(repeating: "a", count: 70_000),
        cipher.identifier(of: record, as: .group), cipher.identifier(of: record, as: .unifiedContact),
    ]
}
