import BrokerVarlink

/// Work that waits for its time.
final class Timer: Scheduled {
    let due: Uptime
    private let loop: EventLoop
    // Sound: set before anybody else knows of the timer, and from then on touched on the loop alone.
    nonisolated(unsafe) fileprivate var work: (() -> Void)?
    // Sound: the heap lives on the loop, and nobody else touches these.
    nonisolated(unsafe) fileprivate var place: Int?
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
/// nothing of that is kept until its time.
struct TimerHeap {
    private var timers: [Timer] = []
    private var turn: UInt64 = 0

    var count: Int { timers.count }
    var next: Uptime? { timers.first?.due }

    /// Does nothing for one that was cancelled before it came here.
    mutating func insert(_ timer: Timer) {
        guard timer.work != nil else { return }
        turn += 1
        timer.turn = turn
        timers.append(timer)
        timer.place = timers.count - 1
        rise(from: timers.count - 1)
    }

    mutating func remove(_ timer: Timer) {
        timer.work = nil
        guard let place = timer.place else { return }
        timer.place = nil
        let last = timers.removeLast()
        guard place < timers.count else { return }
        put(last, at: place)
        rise(from: place)
        sink(from: place)
    }

    /// Takes the work of a timer whose time has come.
    mutating func takeDue(at now: Uptime) -> (() -> Void)? {
        guard let first = timers.first, first.due <= now else { return nil }
        let work = first.work
        remove(first)
        return work
    }

    mutating func removeAll() {
        for timer in timers { (timer.work, timer.place) = (nil, nil) }
        timers = []
    }

    private mutating func put(_ timer: Timer, at place: Int) {
        timers[place] = timer
        timer.place = place
    }

    private mutating func exchange(_ one: Int, _ other: Int) {
        let timer = timers[one]
        put(timers[other], at: one)
        put(timer, at: other)
    }

    private mutating func rise(from start: Int) {
        var place = start
        while place > 0, timers[place].isBefore(timers[(place - 1) / 2]) {
            exchange(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink(from start: Int) {
        var place = start
        while true {
            var first = place
            for child in [2 * place + 1, 2 * place + 2] where child < timers.count {
                if timers[child].isBefore(timers[first]) { first = child }
            }
            guard first != place else { return }
            exchange(place, first)
            place = first
        }
    }
}
