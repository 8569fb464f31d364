import BrokerDisclosure
import BrokerModel
import BrokerSQLite

/// A run of consecutive records that retention removes as a whole: the records of one day in UTC, but not many more
/// than ``mostBytes``.
///
/// A segment is sealed once a later segment has begun. Its row in the table `auditSegment` then never changes.
public struct AuditSegment: Hashable, Sendable {
    /// The segment's last record.
    public let last: AuditPosition
    /// The earliest and the latest time of its records, in microseconds since 1970. If the clock was set back, they
    /// are not the times of its first and last record.
    public let begins: Int64
    public let ends: Int64
    /// Approximately what its records take in the file.
    public let bytes: Int64

    static let mostBytes: Int64 = 16 * 1_048_576

    public init(last: AuditPosition, begins: Int64, ends: Int64, bytes: Int64) {
        self.last = last
        self.begins = begins
        self.ends = ends
        self.bytes = bytes
    }
}

/// Divides records into segments.
struct AuditSegments {
    private(set) var sealed: [AuditSegment] = []
    /// The records after the last sealed segment; `nil` if there are none.
    private(set) var open: AuditSegment?
    private var day: Int64 = 0
    private static let dayLength: Int64 = 86_400_000_000

    /// Adds the record that follows the last one.
    mutating func add(_ position: AuditPosition, time: Int64, bytes: Int64) {
        let today = Self.day(of: time)
        guard let segment = open, belongs(today, to: segment) else {
            if let open { sealed.append(open) }
            day = today
            open = AuditSegment(last: position, begins: time, ends: time, bytes: bytes)
            return
        }
        open = AuditSegment(
            last: position, begins: min(segment.begins, time), ends: max(segment.ends, time),
            bytes: segment.bytes + bytes)
    }

    /// The count of repeated disclosures has the time of the last one, so just after midnight a record of the day before
    /// may follow one of the new day.
    private func belongs(_ today: Int64, to segment: AuditSegment) -> Bool {
        (today == day || today == day - 1) && segment.bytes < AuditSegment.mostBytes
    }

    private static func day(of time: Int64) -> Int64 {
        time / dayLength - (time % dayLength < 0 ? 1 : 0)
    }
}

/// What retention removed last: every record up to ``last``. The chain begins after it.
public struct AuditRemoval: Hashable, Sendable {
    /// The last removed record.
    public let last: AuditPosition
    /// The first record that this removal removed. An earlier removal may have removed records before it.
    public let first: Int64
    /// The earliest and the latest time of the removed records, in microseconds since 1970.
    public let begins: Int64
    public let ends: Int64
    /// When they were removed, in microseconds since 1970.
    public let time: Int64
    /// The sequence number of the ``AuditEvent/retention`` record that announces the removal.
    public internal(set) var record: Int64 = 0

    /// The detail of the record that announces the removal. It covers every other member, and the chain covers it, so
    /// nobody can change where the chain begins without changing the chain. Later versions compare it, so its form must
    /// not change.
    public var detail: String {
        "records \(first) to \(last.sequence), from \(Self.date(begins)) to \(Self.date(ends)), removed at "
            + "\(Timestamp.text(seconds: time / 1_000_000)); record \(last.sequence) had the hash "
            + Hexadecimal.text(last.hash)
    }

    /// The day in UTC up to which records were removed, such as `2026-01-31`.
    public var lastDay: String { String(Self.date(ends)) }

    private static func date(_ time: Int64) -> Substring { Timestamp.text(seconds: time / 1_000_000).prefix(10) }
}
