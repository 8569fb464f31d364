/// Ends what takes too long, with at most one timer waiting however often the thing starts over. It lives on the loop.
final class Watch {
    private let loop: EventLoop
    private let timeout: Duration
    private let expired: () -> Void
    private var deadline: Uptime?
    private var timer: Timer?

    /// - Parameter expired: must not hold strongly what holds the watch.
    init(loop: EventLoop, timeout: Duration, expired: @escaping () -> Void) {
        self.loop = loop
        self.timeout = timeout
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

    private func wait(_ time: Duration) {
        timer = loop.after(time) { [weak self] in self?.look() }
    }

    private func look() {
        timer = nil
        guard let deadline else { return }
        let now = Uptime.now()
        if now >= deadline {
            self.deadline = nil
            expired()
        } else {
            wait(.nanoseconds(deadline - now))
        }
    }
}
