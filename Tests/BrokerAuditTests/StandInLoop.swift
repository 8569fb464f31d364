import BrokerVarlink
import Dispatch
import Glibc
import Synchronization

/// A loop on the test's own thread, with a clock that the test advances. It waits for work from other threads, and
/// never sleeps.
final class StandInLoop: Loop {
    private struct Timer {
        let due: Int64
        let order: Int
        let work: @Sendable () -> Void
        let state: StandInTimer
    }

    private struct State {
        var work: [@Sendable () -> Void] = []
        var timers: [Timer] = []
        var order = 0
        /// Microseconds since 1970.
        var now: Int64 = 1_700_000_000_000_000
    }

    private let state = Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)
    private let thread = pthread_self()

    var now: Int64 { state.withLock { $0.now } }

    var isCurrent: Bool { pthread_equal(pthread_self(), thread) != 0 }

    func execute(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.work.append(work) }
        arrived.signal()
    }

    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Scheduled {
        let timer = StandInTimer()
        state.withLock {
            let wait = delay.components.seconds * 1_000_000 + delay.components.attoseconds / 1_000_000_000_000
            $0.order += 1
            $0.timers.append(Timer(due: $0.now + wait, order: $0.order, work: work, state: timer))
        }
        return timer
    }

    /// Runs the queued work without waiting for other threads.
    func iterate() {
        while let work = state.withLock({ $0.work.isEmpty ? nil : $0.work.removeFirst() }) { work() }
    }

    /// Runs queued work, and work from other threads as it arrives, until the condition is true.
    ///
    /// - Returns: whether it became true within ten seconds.
    func run(until condition: () -> Bool) -> Bool {
        let deadline = DispatchTime.now() + 10
        while true {
            iterate()
            if condition() { return true }
            guard arrived.wait(timeout: deadline) == .success else { return false }
        }
    }

    /// Advances the clock, and runs each timer at its time.
    func pass(_ duration: Duration) {
        iterate()
        let wait = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
        let end = now + wait
        while let timer = next(until: end) {
            if !timer.state.isCancelled { timer.work() }
            iterate()
        }
        state.withLock { $0.now = end }
    }

    /// Removes the timer that is due first, and advances the clock to its time.
    private func next(until end: Int64) -> Timer? {
        state.withLock { state in
            let first = state.timers.enumerated().min {
                ($0.element.due, $0.element.order) < ($1.element.due, $1.element.order)
            }
            guard let first, first.element.due <= end else { return nil }
            state.now = max(state.now, first.element.due)
            return state.timers.remove(at: first.offset)
        }
    }
}

final class StandInTimer: Scheduled {
    private let cancelled = Atomic(false)
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
    func cancel() { cancelled.store(true, ordering: .relaxed) }
}
