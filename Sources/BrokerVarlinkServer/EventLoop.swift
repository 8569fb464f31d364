import BrokerVarlink
import CBrokerLinux
import Dispatch
import Glibc
import Synchronization

/// The thread on which a server lives: it waits for descriptors, for times and for work that others send, and does what
/// comes of it.
///
/// A turn hears everybody who has something to say, once, and then does the work that came of it until nothing is left
/// or ``longestTurn`` is over: work that makes more work keeps nobody unheard.
public final class EventLoop: Loop {
    private let epoll: CInt
    private let bell: CInt
    private let mail = Mutex(Mail())
    /// The thread's pthread_t; 0 while there is none.
    private let thread = Atomic<UInt>(0)
    /// What ``stop()`` joins, once.
    private let joinable = Mutex<pthread_t?>(nil)
    // Sound: used through `inside` alone, which stops the program off the loop.
    nonisolated(unsafe) private let state: LoopState

    /// What other threads have sent.
    private struct Mail {
        var works: [@Sendable () -> Void] = []
        /// Nobody looks here before the bell rings.
        var isAsleep = false
        var isStopping = false
        /// The thread is gone, and what is sent is dropped.
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
        // The thread keeps the loop until it ends.
        let loop = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { @Sendable argument in
                // Sound: it is the pointer given below, retained for this one use.
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

    /// Not before: whoever rings the bell has the loop, and their ring must not reach a file that has its number by then.
    deinit {
        close(bell)
        close(epoll)
    }

    // MARK: From everywhere

    public var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    public func execute(_ work: @escaping @Sendable () -> Void) {
        if isCurrent { state.work.append(work) } else { _ = send(work) }
    }

    /// - Returns: `false` where the thread is gone, and the work will not be done.
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

    /// Runs the body on the loop and waits until it has. Not to be called on the loop, nor after ``stop()``.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        precondition(!isCurrent, "the loop cannot wait for itself")
        let outcome = Outcome<Value>()
        let isTaken = send { outcome.came(Result { try body() }) }
        precondition(isTaken, "a loop that has ended does nothing")
        return try outcome.wait().get()
    }

    /// Ends the thread, and waits until it has ended. Work that was sent before is done; timers are given up. Doors and
    /// connections should be closed by then.
    public func stop() {
        precondition(!isCurrent, "the loop cannot wait for itself")
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

    /// What lives on the loop.
    var inside: LoopState {
        precondition(isCurrent, "what lives on the loop is used on the loop")
        return state
    }

    /// As ``execute(_:)``, for work that lives on the loop.
    func soon(_ work: @escaping () -> Void) { inside.work.append(work) }

    /// As ``schedule(after:_:)``, for work that lives on the loop.
    func after(_ delay: Duration, _ work: @escaping () -> Void) -> Timer {
        let timer = Timer(due: .now() + delay, loop: self, work: work)
        inside.timers.insert(timer)
        return timer
    }

    func cancel(_ timer: Timer) { inside.timers.remove(timer) }

    // MARK: The thread

    private func serve() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        while !turn() {}
        let end = Uptime.now() + Self.lastTurn
        while takeMail() || !state.work.isEmpty, Uptime.now() < end { state.runWork(until: end) }
        mail.withLock { mail in
            mail.hasEnded = true
            mail.works = []
        }
        state.end()
        thread.store(0, ordering: .relaxed)
    }

    /// - Returns: whether it was the last one.
    private func turn() -> Bool {
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
        state.runWork(until: began + Self.longestTurn)
        return mail.withLock { $0.isStopping }
    }

    /// - Returns: how many events there are.
    private func wait() -> Int {
        guard state.work.isEmpty, fallAsleep() else { return state.hear(waiting: 0) }
        if let count = state.linger() { return count }
        // What was waited for by lingering may have come due meanwhile.
        return state.hear(waiting: state.timers.next.map { max(0, $0 - .now()) } ?? -1)
    }

    /// From now on whoever sends work rings the bell.
    ///
    /// - Returns: `false` if there is work already.
    private func fallAsleep() -> Bool {
        mail.withLock { mail in
            mail.isAsleep = mail.works.isEmpty && !mail.isStopping
            return mail.isAsleep
        }
    }

    /// - Returns: whether there was any.
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

    /// How long work goes on before the connections are heard again.
    private static let longestTurn = Duration.microseconds(300)
    /// How long work that was sent before the end may take.
    private static let lastTurn = Duration.seconds(1)
}

/// The kernel has no thread, no descriptor or no memory for a loop.
public struct EventLoopError: Error, CustomStringConvertible {
    let code: CInt

    public var description: String { String(cString: strerror(code)) }
}
