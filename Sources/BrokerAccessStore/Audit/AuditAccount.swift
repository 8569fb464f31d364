import BrokerAccessControl

/// What one app has written of the audit of late. It lives with the store, on the loop.
final class AuditAccount {
    /// `nil` for the account of all who found no place: their records have no windows.
    let owner: AuditLedger.Owner?
    /// By the raw value of ``AuditLedger/Fold``.
    var tables = AuditLedger.Fold.allCases.map { _ in FoldTable() }
    private var records: Double
    private var bytes: Double
    /// Until when the two above are reckoned, in microseconds since 1970.
    private var asOf: Int64

    init(owner: AuditLedger.Owner?, bounds: AuditBounds, now: Int64) {
        self.owner = owner
        records = Self.most(bounds.recordsPerHour)
        bytes = Self.most(bounds.bytesPerHour)
        asOf = now
    }

    /// Half of the bound may be used at once, and the other half comes in over each hour: so no hour has more than
    /// the bound.
    private static func most(_ bound: Int) -> Double { max(1, Double(bound) / 2) }
    private static let hour = 3_600_000_000.0

    private func refill(_ bounds: AuditBounds, now: Int64) {
        // A clock that was set back gives nothing, and goes on from where it stands.
        let part = Double(max(0, now - asOf)) / Self.hour
        asOf = now
        guard part > 0 else { return }
        let (mostRecords, mostBytes) = (Self.most(bounds.recordsPerHour), Self.most(bounds.bytesPerHour))
        records = min(mostRecords, records + part * mostRecords)
        bytes = min(mostBytes, bytes + part * mostBytes)
    }

    /// - Returns: whether something is left.
    func spend(_ record: AuditRecord, _ bounds: AuditBounds) -> Bool {
        refill(bounds, now: record.time)
        records -= 1
        bytes -= Double(record.storedSize)
        return records >= 1 && bytes >= 1
    }

    /// Microseconds until another record may be caused; `nil` for none.
    func wait(_ bounds: AuditBounds, now: Int64) -> Int64? {
        refill(bounds, now: now)
        guard records < 1 || bytes < 1 else { return nil }
        let forRecords = (1 - records) / Self.most(bounds.recordsPerHour)
        let forBytes = (1 - bytes) / Self.most(bounds.bytesPerHour)
        return Int64((max(forRecords, forBytes) * Self.hour).rounded(.up))
    }

    /// Forgetting the account changes nothing.
    func isIdle(_ bounds: AuditBounds, now: Int64) -> Bool {
        refill(bounds, now: now)
        return tables.allSatisfy(\.isEmpty) && records >= Self.most(bounds.recordsPerHour)
            && bytes >= Self.most(bounds.bytesPerHour)
    }

    var weight: Int { tables.reduce(0) { $0 + $1.weight } }
}

extension AuditRecord {
    /// About what its row takes in the file: its hash, numbers and words, the name of each contact.
    fileprivate var storedSize: Int {
        96 + app.utf8.count + (detail?.utf8.count ?? 0) + (contacts?.count ?? 0) * Pseudonyms.size
    }
}
