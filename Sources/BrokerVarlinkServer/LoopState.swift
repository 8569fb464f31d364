import CBrokerLinux
import Glibc

/// What lives on a loop: who waits for which descriptor, for which time, and for their turn.
final class LoopState {
    var work = WorkQueue()
    /// What waits until the next turn has heard everybody.
    var timers = TimerList()
    var watchlist: Watchlist
    var lingering = Lingering()
    private(set) var events: [clinux_event]
    /// Where bytes are received, by one connection after the other.
    var scratch = [UInt8](repeating: 0, count: receivedAtOnce)

    /// How often something was waited for.
    private(set) var turns = 0

    private let epoll: CInt

    init(epoll: CInt) {
        self.epoll = epoll
        watchlist = Watchlist(epoll: epoll)
        events = [clinux_event](repeating: clinux_event(), count: Int(CLINUX_MOST_EVENTS))
    }

    /// Waits for events so many nanoseconds; for ever if they are negative.
    ///
    /// - Returns: how many there are.
    func hear(waiting nanoseconds: Int64) -> Int {
        turns += 1
        let count = clinux_epoll_wait(epoll, &events, nanoseconds)
        precondition(count >= 0, "epoll_wait(2) fails for a descriptor or memory that is not ours")
        return Int(count)
    }

    /// Does the work that is there, and what comes of it, for so long.
    func runWork(until end: Uptime) {
        while let next = work.takeFirst() {
            next()
            if Uptime.now() >= end { return }
        }
    }

    /// Waits awake for events, if that is likely to pay.
    ///
    /// - Returns: how many events there are; `nil` where it is time to sleep.
    func linger() -> Int? { lingering.listen(until: timers.next) { hear(waiting: 0) } }

    /// Lets go of everything.
    func end() {
        timers.removeAll()
        watchlist = Watchlist(epoll: epoll)
        work = WorkQueue()
    }

    /// One connection's part in a turn, in bytes: what a client that sends without a pause makes others wait.
    private static let receivedAtOnce = 64 * 1_024
}
