import BrokerAccessControl
import BrokerBounds

/// The audit allowance and deduplication windows of one app, or the allowance that several apps of a user
/// share, or that of a user or of all strangers. Only the event loop uses it.
final class AuditAccount {
    /// `nil` for an account that several apps share. Their records are not deduplicated there.
    let owner: AuditLedger.Owner?
    let payer: AuditLedger.Payer
    /// The deduplication tables, indexed by the raw value of ``AuditLedger/WindowKind``.
    var tables = AuditLedger.WindowKind.allCases.map { _ in DeduplicationTable() }
    /// The records, and their bytes, that the account has caused; times are microseconds since 1970.
    private var records: LeakyBucket
    private var bytes: LeakyBucket
    private let sizes: (records: LeakyBucket.Size, bytes: LeakyBucket.Size)

    init(owner: AuditLedger.Owner?, payer: AuditLedger.Payer, _ allowance: AuditAllowance, now: Int64) {
        self.owner = owner
        self.payer = payer
        (records, bytes) = (LeakyBucket(at: now), LeakyBucket(at: now))
        sizes = (Self.half(of: allowance.recordsPerHour), Self.half(of: allowance.bytesPerHour))
    }

    /// A bucket has half of the bound, and half of the bound drains in an hour, so no hour exceeds the bound.
    private static func half(of bound: Int) -> LeakyBucket.Size { .init(amount: Int64(bound / 2), time: 3_600_000_000) }

    private func drain(now: Int64) {
        records.drain(sizes.records, now: now)
        bytes.drain(sizes.bytes, now: now)
    }

    /// Charges the record to the allowance.
    ///
    /// - Returns: whether the app may cause another record.
    func spend(_ record: AuditRecord) -> Bool {
        drain(now: record.time)
        records.add(1)
        bytes.add(Int64(record.storedSize))
        return wait == 0
    }

    private var wait: Int64 { max(records.wait(for: 1, sizes.records), bytes.wait(for: 1, sizes.bytes)) }

    /// Microseconds until the app may cause another record; `nil` if it may do so now.
    func wait(now: Int64) -> Int64? {
        drain(now: now)
        return wait > 0 ? wait : nil
    }

    /// Whether the account can be removed without effect: no window is open and nothing counts.
    func isIdle(now: Int64) -> Bool {
        drain(now: now)
        return tables.allSatisfy(\.isEmpty) && records.level == 0 && bytes.level == 0
    }

    var weight: Int { tables.reduce(0) { $0 + $1.weight } }
}

extension AuditRecord {
    /// The approximate size of its row in the file, in bytes: hash, numbers, texts and pseudonyms.
    fileprivate var storedSize: Int {
        96 + app.utf8.count + (detail?.utf8.count ?? 0) + (contacts?.count ?? 0) * Pseudonyms.size
    }
}
