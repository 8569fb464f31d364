import BrokerModel
import BrokerSQLite

extension BookWriter {
    /// - Parameters:
    ///   - records: the contacts whose changes are returned.
    ///   - owner: if `records` is restricted, the result also contains the changes of this app's groups. With
    ///     `nil`, it contains those changes of all groups that concern no contact or one of `records`.
    func changes(
        after first: Int64, through last: Int64, of records: RecordScope, groupsOf owner: [UInt8]?
    ) throws(StoreError) -> [BookChange] {
        // No other connection writes, so several statements see one state.
        let read = { (condition: String, index: String?) throws(StoreError) in
            try self.database.statement(Self.sql(condition, index)).bind(1, first).bind(2, last)
        }
        guard case .only(let records) = records else {
            return try read("number > ?1 AND number <= ?2 ORDER BY number", nil).all(Self.change)
        }
        // The unary plus keeps SQLite from scanning the changes of all records by number.
        let within = "+number > ?1 AND +number <= ?2"
        var changes: [BookChange] = []
        let ofRecord = try read("record = ?3 AND \(within)", nil)
        for record in records { changes += try ofRecord.bind(3, record.rawValue).all(Self.change) }
        if let owner {
            changes += try read("owner = ?3 AND \(within)", nil).bind(3, owner).all(Self.change)
        } else {
            let ofGroups = try read("\(Schema.isOfGroups) AND number > ?1 AND number <= ?2", "changeOfGroups")
            changes += try ofGroups.all(Self.change)
            let ofMember = try read("member = ?3 AND \(Schema.isOfMembers) AND \(within)", "changeByMember")
            for record in records { changes += try ofMember.bind(3, record.rawValue).all(Self.change) }
        }
        return changes.sorted { $0.number < $1.number }
    }

    /// Throws if one of the records that these changes concern has changed since the change with this number.
    func check(_ changes: [ContactChange], areUnchangedSince seen: Int64) throws {
        let records = changes.records
        let made = try self.changes(after: seen, through: .max, of: .all, groupsOf: nil)
        guard !made.contains(where: { $0.concerns(records) }) else { throw ChangeError.changedMeanwhile }
    }

    private static func sql(_ condition: String, _ index: String?) -> String {
        """
        SELECT number, kind, record, member, keys, owner, app, name FROM change \(index.map { "INDEXED BY \($0)" } ?? "")
        JOIN author ON author.id = change.author WHERE \(condition)
        """
    }

    private static func change(_ row: PreparedStatement) throws(StoreError) -> BookChange {
        guard let kind = BookChange.Kind(rawValue: row.integer(1)) else {
            throw .damaged(reason: "a change cannot be read")
        }
        return BookChange(
            number: row.integer(0), kind: kind, record: RecordNumber(row.integer(2)), member: row.record(3),
            keys: ContactKeySet(rawValue: UInt64(bitPattern: row.integer(4))), owner: row.bytesOrNil(5),
            author: ChangeAuthor(app: row.bytes(6), name: row.text(7)))
    }
}
