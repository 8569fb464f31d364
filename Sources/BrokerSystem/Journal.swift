import CBrokerSystemd
import Dispatch
import Glibc
import Synchronization

/// Sends records to systemd's journal. Whoever has something to say does not wait for it.
public final class Journal: Sendable {
    private let queue = DispatchQueue(label: "journal")
    private let waiting = Atomic(0)
    private let lost = Atomic(0)

    /// Records that wait for a journal that takes none; what comes then is lost, and counted.
    static let mostWaiting = 1_024

    public init() {}

    /// Whether what this process writes to its standard error goes to the journal, as systemd.exec(5) says of
    /// `$JOURNAL_STREAM`: then it is better told there itself.
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
            if count > 0 { write(JournalRecord(.warning, "\(count) messages were lost while the journal took none")) }
        }
    }

    /// Sends records of which none may be lost.
    ///
    /// - Parameter done: whether the journal took all of them; called on a queue of the journal's own.
    public func deliver(_ records: [JournalRecord], _ done: @escaping @Sendable (Bool) -> Void) {
        queue.async { done(records.allSatisfy(self.write)) }
    }

    /// Whether there is a journal to send to (systemd-journald.service(8)).
    public static var isThere: Bool { access("/run/systemd/journal/socket", W_OK) == 0 }

    /// Waits until everything said so far is with the journal.
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
            // Where there is no journal there is nobody to tell.
            return sd_journal_sendv(places, CInt(places.count)) >= 0
        }
    }
}
