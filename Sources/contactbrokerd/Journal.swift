import BrokerLedger
import BrokerSystem
import Glibc
import Logging
import Synchronization

/// The daemon's log: the journal if standard error is connected to it, otherwise standard error with one line
/// per message.
enum Journaling {
    private static let journal: Journal? = Journal.isAtStandardError ? Journal() : nil

    static func logger() -> Logger {
        Logger(label: "contactbrokerd") { _ in
            if let journal { JournalHandler(journal: journal) } else { LineHandler() }
        }
    }

    /// Logs why the daemon does not start, or prints the reason if standard error is not the journal.
    static func report(_ failure: Failure) {
        guard journal != nil else {
            let advice = failure.tryThis.map { $0 + "\n" } ?? ""
            let bytes = Array("contactbrokerd: \(failure.message)\n\(advice)".utf8)
            _ = write(STDERR_FILENO, bytes, bytes.count)
            return
        }
        let message = failure.message + (failure.tryThis.map { "; try: " + $0 } ?? "")
        logger().report(.notStarted, message, [])
        flush()
    }

    /// The journal, whether or not standard error is connected to it.
    static func open() -> Journal { journal ?? Journal() }

    /// Waits until all messages so far are sent to the journal.
    static func flush() { journal?.flush() }

    /// The metadata key of a message's identifier in the catalog.
    fileprivate static let identifierKey = "identifier"

    private struct JournalHandler: LogHandler {
        let journal: Journal
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value.description) }
            let identifier = facts.first { $0.0 == identifierKey }.flatMap { MessageIdentifier(rawValue: $0.1) }
            journal.send(
                JournalRecord(
                    Self.priority(event.level), event.message.description, identifier: identifier,
                    facts: facts.filter { $0.0 != identifierKey }))
        }

        private static func priority(_ level: Logger.Level) -> JournalRecord.Priority {
            switch level {
            case .trace, .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
        }
    }

    /// Writes the message, with its level if that is `warning` or higher. It writes no time, because the
    /// program that collects the lines adds one.
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
            let lost = Self.lost.exchange(0, ordering: .relaxed)
            if lost > 0, !Self.write("contactbrokerd: \(lost) lines were lost while standard error accepted none") {
                Self.lost.add(lost, ordering: .relaxed)
            }
            line = line.onOneLine
            var size = winsize()
            if ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 20 {
                line = line.wrapped(to: Int(size.ws_col))
            }
            if !Self.write(line) { Self.lost.add(1, ordering: .relaxed) }
        }

        private static let lost = Atomic(0)
        /// The maximum size of a line in bytes. A pipe that is ready for writing accepts this many bytes at
        /// once (see pipe(7)).
        private static let longest = 4_096

        /// Writes a line if that does not block, and returns whether it did. A full pipe or a stopped
        /// terminal accepts no line.
        private static func write(_ line: String) -> Bool {
            var output = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
            guard poll(&output, 1, 0) == 1, output.revents & Int16(POLLOUT) != 0 else { return false }
            let bytes = Array(line.utf8.prefix(longest - 1)) + [UInt8(ascii: "\n")]
            return Glibc.write(STDERR_FILENO, bytes, bytes.count) >= 0
        }
    }
}

extension String {
    /// The text with a space in place of each control character, and the code point, such as `\u{202E}`, in place of each
    /// other character that could hide text or change its direction. Text from an app can then neither look like a
    /// separate line nor control a terminal.
    var onOneLine: String {
        unicodeScalars.map { (scalar) -> String in
            switch scalar.properties.generalCategory {
            case .control: " "
            case .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: String(scalar)
            }
        }.joined()
    }

    /// The line in rows of at most this many characters, broken between words.
    func wrapped(to columns: Int) -> String {
        var rows: [String] = []
        var row = ""
        for word in split(separator: " ") {
            if !row.isEmpty, row.count + 1 + word.count > columns {
                rows.append(row)
                row = "  " + word
            } else {
                row += row.isEmpty ? String(word) : " " + word
            }
        }
        return (rows + [row]).joined(separator: "\n")
    }
}

extension Logger {
    /// Logs a message with its identifier in the catalog. Facts may contain names and IDs of users and apps, but
    /// nothing from a contact.
    func report(_ identifier: MessageIdentifier, _ message: String, _ facts: [(name: String, value: String)]) {
        var metadata: Metadata = [Journaling.identifierKey: "\(identifier.rawValue)"]
        for (name, value) in facts { metadata[name] = "\(value)" }
        log(level: identifier.level, "\(message)", metadata: metadata)
    }

    func report(_ notice: Notice, _ message: String, _ facts: [(name: String, value: String)]) {
        report(MessageIdentifier(notice), message, facts)
    }
}

extension MessageIdentifier {
    init(_ notice: Notice) {
        self =
            switch notice {
            case .policyInForce: .policyInForce
            case .policyUnreadable: .policyUnreadable
            case .policyNotReloaded: .policyNotReloaded
            case .settingsUnreadable: .settingsUnreadable
            case .recordsNotKept: .recordsNotKept
            case .recordsLost: .recordsLost
            case .auditContradicted: .auditContradicted
            case .auditHead: .auditHead
            case .auditRemoved: .auditRemoved
            case .alarm: .alarm
            case .cardDamaged: .cardDamaged
            case .anotherPerson: .anotherPerson
            case .userPurged: .userPurged
            }
    }

    fileprivate var level: Logger.Level {
        switch self {
        case .serving, .stopping, .policyInForce, .audited, .auditHead: .info
        case .userPurged, .auditRemoved: .notice
        case .turnedAway, .anotherPerson, .policyUnreadable, .policyNotReloaded, .alarm: .warning
        case .notStarted, .settingsUnreadable, .recordsNotKept, .recordsLost, .auditContradicted, .cardDamaged,
            .socketFailed:
            .error
        }
    }
}
