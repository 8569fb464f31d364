import NIOCore

/// Ends what takes too long, with at most one timer waiting however often the thing starts over. It lives on the loop.
final class Watch {
    private let eventLoop: any EventLoop
    private let timeout: TimeAmount
    private let expired: () -> Void
    private var deadline: NIODeadline?
    private var timer: NIOCore.Scheduled<Void>?

    /// - Parameter expired: must not hold strongly what holds the watch.
    init(eventLoop: any EventLoop, timeout: Duration, expired: @escaping () -> Void) {
        self.eventLoop = eventLoop
        self.timeout = TimeAmount(timeout)
        self.expired = expired
    }

    var isRunning: Bool { deadline != nil }

    /// Starts, or starts over.
    func start() {
        deadline = .now() + timeout
        if timer == nil { wait(timeout) }
    }

    /// The timer goes on waiting, and finds nothing to do.
    func stop() { deadline = nil }

    func cancel() {
        deadline = nil
        timer?.cancel()
        timer = nil
    }

    private func wait(_ time: TimeAmount) {
        timer = eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in self?.look() }
    }

    private func look() {
        timer = nil
        guard let deadline else { return }
        let now = NIODeadline.now()
        if now >= deadline {
            self.deadline = nil
            expired()
        } else {
            wait(deadline - now)
        }
    }
}
