import BrokerVarlink
import Dispatch
import Glibc
import Synchronization

/// A loop that runs only when the test runs it, with a clock that only the test advances.
final class TestLoop: Loop {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var timers: [(due: Duration, timer: Timer)] = []
        var now = Duration.zero
        var rounds = 0
    }

    final class Timer: Scheduled {
        let work: Mutex<(@Sendable () -> Void)?>
        init(_ work: @escaping @Sendable () -> Void) { self.work = Mutex(work) }
        func cancel() { work.withLock { $0 = nil } }
        func take() -> (@Sendable () -> Void)? {
            work.withLock {
                let taken = $0
                $0 = nil
                return taken
            }
        }
    }

    private let state = Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)
    private let owner = pthread_self()

    var isCurrent: Bool { pthread_equal(owner, pthread_self()) != 0 }

    func execute(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.work.append(work) }
        arrived.signal()
    }

    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Scheduled {
        let timer = Timer(work)
        state.withLock { $0.timers.append(($0.now + delay, timer)) }
        return timer
    }

    /// The time by which the clock was advanced.
    var now: Duration { state.withLock { $0.now } }

    /// How many batches of work the loop has run. A real loop would serve connections between them.
    var rounds: Int { state.withLock { $0.rounds } }

    /// Runs all pending work, without waiting for other threads.
    func iterate() {
        while true {
            let work = state.withLock { state in
                let work = state.work
                state.work = []
                if !work.isEmpty { state.rounds += 1 }
                return work
            }
            guard !work.isEmpty else { return }
            for item in work { item() }
        }
    }

    /// Runs the loop until the condition holds, and gives up after ten seconds without new work.
    func run(until isReached: () -> Bool) -> Bool {
        iterate()
        while !isReached() {
            guard arrived.wait(timeout: .now() + .seconds(10)) == .success else { return isReached() }
            iterate()
        }
        return true
    }

    /// Advances the clock, and runs the due timers in order.
    func advance(by time: Duration) {
        let end = now + time
        iterate()
        while true {
            let due = state.withLock { state -> Timer? in
                let next = state.timers.enumerated().filter { $0.element.due <= end }.min {
                    ($0.element.due, $0.offset) < ($1.element.due, $1.offset)
                }
                guard let next else { return nil }
                state.now = max(state.now, next.element.due)
                return state.timers.remove(at: next.offset).timer
            }
            guard let due else { break }
            due.take()?()
            iterate()
        }
        state.withLock { $0.now = end }
    }
}
