import BrokerVarlink

/// Work that waits for its time.
final class Timer: Scheduled {
    let due: Uptime
    private let loop: EventLoop
    // Sound: set before anybody else knows of the timer, and from then on touched on the loop alone.
    nonisolated(unsafe) fileprivate var work: (() -> Void)?
    // Sound: the list lives on the loop, and nobody else touches this.
    nonisolated(unsafe) fileprivate var turn: UInt64 = 0

    init(due: Uptime, loop: EventLoop, work: @escaping () -> Void) {
        self.due = due
        self.loop = loop
        self.work = work
    }

    func cancel() {
        if loop.isCurrent { loop.cancel(self) } else { loop.execute { self.loop.cancel(self) } }
    }

    fileprivate func isBefore(_ other: Timer) -> Bool { (due, turn) < (other.due, other.turn) }
}

/// Timers, the next one first; those of one time in the order in which they came. It lives on the loop.
///
/// A timer that is cancelled is gone at once, with its work: however often a connection starts one and gives it up,
/// nothing of that is kept until its time. There are no more than prompts, and connections that are in the middle of something;
/// and most come last, since most waits are equally long.
struct TimerList {
    private var timers: [Timer] = []
    private var turn: UInt64 = 0

    var count: Int { timers.count }
    var next: Uptime? { timers.first?.due }

    /// Does nothing for one that was cancelled before it came here.
    mutating func insert(_ timer: Timer) {
        guard timer.work != nil else { return }
        turn += 1
        timer.turn = turn
        timers.insert(timer, at: place(of: timer))
    }

    mutating func remove(_ timer: Timer) {
        timer.work = nil
        let place = place(of: timer)
        if place < timers.count, timers[place] === timer { timers.remove(at: place) }
    }

    /// Takes the work of a timer whose time has come.
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

    /// Where the timer stands, or would: after all that come before it.
    private func place(of timer: Timer) -> Int {
        var (low, high) = (0, timers.count)
        while low < high {
            let middle = (low + high) / 2
            if timers[middle].isBefore(timer) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
