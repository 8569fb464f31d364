/// A timeout that can be restarted. It is used only on the event loop.
final class Watch {
    private let loop: EventLoop
    private let timeout: Duration
    private let expired: () -> Void
    private var timer: Timer?

    /// - Parameter expired: must not strongly reference an object that owns the watch.
    init(loop: EventLoop, timeout: Duration, expired: @escaping () -> Void) {
        self.loop = loop
        self.timeout = timeout
        self.expired = expired
    }

    var isRunning: Bool { timer != nil }

    /// Starts or restarts the timeout.
    func start() {
        stop()
        timer = loop.after(timeout) { [weak self] in
            self?.timer = nil
            self?.expired()
        }
    }

    func stop() {
        timer?.cancel()
        timer = nil
    }
}
