import BrokerVarlink
import CBrokerSystemd
import Dispatch
import Glibc

/// Reports the service's state to systemd: sd_notify(3). Without a service manager this does nothing.
public enum ServiceManager {
    public enum State: Hashable, Sendable {
        /// The service accepts calls.
        case ready
        /// The text that `systemctl status` shows.
        case status(String)
        /// The service is reloading its policy; ``ready`` follows.
        case reloading
        case stopping
        /// A watchdog ping.
        case alive
    }

    /// Sends the messages in order. It runs off the event loop, so a stalled service manager cannot block the
    /// loop.
    private static let queue = DispatchQueue(label: "service manager")

    public static func notify(_ states: State...) {
        let text = states.map(text(of:)).joined(separator: "\n")
        queue.async { _ = sd_notify(0, text) }
    }

    /// Waits until all messages queued before this call are sent.
    public static func flush() { queue.sync {} }

    static func text(of state: State) -> String {
        switch state {
        case .ready: "READY=1"
        case .status(let words): "STATUS=" + words.map { $0.isNewline ? " " : String($0) }.joined()
        case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(monotonicMicroseconds)"
        case .stopping: "STOPPING=1"
        case .alive: "WATCHDOG=1"
        }
    }

    private static var monotonicMicroseconds: Int64 {
        var time = timespec()
        // Fails only if the clock does not exist or the pointer is invalid.
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// The interval within which systemd expects a watchdog ping; `nil` if the watchdog is off.
    public static var watchdog: Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0, microseconds < UInt64(Int64.max) else {
            return nil
        }
        return .microseconds(Int64(microseconds))
    }

    /// Sends watchdog pings from the event loop, if the watchdog is on. If the event loop hangs, the pings stop, and
    /// the service manager restarts the service.
    public static func keepAlive(_ loop: any Loop) {
        guard let watchdog else { return }
        beat(loop, every: watchdog / 3)
    }

    private static func beat(_ loop: any Loop, every interval: Duration) {
        notify(.alive)
        loop.schedule(after: interval) { beat(loop, every: interval) }
    }
}
