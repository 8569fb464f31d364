import BrokerModel
import BrokerSQLite

extension BookReader {
    func storedGroup(_ row: PreparedStatement) throws(StoreError) -> StoredGroup {
        let record = RecordNumber(row.integer(0))
        return StoredGroup(
            record: record, name: row.text(1), owner: row.bytes(2), container: row.record(3),
            isConfirmed: row.integer(4) != 0,
            parents: try statement(ReadSQL.parents).bind(1, record.rawValue).records())
    }

    /// Returns members of a group. If the scope is restricted, looks up only its records.
    func members(
        of group: RecordNumber, within scope: RecordScope, after place: RecordNumber?, limit: Int
    ) throws -> [RecordNumber] {
        try inOneRead {
            switch scope {
            case .all:
                return try statement(ReadSQL.members).bind(1, group.rawValue).bind(2, place?.rawValue ?? .min)
                    .bind(3, Int64(limit)).records()
            case .only(let records):
                let statement = try statement(ReadSQL.member).bind(1, group.rawValue)
                let rest = place.map { place in records.filter { $0 > place } } ?? records
                var members: [RecordNumber] = []
                for record in rest.sorted() where members.count < limit {
                    if try statement.bind(2, record.rawValue).hasRow() { members.append(record) }
                }
                return members
            }
        }
    }

    /// Returns the number of the last change after `number` that is visible in the scope; `nil` if there is
    /// none.
    func lastChange(after number: Int64, in scope: ChangeScope) throws -> Int64? {
        try inOneRead {
            let hidden = BookChange.Kind.hidden(from: scope.keys)
            let seen: [Binding] = [
                .integer(number), .integer(Int64(bitPattern: scope.keys.rawValue)), .integer(hidden.lowerBound),
                .integer(hidden.upperBound),
            ]
            guard case .only(let records) = scope.records else {
                return try statement(ReadSQL.lastChange).bind(seen).first { $0.integer(0) }
            }
            var last: Int64?
            let ofRecord = try statement(ReadSQL.changesOfRecord).bind(seen, from: 2)
            for record in records {
                // A link to a hidden card is hidden too.
                let found = try ofRecord.bind(1, record.rawValue).firstChange { kind, member in
                    kind?.isOfLinks != true || member.map(records.contains) ?? false
                }
                if let found { last = max(last ?? 0, found) }
            }
            guard let owner = scope.groupOwner else {
                return try lastChangeOfGroups(after: max(number, last ?? 0), with: records) ?? last
            }
            // A change of a hidden contact's membership is hidden too.
            let ofOwner = try statement(ReadSQL.changesOfOwner).bind(1, owner).bind(2, max(number, last ?? 0))
            return try ofOwner.firstChange { kind, member in
                kind != .addMember && kind != .removeMember || member.map(records.contains) ?? true
            } ?? last
        }
    }

    /// Returns the number of the last change to a group after `number`, counting only changes that concern no
    /// contact or one of these contacts. Looks up only these contacts.
    private func lastChangeOfGroups(after number: Int64, with records: Set<RecordNumber>) throws -> Int64? {
        var last = try statement(ReadSQL.changesOfGroups).bind(1, number).first { $0.integer(0) }
        let ofMember = try statement(ReadSQL.changesOfMember)
        for record in records {
            last = try ofMember.bind(1, record.rawValue).bind(2, last ?? number).first { $0.integer(0) } ?? last
        }
        return last
    }
}

extension PreparedStatement {
    /// Returns the number of the first row of ``ReadSQL/changesOfRecord`` or ``ReadSQL/changesOfOwner`` that
    /// `counts` accepts; `nil` if there is none.
    fileprivate func firstChange(
        _ counts: (BookChange.Kind?, _ member: RecordNumber?) -> Bool
    ) throws(StoreError) -> Int64? {
        defer { reset() }
        while try step() {
            if counts(BookChange.Kind(rawValue: integer(2)), record(1)) { return integer(0) }
        }
        return nil
    }
}
