import BrokerBounds
import BrokerModel
import BrokerSQLite

extension BookWriter {
    /// See ``ContactsStore/set(binDays:mayShorten:at:)``.
    func set(binDays days: Int64?, mayShorten: Bool, at seconds: Int64) throws -> Bool {
        try transaction { db in
            let now = try BinRows(db: db).settings(space.bounds, at: seconds).days.days
            let isShorter = days ?? space.bounds.binTime / 86_400 < now
            guard mayShorten || !isShorter else { return false }
            if isShorter {
                // The expressions see the former values (sqlite.org/lang_update.html).
                let update = try db.statement(
                    """
                    UPDATE book SET binDays = iif(binDaysAt <= ?1, binDaysNext, binDays), binDaysNext = ?2, binDaysAt = ?3
                    """)
                try update.bind(1, seconds).bind(2, days).bind(3, seconds + SpaceBounds.binDelay).run()
            } else {
                try db.statement("UPDATE book SET binDays = ?, binDaysNext = NULL, binDaysAt = NULL").bind(1, days)
                    .run()
            }
            _ = try expire(db, at: seconds)
            return true
        }
    }

    /// - Returns: whether something left the bin.
    func expireBin(at seconds: Int64) throws -> Bool { try transaction { try expire($0, at: seconds) } }

    private func expire(_ db: Database, at seconds: Int64) throws(StoreError) -> Bool {
        let rows = BinRows(db: db)
        let days = try rows.settings(space.bounds, at: seconds).days.days
        if days > 0 { return try rows.expire(before: seconds - days * 86_400) }
        guard try db.statement("SELECT 1 FROM binSave LIMIT 1").hasRow() else { return false }
        try rows.empty()
        return true
    }

    func emptyBin() throws { try transaction { try BinRows(db: $0).empty() } }

    /// See ``ContactsStore/removeFromBin(_:)``.
    func removeFromBin(_ record: RecordNumber) throws -> Int {
        try transaction { try BinRows(db: $0).removeContents(of: record) }
    }
}
