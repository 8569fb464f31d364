import BrokerModel
import BrokerSQLite

/// Which saves of the bin are listed.
public struct BinQuery: Hashable, Sendable {
    /// Only those of this app; `nil` for all.
    public var app: String?
    /// Only those of apps at this strength; `nil` for all.
    public var strength: String?
    /// Only those since this time, in seconds since 1970.
    public var since: Int64 = 0
    /// Only those before the save with this number; `nil` begins with the newest.
    public var before: Int64?
    /// The maximum number of saves.
    public var limit = 100

    public init() {}
}

/// A contact that a save of the bin added, changed or deleted.
public struct BinContact: Hashable, Sendable {
    public enum Change: Hashable, Sendable { case added, changed, deleted }

    public let record: RecordNumber
    public let change: Change
    /// The contact as it was before the save, or for an added contact as it is now; `nil` if the bin or the book has it no
    /// more.
    public let contact: StoredContact?
}

/// Reads the bin. No other connection writes, so several statements see one state.
struct BinReader {
    let db: Database

    /// Returns saves, the newest first.
    func saves(_ query: BinQuery) throws(StoreError) -> [BinSave] {
        let select = try db.statement(
            """
            SELECT number, kind, time, app, strength, added, changed, deleted,
                (SELECT count(*) FROM binItem WHERE save = binSave.number AND subject NOT IN (1, 9)) FROM binSave
            WHERE (?1 IS NULL OR app = ?1) AND (?5 IS NULL OR strength = ?5) AND time >= ?2 AND number < ?3
            ORDER BY number DESC LIMIT ?4
            """)
        return try select.bind(1, query.app).bind(2, query.since).bind(3, query.before ?? .max)
            .bind(4, Int64(query.limit)).bind(5, query.strength).all { row in
                BinSave(
                    number: row.integer(0), kind: BinSave.Kind(rawValue: row.integer(1)) ?? .save, time: row.integer(2),
                    author: SaveAuthor(app: row.text(3), strength: row.text(4)), added: Int(row.integer(5)),
                    changed: Int(row.integer(6)), deleted: Int(row.integer(7)), others: Int(row.integer(8)))
            }
    }

    /// Returns an app's groups of saves, the last one first.
    func groups(of mark: [UInt8], limit: Int) throws(StoreError) -> [ListedSaveGroup] {
        let select = try db.statement(
            """
            SELECT made.groupToken, label, takesBack, began, made.added, made.changed, made.deleted, done FROM (
                SELECT groupToken, min(number) AS first, max(number) AS last, min(time) AS began, sum(added) AS added,
                    sum(changed) AS changed, sum(deleted) AS deleted, min(takenBack) AS done
                FROM binSave WHERE mark = ? AND groupToken IS NOT NULL GROUP BY groupToken ORDER BY last DESC LIMIT ?
            ) AS made JOIN binSave ON number = first ORDER BY last DESC
            """)
        return try select.bind(1, mark).bind(2, Int64(limit)).all { row in
            ListedSaveGroup(
                group: SaveGroup(token: row.text(0), label: row.text(1), takesBack: row.textOrNil(2)),
                time: row.integer(3), added: Int(row.integer(4)), changed: Int(row.integer(5)),
                deleted: Int(row.integer(6)), isTakenBack: row.integer(7) != 0)
        }
    }

    /// Returns the first contacts that a save changed.
    func contacts(of save: Int64, limit: Int) throws(StoreError) -> [BinContact] {
        let select = try db.statement(
            """
            SELECT number, subject, record, member, existed, flags FROM binItem WHERE save = ? AND subject IN (1, 9)
            ORDER BY number LIMIT ?
            """)
        let rows = try select.bind(1, save).bind(2, Int64(limit)).all { row in (0..<6).map { row.integer($0) } }
        var contacts: [BinContact] = []
        for row in rows where contacts.count < limit {
            let record = RecordNumber(row[2])
            if row[1] == BinSubject.contact.rawValue, row[4] == 1 {
                let former = try FormerContact.read(row[0], record, db)
                contacts.append(
                    BinContact(record: record, change: row[5] & 2 == 0 ? .changed : .deleted, contact: former?.card))
            } else {
                let last = row[1] == BinSubject.contact.rawValue ? row[2] : row[3]
                contacts += try added(row[2]...max(row[2], last), limit: limit - contacts.count)
            }
        }
        return contacts
    }

    /// Returns contacts as they are, or else as their last row has them.
    func names(of records: [RecordNumber]) throws(StoreError) -> [RecordNumber: StoredContact] {
        let select = try db.statement(
            "SELECT max(number) FROM binItem WHERE subject = 1 AND record = ? AND existed = 1")
        var found: [RecordNumber: StoredContact] = [:]
        for record in records {
            if let now = try added(record.rawValue...record.rawValue, limit: 1).first?.contact {
                found[record] = now
            } else if let item = try select.bind(1, record.rawValue).first({ $0.integerOrNil(0) }) {
                found[record] = try FormerContact.read(item, record, db)?.card
            }
        }
        return found
    }

    private func added(_ records: ClosedRange<Int64>, limit: Int) throws(StoreError) -> [BinContact] {
        let select = try db.statement(
            "SELECT stored, checksum, apart, record FROM contact WHERE record BETWEEN ? AND ? ORDER BY record LIMIT ?")
        return try select.bind(1, records.lowerBound).bind(2, records.upperBound).bind(3, Int64(limit))
            .all { row throws(StoreError) in
                let record = row.integer(3)
                let contact = try StoredCard.read(row, from: 0, record: record, .all.subtracting(.named), db)
                return BinContact(record: RecordNumber(record), change: .added, contact: contact)
            }
    }
}
