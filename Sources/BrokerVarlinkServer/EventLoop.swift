import BrokerVarlink
import CBrokerLinux
import Dispatch
import Glibc
import Synchronization

/// The event loop: a thread that waits for descriptors, timers and work from other threads.
///
/// One iteration serves each ready descriptor once and runs the timers that are due. Then it runs queued
/// work, until none is left or `longestIteration` has passed. Work that queues more work therefore cannot
/// starve connections.
public final class EventLoop: Loop {
    private let epoll: CInt
    private let bell: CInt
    private let mail = Mutex(Mail())
    /// The thread's pthread_t; 0 if the thread is not running.
    private let thread = Atomic<UInt>(0)
    /// The thread that ``stop()`` joins, once.
    private let joinable = Mutex<pthread_t?>(nil)
    // Sound: after the thread has started, only the thread itself uses it.
    nonisolated(unsafe) private let state: LoopState

    /// Work and flags from other threads.
    private struct Mail {
        var works: [@Sendable () -> Void] = []
        /// Whether the thread sleeps. A sender must then write to the eventfd to wake it.
        var isAsleep = false
        var isStopping = false
        /// Whether the thread has ended. Sent work is then dropped.
        var hasEnded = false
    }

    /// Starts the thread. It runs until ``stop()``.
    public init() throws(EventLoopError) {
        epoll = clinux_epoll()
        guard epoll >= 0 else { throw EventLoopError(code: -epoll) }
        bell = clinux_bell()
        state = LoopState(epoll: epoll)
        guard bell >= 0 else { throw EventLoopError(code: -bell) }
        let result = clinux_epoll_add(epoll, bell, Readiness.readable.rawValue, Watchlist.bell)
        guard result == 0 else { throw EventLoopError(code: -result) }
        try start()
    }

    private func start() throws(EventLoopError) {
        var thread = pthread_t()
        // The thread retains the loop until it ends.
        let loop = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { @Sendable argument in
                // Sound: it is the pointer passed below, which was retained for this one use.
                if let argument { Unmanaged<EventLoop>.fromOpaque(argument).takeRetainedValue().serve() }
                return nil
            }, loop.toOpaque())
        guard code == 0 else {
            loop.release()
            throw EventLoopError(code: code)
        }
        let started = thread
        joinable.withLock { $0 = started }
    }

    /// The descriptors are closed only here. A thread that wakes the loop has a reference to it, so the thread's
    /// write cannot reach a different file that reuses the descriptor's number.
    deinit {
        close(bell)
        close(epoll)
    }

    // MARK: On any thread

    public var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    public func execute(_ work: @escaping @Sendable () -> Void) {
        if isCurrent { state.work.append(work) } else { _ = send(work) }
    }

    /// - Returns: `false` if the thread has ended. The work will then not run.
    private func send(_ work: @escaping @Sendable () -> Void) -> Bool {
        let (isTaken, isToBeWoken) = mail.withLock { mail in
            guard !mail.hasEnded else { return (false, false) }
            mail.works.append(work)
            defer { mail.isAsleep = false }
            return (true, mail.isAsleep)
        }
        if isToBeWoken { clinux_bell_ring(bell) }
        return isTaken
    }

    @discardableResult
    public func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Scheduled {
        let timer = Timer(due: .now() + delay, loop: self, work: work)
        if isCurrent { state.timers.insert(timer) } else { execute { self.inside.timers.insert(timer) } }
        return timer
    }

    /// Runs the body on the loop and waits for its result. Must not be called on the loop or after ``stop()``.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        precondition(!isCurrent, "the event loop cannot wait for itself")
        let outcome = Outcome<Value>()
        let isTaken = send { outcome.came(Result { try body() }) }
        precondition(isTaken, "the event loop has stopped")
        return try outcome.wait().get()
    }

    /// Ends the thread and waits until it has ended. Work that was sent before runs for at most one second;
    /// timers are dropped. Close sockets and connections first.
    public func stop() {
        precondition(!isCurrent, "the event loop cannot wait for itself")
        mail.withLock { $0.isStopping = true }
        clinux_bell_ring(bell)
        joinable.withLock { thread in
            if let thread { pthread_join(thread, nil) }
            thread = nil
        }
    }

    private final class Outcome<Value: Sendable>: Sendable {
        private let result = Mutex<Result<Value, any Error>?>(nil)
        private let isThere = DispatchSemaphore(value: 0)

        func came(_ result: Result<Value, any Error>) {
            self.result.withLock { $0 = result }
            isThere.signal()
        }

        func wait() -> Result<Value, any Error> {
            while true {
                isThere.wait()
                if let result = result.withLock({ $0 }) { return result }
            }
        }
    }

    // MARK: On the loop

    /// The state that only the loop may use.
    var inside: LoopState {
        precondition(isCurrent, "the state may be used only on the event loop")
        return state
    }

    /// Does the same as ``execute(_:)``, for work that is not `Sendable`.
    func soon(_ work: @escaping () -> Void) { inside.work.append(work) }

    /// Does the same as ``schedule(after:_:)``, for work that is not `Sendable`.
    func after(_ delay: Duration, _ work: @escaping () -> Void) -> Timer {
        let timer = Timer(due: .now() + delay, loop: self, work: work)
        inside.timers.insert(timer)
        return timer
    }

    func cancel(_ timer: Timer) { inside.timers.remove(timer) }

    // MARK: The thread

    private func serve() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        while !iterate() {}
        let end = Uptime.now() + Self.lastIteration
        while takeMail() || !state.work.isEmpty, Uptime.now() < end { state.runWork(until: end) }
        mail.withLock { mail in
            mail.hasEnded = true
            mail.works = []
        }
        state.end()
        thread.store(0, ordering: .relaxed)
    }

    /// - Returns: whether this was the last iteration.
    private func iterate() -> Bool {
        let count = wait()
        let began = Uptime.now()
        for index in 0..<count {
            let event = state.events[index]
            if event.token == Watchlist.bell {
                clinux_bell_hush(bell)
            } else {
                state.watchlist.watcher(of: event.token)?.isReady(Readiness(rawValue: event.readiness))
            }
        }
        takeMail()
        while let work = state.timers.takeDue(at: began) { work() }
        state.runWork(until: began + Self.longestIteration)
        return mail.withLock { $0.isStopping }
    }

    /// - Returns: the number of events.
    private func wait() -> Int {
        guard state.work.isEmpty, fallAsleep() else { return state.poll(waiting: 0) }
        if let count = state.linger() { return count }
        // A timer may have become due while the loop lingered.
        return state.poll(waiting: state.timers.next.map { max(0, $0 - .now()) } ?? -1)
    }

    /// Marks the thread as asleep. From then on, a sender must wake it.
    ///
    /// - Returns: `false` if there is work or the loop is stopping.
    private func fallAsleep() -> Bool {
        mail.withLock { mail in
            mail.isAsleep = mail.works.isEmpty && !mail.isStopping
            return mail.isAsleep
        }
    }

    /// - Returns: whether other threads had sent work.
    @discardableResult
    private func takeMail() -> Bool {
        let works = mail.withLock { mail in
            mail.isAsleep = false
            let works = mail.works
            if !works.isEmpty { mail.works = [] }
            return works
        }
        for work in works { state.work.append(work) }
        return !works.isEmpty
    }

    /// The time from the start of an iteration after which it begins no more queued work, so that connections
    /// are served again.
    private static let longestIteration = Duration.microseconds(300)
    /// How long work that was sent before ``stop()`` may run.
    private static let lastIteration = Duration.seconds(1)
}

/// The kernel could not provide a thread, descriptor or memory for an event loop.
public struct EventLoopError: Error, CustomStringConvertible {
    let code: CInt

    public var description: String { String(cString: strerror(code)) }
}
