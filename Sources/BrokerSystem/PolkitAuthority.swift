import BrokerAccessControl
import BrokerPeerIdentity
import BrokerVarlink
import CBrokerLinux
import CBrokerSystemd
// Needed for pthread_attr_t() in Swift.
import CDispatch
import Glibc
import Synchronization

/// Asks polkit to check the person's password. It is used only on the event loop.
///
/// Each request has its own thread and bus connection while it waits. The requests share nothing: if the bus
/// or polkit ends, only the current requests fail, and the next one connects again. The broker limits the
/// number of requests that wait at once.
public final class PolkitAuthority: Authority {
    /// The system bus's address, as the D-Bus specification defines it. It does not come from the
    /// environment: an attacker who can set the daemon's variables could answer for polkit.
    static let systemBus = "unix:path=/run/dbus/system_bus_socket"
    /// The longest wait for polkit's answer. The broker's own timeout is shorter, so the broker times out
    /// first.
    static let longestWait = Duration.seconds(130)
    /// The time after which a silent polkit counts as hung. A healthy polkit can be silent for a shorter
    /// time: Debian's version 122 sometimes misses the end of an administrator's rule, and continues after 15
    /// seconds per rule.
    static let patience = Duration.seconds(20)

    private let loop: any Loop
    private let address: String
    private let wait: Duration
    private let patience: Duration

    public convenience init(loop: any Loop) {
        self.init(loop: loop, address: Self.systemBus)
    }

    init(loop: any Loop, address: String, wait: Duration = longestWait, patience: Duration = patience) {
        self.loop = loop
        self.address = address
        self.wait = wait
        self.patience = patience
    }

    public func ask(
        _ question: AuthorityQuestion, _ answered: @escaping (AuthorityAnswer) -> Void
    ) -> any AskedAuthority {
        let asked = Asked(answered)
        let bound = LoopBound(asked, loop: loop)
        // polkit identifies the process by pid, which can be reused. The pidfd is opened before the request
        // and checked after the answer, so the pid belonged to this process during the whole request.
        let subject: SessionWatch
        do {
            subject = try SessionWatch(question.process)
        } catch {
            let reason = "the process has ended or cannot be inspected: \(error)"
            loop.execute { bound.value.end(.failed(reason: reason)) }
            return asked
        }
        let cancel = clinux_bell()
        guard cancel >= 0 else {
            loop.execute { bound.value.end(.failed(reason: "no file descriptor is left")) }
            return asked
        }
        let signal = Signal(owning: cancel)
        asked.signal = signal
        let (loop, address, wait, patience) = (loop, address, wait, patience)
        let hasBegun = onThread {
            let said = Self.check(question, address, wait, patience, signal)
            // The answer does not count if the process has ended.
            let answer = said == .granted && subject.hasEnded ? .failed(reason: "the process has ended") : said
            loop.execute { bound.value.end(answer) }
        }
        if !hasBegun { loop.execute { bound.value.end(.failed(reason: "no thread can be started")) } }
        return asked
    }

    /// Asks polkit and waits for the answer, on a thread that may block.
    private static func check(
        _ question: AuthorityQuestion, _ address: String, _ wait: Duration, _ patience: Duration, _ cancel: Signal
    ) -> AuthorityAnswer {
        var problem = [CChar](repeating: 0, count: 512)
        let app = question.app.map { strdup($0) } ?? nil
        let access = question.access.map { strdup($0) } ?? nil
        defer {
            free(app)
            free(access)
        }
        let answer = question.action.rawValue.withCString { action in
            var asked = cpolkit_question()
            asked.action = action
            asked.pid = UInt32(bitPattern: question.process.pid)
            asked.start_time = question.process.startTime
            asked.uid = question.uid
            asked.app = UnsafePointer(app)
            asked.access = UnsafePointer(access)
            asked.may_interact = question.mayInteract
            asked.timeout = UInt64(wait / .microseconds(1))
            asked.patience = UInt64(patience / .microseconds(1))
            return cpolkit_ask(address, &asked, cancel.descriptor, &problem, problem.count)
        }
        switch answer {
        case CPOLKIT_GRANTED: return .granted
        case CPOLKIT_CHALLENGE: return .wantsInteraction
        case CPOLKIT_ABSENT: return .absent
        case CPOLKIT_HUNG: return .hung
        case CPOLKIT_FAILED:
            return .failed(
                reason: String(decoding: problem.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        default: return .refused
        }
    }
}

/// Wakes the thread that waits for polkit. It owns its descriptor and closes it when neither the thread nor
/// the event loop has a reference to this object.
private final class Signal: Sendable {
    let descriptor: CInt

    init(owning descriptor: CInt) { self.descriptor = descriptor }

    func send() { clinux_bell_ring(descriptor) }

    deinit { close(descriptor) }
}

/// The state of one request on the event loop.
private final class Asked: AskedAuthority {
    private var answered: ((AuthorityAnswer) -> Void)?
    var signal: Signal?

    init(_ answered: @escaping (AuthorityAnswer) -> Void) { self.answered = answered }

    func cancel() {
        answered = nil
        signal?.send()
    }

    func end(_ answer: AuthorityAnswer) {
        let answered = self.answered
        self.answered = nil
        answered?(answer)
    }
}

/// Runs the body on a new thread, where it may block. Blocking a thread of a shared pool would delay other work.
///
/// - Returns: whether a thread could be created.
private func onThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    // sd-bus needs little stack. The default would reserve eight megabytes per thread.
    pthread_attr_setstacksize(&attributes, 256 * 1_024)
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let result = pthread_create(
        &thread, &attributes,
        { @Sendable raw in
            guard let raw else { return nil }
            // Sound: the object was retained once, for this thread.
            Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body()
            return nil
        }, work.toOpaque())
    if result != 0 { work.release() }
    return result == 0
}
