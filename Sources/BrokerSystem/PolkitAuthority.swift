import BrokerAccessControl
import BrokerPeerIdentity
import BrokerVarlink
import CBrokerLinux
import CBrokerSystemd
// pthread_attr_t(), as Swift sees it.
import CDispatch
import Glibc
import Synchronization

/// Has polkit ask for the password where it counts. It lives on the loop.
///
/// Each question has a thread and a connection to the bus of its own, for as long as it waits: nothing is shared, a bus or a
/// polkit that went away harms the questions of that moment alone, and the next one connects anew. The broker bounds how many
/// wait at once.
public final class PolkitAuthority: Authority {
    /// Where every system has its bus, as the D-Bus specification names it. Not from the environment: who could set a variable
    /// of the daemon's could answer for polkit.
    static let systemBus = "unix:path=/run/dbus/system_bus_socket"
    /// Longer than the broker waits: it is the one to give up.
    static let longestWait = Duration.seconds(130)
    /// Longer than polkit may do nothing and be well: 122 of Debian loses the end of an administrator's rules now and then, and goes
    /// on after the 15 seconds that it gives a rule.
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
        // polkit is told a number, which is used again. Holding the process before and looking after the answer whether it
        // is still there makes sure that the number meant this process all the while.
        let subject: SessionWatch
        do {
            subject = try SessionWatch(question.process)
        } catch {
            let reason = "the process asked about is not there any more, or hidden: \(error)"
            loop.execute { bound.value.end(.failed(reason: reason)) }
            return asked
        }
        let cancel = clinux_bell()
        guard cancel >= 0 else {
            loop.execute { bound.value.end(.failed(reason: "no descriptor is left to ask with")) }
            return asked
        }
        let signal = Signal(owning: cancel)
        asked.signal = signal
        let (loop, address, wait, patience) = (loop, address, wait, patience)
        let hasBegun = onThread {
            let said = Self.check(question, address, wait, patience, signal)
            // Granted to a process that is no more is granted to nobody.
            let answer = said == .granted && subject.hasEnded ? .failed(reason: "the process has ended") : said
            loop.execute { bound.value.end(answer) }
        }
        if !hasBegun { loop.execute { bound.value.end(.failed(reason: "no thread is left to ask on")) } }
        return asked
    }

    /// Asks and waits, on a thread that may.
    private static func check(
        _ question: AuthorityQuestion, _ address: String, _ wait: Duration, _ patience: Duration, _ cancel: Signal
    ) -> AuthorityAnswer {
        var problem = [CChar](repeating: 0, count: 512)
        let app = question.app.map { strdup($0) } ?? nil
        defer { free(app) }
        let answer = question.action.rawValue.withCString { action in
            var asked = cpolkit_question()
            asked.action = action
            asked.pid = UInt32(bitPattern: question.process.pid)
            asked.start_time = question.process.startTime
            asked.uid = question.uid
            asked.app = UnsafePointer(app)
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

/// Wakes the thread that waits. Owns its descriptor, which closes when neither the thread nor the loop needs it.
private final class Signal: Sendable {
    let descriptor: CInt

    init(owning descriptor: CInt) { self.descriptor = descriptor }

    func send() { clinux_bell_ring(descriptor) }

    deinit { close(descriptor) }
}

/// One question as the loop knows it.
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

/// Runs the body on a thread that is made for it, and may block: not one of a pool that others wait for.
///
/// - Returns: whether there was one to be had.
private func onThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    // sd-bus needs little; the usual eight megabytes would be reserved for each.
    pthread_attr_setstacksize(&attributes, 256 * 1_024)
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let result = pthread_create(
        &thread, &attributes,
        { @Sendable raw in
            guard let raw else { return nil }
            // Sound: it is the work that was retained for this thread, once.
            Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body()
            return nil
        }, work.toOpaque())
    if result != 0 { work.release() }
    return result == 0
}
