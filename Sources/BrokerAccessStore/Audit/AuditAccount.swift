import BrokerAccessControl

/// The audit allowance and deduplication windows of one app, or the allowance that several apps of a user
/// share, or that of a user or of all strangers. Only the event loop uses it.
final class AuditAccount {
    /// `nil` for an account that several apps share. Their records are not deduplicated there.
    let owner: AuditLedger.Owner?
    let payer: AuditLedger.Payer
    private let allowance: AuditAllowance
    /// The deduplication tables, indexed by the raw value of ``AuditLedger/WindowKind``.
    var tables = AuditLedger.WindowKind.allCases.map { _ in DeduplicationTable() }
    private var records: Double
    private var bytes: Double
    /// When the two allowances above were last refilled, in microseconds since 1970.
    private var asOf: Int64

    init(owner: AuditLedger.Owner?, payer: AuditLedger.Payer, _ allowance: AuditAllowance, now: Int64) {
        self.owner = owner
        self.payer = payer
        self.allowance = allowance
        records = Self.most(allowance.recordsPerHour)
        bytes = Self.most(allowance.bytesPerHour)
        asOf = now
    }

    /// The allowance is never larger than half of the bound, and half of the bound is refilled per hour, so
    /// no hour exceeds the bound.
    private static func most(_ bound: Int) -> Double { max(1, Double(bound) / 2) }
    private static let hour = 3_600_000_000.0

    private func refill(now: Int64) {
        // A clock that was set back refills nothing; the next refill counts from the new time.
        let part = Double(max(0, now - asOf)) / Self.hour
        asOf = now
        guard part > 0 else { return }
        let (mostRecords, mostBytes) = (Self.most(allowance.recordsPerHour), Self.most(allowance.bytesPerHour))
        records = min(mostRecords, records + part * mostRecords)
        bytes = min(mostBytes, bytes + part * mostBytes)
    }

    /// Charges the record to the allowance.
    ///
    /// - Returns: whether the app may cause another record.
    func spend(_ record: AuditRecord) -> Bool {
        refill(now: record.time)
        records -= 1
        bytes -= Double(record.storedSize)
        return records >= 1 && bytes >= 1
    }

    /// Microseconds until the app may cause another record; `nil` if it may do so now.
    func wait(now: Int64) -> Int64? {
        refill(now: now)
        guard records < 1 || bytes < 1 else { return nil }
        let forRecords = (1 - records) / Self.most(allowance.recordsPerHour)
        let forBytes = (1 - bytes) / Self.most(allowance.bytesPerHour)
        return Int64((max(forRecords, forBytes) * Self.hour).rounded(.up))
    }

    /// Whether the account can be removed without effect: no window is open and the allowance is full.
    func isIdle(now: Int64) -> Bool {
        refill(now: now)
        return tables.allSatisfy(\.isEmpty) && records >= Self.most(allowance.recordsPerHour)
            && bytes >= Self.most(allowance.bytesPerHour)
    }

    var weight: Int { tables.reduce(0) { $0 + $1.weight } }
}

extension AuditRecord {
    /// The approximate size of its row in the file, in bytes: hash, numbers, texts and pseudonyms.
    fileprivate var storedSize: Int {
        96 + app.utf8.count + (detail?.utf8.count ?? 0) + (contacts?.count ?? 0) * Pseudonyms.size
    }
}
