import BrokerVarlink
import CBrokerSystemd
import Dispatch
import Glibc

/// Tells systemd how the service is doing: sd_notify(3). Where no service manager is there, nothing happens.
public enum ServiceManager {
    public enum State: Hashable, Sendable {
        /// The service can be called.
        case ready
        /// In words, as `systemctl status` shows it.
        case status(String)
        /// Its settings are being read again; ``ready`` follows.
        case reloading
        case stopping
        /// A sign of life.
        case alive
    }

    /// Told from here, in order: a service manager that does not listen must not hold up the loop.
    private static let queue = DispatchQueue(label: "service manager")

    public static func tell(_ states: State...) {
        let text = states.map(text(of:)).joined(separator: "\n")
        queue.async { _ = sd_notify(0, text) }
    }

    /// Waits until everything that was told has been sent.
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
        // Fails only for a clock that does not exist or a bad pointer.
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// Within which time a sign of life is wanted; `nil` where none is.
    public static var watchdog: Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0, microseconds < UInt64(Int64.max) else {
            return nil
        }
        return .microseconds(Int64(microseconds))
    }

    /// Gives a sign of life from the loop, from now on and as often as it is wanted, if it is: a loop that hangs gives
    /// none, and the service manager starts the service anew.
    public static func keepAlive(_ loop: any Loop) {
        guard let watchdog else { return }
        beat(loop, every: watchdog / 3)
    }

    private static func beat(_ loop: any Loop, every interval: Duration) {
        tell(.alive)
        loop.schedule(after: interval) { beat(loop, every: interval) }
    }
}
