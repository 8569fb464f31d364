import BrokerModel
import BrokerSQLite

extension BookWriter {
    func lastChange() throws(StoreError) -> Int64 {
        try database.integer("SELECT lastChange FROM book") ?? 0
    }

    /// - Parameter records: all, or each of these and the groups of the owner, or everybody's, and nothing else.
    func changes(
        after first: Int64, through last: Int64, of records: RecordScope, groupsOf owner: [UInt8]?
    ) throws(StoreError) -> [BookChange] {
        // The writing connection sees one state for as long as it does not write.
        var changes: [BookChange] = []
        switch records {
        case .all:
            try Self.append(try PreparedStatement(Self.allChanges, on: database), first, last, to: &changes)
        case .only(let records):
            let ofRecord = try PreparedStatement(Self.changesOfRecord, on: database)
            for record in records {
                ofRecord.bind(3, record.rawValue)
                try Self.append(ofRecord, first, last, to: &changes)
            }
            if let owner {
                let ofOwner = try PreparedStatement(Self.changesOfOwner, on: database)
                ofOwner.bind(3, owner)
                try Self.append(ofOwner, first, last, to: &changes)
            } else {
                try Self.append(try PreparedStatement(Self.changesOfGroups, on: database), first, last, to: &changes)
                let ofMember = try PreparedStatement(Self.changesOfMember, on: database)
                for record in records {
                    ofMember.bind(3, record.rawValue)
                    try Self.append(ofMember, first, last, to: &changes)
                }
            }
            changes.sort { $0.number < $1.number }
        }
        return changes
    }

    private static let columns = """
        SELECT number, kind, record, member, keys, owner, app, name FROM change
        JOIN author ON author.id = change.author WHERE
        """
    private static func columns(by index: String) -> String {
        columns.replacing("FROM change", with: "FROM change INDEXED BY \(index)")
    }
    private static let allChanges = "\(columns) number > ?1 AND number <= ?2 ORDER BY number"
    // The plus keeps SQLite from going through the numbers of all records instead.
    private static let changesOfRecord = "\(columns) record = ?3 AND +number > ?1 AND +number <= ?2"
    private static let changesOfOwner = "\(columns) owner = ?3 AND +number > ?1 AND +number <= ?2"
    private static let changesOfGroups =
        "\(columns(by: "changeOfGroups")) \(Schema.isOfGroups) AND number > ?1 AND number <= ?2"
    private static let changesOfMember =
        "\(columns(by: "changeByMember")) member = ?3 AND \(Schema.isOfMembers) AND +number > ?1 AND +number <= ?2"

    private static func append(
        _ statement: PreparedStatement, _ first: Int64, _ last: Int64, to changes: inout [BookChange]
    ) throws(StoreError) {
        statement.bind(1, first)
        statement.bind(2, last)
        defer { statement.reset() }
        while try statement.step() {
            guard let kind = BookChange.Kind(rawValue: statement.integer(1)) else {
                throw .damaged(reason: "a change cannot be read")
            }
            changes.append(
                BookChange(
                    number: statement.integer(0), kind: kind, record: RecordNumber(statement.integer(2)),
                    member: statement.isNull(3) ? nil : RecordNumber(statement.integer(3)),
                    keys: ContactKeySet(rawValue: UInt64(bitPattern: statement.integer(4))),
                    owner: statement.isNull(5) ? nil : statement.bytes(5),
                    author: ChangeAuthor(app: statement.bytes(6), name: statement.text(7))))
        }
    }
}
