import CBrokerLinux
import Glibc

/// The state of an event loop: watched descriptors, timers and queued work.
final class LoopState {
    var work = WorkQueue()
    /// Timers whose work has not run yet.
    var timers = TimerList()
    var watchlist: Watchlist
    var lingering = Lingering()
    private(set) var events: [clinux_event]
    /// The receive buffer, shared by all connections.
    var scratch = [UInt8](repeating: 0, count: receivedAtOnce)

    /// The number of epoll_wait calls.
    private(set) var iterations = 0

    private let epoll: CInt

    init(epoll: CInt) {
        self.epoll = epoll
        watchlist = Watchlist(epoll: epoll)
        events = [clinux_event](repeating: clinux_event(), count: Int(CLINUX_MOST_EVENTS))
    }

    /// Waits for events for that many nanoseconds; without limit if negative.
    ///
    /// - Returns: the number of events.
    func poll(waiting nanoseconds: Int64) -> Int {
        iterations += 1
        let count = clinux_epoll_wait(epoll, &events, nanoseconds)
        precondition(count >= 0, "epoll_wait(2) fails only for an invalid descriptor or address")
        return Int(count)
    }

    /// Runs queued work, including work that it queues in turn, until none is left or the time is over.
    func runWork(until end: Uptime) {
        while let next = work.takeFirst() {
            next()
            if Uptime.now() >= end { return }
        }
    }

    /// Polls for events for a short time, if that is likely to pay off.
    ///
    /// - Returns: the number of events; `nil` if the loop should sleep.
    func linger() -> Int? { lingering.listen(until: timers.next) { poll(waiting: 0) } }

    /// Drops all work, timers and watchers.
    func end() {
        timers.removeAll()
        watchlist = Watchlist(epoll: epoll)
        work = WorkQueue()
    }

    /// The maximum number of bytes received from one connection per iteration. A busy connection therefore does
    /// not block other connections.
    private static let receivedAtOnce = 64 * 1_024
}
