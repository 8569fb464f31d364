import BrokerVarlink

/// Work that runs at a given time.
final class Timer: Scheduled {
    let due: Uptime
    private let loop: EventLoop
    // Sound: set before any other thread has the timer, and from then on used only on the loop.
    nonisolated(unsafe) fileprivate var work: (() -> Void)?
    // Sound: only the list uses this, and only on the loop.
    nonisolated(unsafe) fileprivate var insertion: UInt64 = 0

    init(due: Uptime, loop: EventLoop, work: @escaping () -> Void) {
        self.due = due
        self.loop = loop
        self.work = work
    }

    func cancel() {
        if loop.isCurrent { loop.cancel(self) } else { loop.execute { self.loop.cancel(self) } }
    }

    fileprivate func isBefore(_ other: Timer) -> Bool { (due, insertion) < (other.due, other.insertion) }
}

/// Timers in the order of their due times; timers with the same due time are in the order of insertion. The
/// list is used only on the event loop.
///
/// A cancelled timer is removed at once, with its work, because a connection may start and cancel many
/// timers. The number of timers grows only with the number of prompts and of connections with a pending frame
/// or reply. Most timers are inserted at the end, because most timeouts are equal.
struct TimerList {
    private var timers: [Timer] = []
    private var insertion: UInt64 = 0

    var count: Int { timers.count }
    var next: Uptime? { timers.first?.due }

    /// Does nothing if the timer was cancelled before.
    mutating func insert(_ timer: Timer) {
        guard timer.work != nil else { return }
        insertion += 1
        timer.insertion = insertion
        timers.insert(timer, at: place(of: timer))
    }

    mutating func remove(_ timer: Timer) {
        timer.work = nil
        let place = place(of: timer)
        if place < timers.count, timers[place] === timer { timers.remove(at: place) }
    }

    /// Removes the first timer that is due, and returns its work.
    mutating func takeDue(at now: Uptime) -> (() -> Void)? {
        guard let first = timers.first, first.due <= now else { return nil }
        let work = first.work
        remove(first)
        return work
    }

    mutating func removeAll() {
        for timer in timers { timer.work = nil }
        timers = []
    }

    /// Returns the timer's index, or the index at which to insert it: after all timers that are due before it.
    private func place(of timer: Timer) -> Int {
        var (low, high) = (0, timers.count)
        while low < high {
            let middle = (low + high) / 2
            if timers[middle].isBefore(timer) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
