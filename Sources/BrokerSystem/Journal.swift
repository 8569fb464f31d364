import CBrokerSystemd
import Dispatch
import Glibc
import Synchronization

/// Sends records to systemd's journal. ``send(_:)`` never blocks.
public final class Journal: Sendable {
    private let queue = DispatchQueue(label: "journal")
    private let waiting = Atomic(0)
    private let lost = Atomic(0)

    /// The maximum number of records that wait while the journal is stalled. Further records are dropped and
    /// counted.
    static let mostWaiting = 1_024

    public init() {}

    /// Whether this process's standard error goes to the journal (`$JOURNAL_STREAM`, systemd.exec(5)). Records should
    /// then be sent to the journal directly.
    public static var isAtStandardError: Bool {
        guard let value = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return String(cString: value) == "\(status.st_dev):\(status.st_ino)"
    }

    public func send(_ record: JournalRecord) {
        guard waiting.load(ordering: .relaxed) < Self.mostWaiting else {
            lost.add(1, ordering: .relaxed)
            return
        }
        waiting.add(1, ordering: .relaxed)
        queue.async { [self] in
            write(record)
            waiting.subtract(1, ordering: .relaxed)
            let count = lost.exchange(0, ordering: .relaxed)
            if count > 0 {
                write(JournalRecord(.warning, "\(count) messages were lost while the journal accepted none"))
            }
        }
    }

    /// Sends records that must not be dropped.
    ///
    /// - Parameter done: receives whether the journal accepted all of them. It runs on the journal's queue.
    public func deliver(_ records: [JournalRecord], _ done: @escaping @Sendable (Bool) -> Void) {
        queue.async { done(records.allSatisfy(self.write)) }
    }

    /// Whether a journal is running (systemd-journald.service(8)).
    public static var isThere: Bool { access("/run/systemd/journal/socket", W_OK) == 0 }

    /// Waits until all records queued before this call are sent.
    public func flush() { queue.sync {} }

    @discardableResult
    private func write(_ record: JournalRecord) -> Bool {
        let fields = record.fields
        var bytes = Array(fields.joined())
        return bytes.withUnsafeMutableBytes { all in
            guard var start = all.baseAddress else { return false }
            let places = fields.map { field in
                defer { start += field.count }
                return iovec(iov_base: start, iov_len: field.count)
            }
            // Also succeeds if no journal is running. The message is then lost.
            return sd_journal_sendv(places, CInt(places.count)) >= 0
        }
    }
}
