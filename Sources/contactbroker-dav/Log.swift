import Glibc
import Synchronization

/// Messages on standard error. They never contain passwords, or what contacts say.
enum Log {
    static func write(_ message: String) {
        let bytes = Array("contactbroker-dav: \(message)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Messages of ``writeSometimes(_:)`` in one minute.
    private static let most = 10

    private static let recent = Mutex<(minute: ContinuousClock.Instant, count: Int)>((.now, 0))

    /// Writes a message that a client can cause, at most some in a minute.
    static func writeSometimes(_ message: String) {
        let isDue = recent.withLock { recent in
            if recent.minute.duration(to: .now) > .seconds(60) { recent = (.now, 0) }
            recent.count += 1
            return recent.count <= most
        }
        if isDue { write(message) }
    }
}
