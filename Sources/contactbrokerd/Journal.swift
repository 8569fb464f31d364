import Glibc
import Logging

/// Where the daemon says what happens: standard error, a line each.
enum Journal {
    static func logger() -> Logger {
        Logger(label: "contactbrokerd") { _ in LineHandler() }
    }

    /// Level and message, no time: whatever keeps the lines puts one before each.
    private struct LineHandler: LogHandler {
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            var line = event.level >= .warning ? "contactbrokerd: \(event.level): " : "contactbrokerd: "
            line += event.message.description
            // One line, whatever is in it: what was forged into a message must not look like another one.
            let text = line.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : String($0) }
            let bytes = Array((text.joined() + "\n").utf8)
            _ = write(STDERR_FILENO, bytes, bytes.count)
        }
    }
}

/// The standard streams. Glibc's are variables that Swift does not let through.
enum Standard {
    static var error: UnsafeMutablePointer<FILE>? { fdopen(STDERR_FILENO, "w") }
}
