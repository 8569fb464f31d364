import BrokerBounds
import BrokerJSON
import BrokerVarlink
import BrokerVarlinkServer
import Dispatch
import Glibc
import Synchronization

/// A socket in a temporary folder, with a service for the tests.
final class TestServer: Sendable {
    let folder: String
    let path: String
    let loop: EventLoop
    /// The reasons why connections were closed, in order.
    let closings = Mailbox<CloseReason>()
    private let service: LoopBound<TestService>

    init(
        limits: ServerLimits = ServerLimits(), mode: mode_t = 0o600, passing descriptor: CInt? = nil,
        admitting: Bool = true, in folder: String? = nil, hasSecond: Bool = false
    ) throws {
        let folder = try folder ?? temporaryFolder()
        let path = folder + "/door"
        let loop = try EventLoop()
        let closings = closings
        self.folder = folder
        self.path = path
        self.loop = loop
        do {
            service = try loop.run {
                let service = TestService(loop: loop, admitsAtOnce: admitting)
                let onClose: (any Connection, CloseReason) -> Void = { closings.post($1) }
                let passed = descriptor.map {
                    VarlinkServer.Place.passed(PassedSocket(descriptor: $0, name: "varlink"))
                }
                let budget = ServerBudget(limits)
                let open = { (place: VarlinkServer.Place) throws(ServerError) in
                    try VarlinkServer(
                        at: place, mode: mode, loop: loop, limits: limits, budget: budget,
                        isKnown: { [unowned service] _ in service.isKnown }, admit: service.admit,
                        onCall: service.answer, onClose: onClose)
                }
                service.server = try open(passed ?? .path(path))
                if hasSecond { service.second = try open(.path(folder + "/second")) }
                return LoopBound(service, loop: loop)
            }
        } catch {
            loop.stop()
            throw error
        }
    }

    deinit {
        try? onLoop {
            $0.server?.close()
            $0.second?.close()
            $0.held = []
            $0.streaming = []
        }
        loop.stop()
        removeFolder(folder)
    }

    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (TestService) throws -> Value) throws -> Value {
        let service = service
        return try loop.run { try body(service.value) }
    }
}

/// Answers the tests' calls, on the loop.
final class TestService {
    var server: VarlinkServer?
    /// Another socket with the same budget.
    var second: VarlinkServer?
    /// The app of connections that are admitted from now on.
    var app: String?
    /// Whether the user of connections that are accepted from now on is known.
    var isKnown = true
    var held: [Call] = []
    var admissions: [PendingAdmission] = []
    var abandonedAdmissions = 0
    var onewayCalls: [String] = []
    var streaming: [Call] = []
    var abandoned = 0
    private let loop: EventLoop
    private let admitsAtOnce: Bool

    init(loop: EventLoop, admitsAtOnce: Bool) {
        self.loop = loop
        self.admitsAtOnce = admitsAtOnce
    }

    func admit(_ peer: AcceptedPeer, _ decide: PendingAdmission) {
        if admitsAtOnce { return decide(.admit(context: nil, app: app.map { AnyHashable($0) })) }
        decide.onAbandoned = { self.abandonedAdmissions += 1 }
        admissions.append(decide)
    }

    func answer(_ call: Call) {
        switch call.name {
        case "Echo":
            if call.oneway { onewayCalls.append(String(decoding: call.parameters.text, as: UTF8.self)) }
            call.reply(Array(call.parameters.text))
        case "Later":
            let bound = LoopBound(call, loop: loop)
            loop.execute { bound.value.reply(Array(bound.value.parameters.text)) }
        case "Hold":
            call.onAbandoned = { self.abandoned += 1 }
            held.append(call)
        case "Fail":
            call.fail(VarlinkError("org.example.Failed") { $0.member("why", "asked to") })
        case "Big":
            call.reply(Self.text(call.size), sensitive: call.parameters["sensitive"]?.bool ?? false)
        case "Stream":
            call.onAbandoned = { self.abandoned += 1 }
            streaming.append(call)
            stream(call, batch: Self.text(call.size), left: Int(call.parameters["count"]?.integer ?? 1))
        default:
            call.fail(.methodNotFound(call.method))
        }
    }

    private func stream(_ call: Call, batch: [UInt8], left: Int) {
        guard left > 1, call.more else { return call.reply(batch, sensitive: true) }
        call.reply(batch, continues: true, sensitive: true)
        call.whenWritable { self.stream(call, batch: batch, left: left - 1) }
    }

    private static func text(_ size: Int) -> [UInt8] {
        Array(#"{"x":""#.utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: size) + Array(#""}"#.utf8)
    }
}

extension Call {
    fileprivate var size: Int { Int(parameters["size"]?.integer ?? 0) }
}

/// Carries values from the loop to a test that waits for them.
final class Mailbox<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let count = DispatchSemaphore(value: 0)

    func post(_ value: Value) {
        values.withLock { $0.append(value) }
        count.signal()
    }

    /// The next value; `nil` if none comes within half a minute.
    func next() -> Value? {
        guard count.wait(timeout: .now() + 30) == .success else { return nil }
        return values.withLock { $0.removeFirst() }
    }
}

struct SystemError: Error {
    let code = errno
}

func temporaryFolder() throws -> String {
    var template = Array("/tmp/varlink-test.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError() }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Removes the folder and the sockets in it.
func removeFolder(_ folder: String) {
    for name in ["door", "second", "file"] { unlink(folder + "/" + name) }
    rmdir(folder)
}
