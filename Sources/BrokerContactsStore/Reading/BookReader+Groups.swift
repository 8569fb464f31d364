import BrokerModel
import BrokerSQLite

extension BookReader {
    /// Groups in the order in which they were made.
    ///
    /// - Parameter owner: those of this app alone; nobody else's are looked at.
    func groups(of owner: [UInt8]?) throws(StoreError) -> [StoredGroup] {
        try onConnection { connection in
            try connection.inOneRead {
                let statement = try connection.statement(owner == nil ? ReadSQL.groups : ReadSQL.groupsOfOwner)
                if let owner { statement.bind(1, owner) }
                defer { statement.reset() }
                var groups: [StoredGroup] = []
                while try statement.step() { groups.append(try connection.group(statement)) }
                return groups
            }
        }
    }

    func group(_ record: RecordNumber) throws(StoreError) -> StoredGroup? {
        try onConnection { connection in
            try connection.inOneRead {
                let statement = try connection.statement(ReadSQL.group)
                statement.bind(1, record.rawValue)
                defer { statement.reset() }
                return try statement.step() ? connection.group(statement) : nil
            }
        }
    }

    /// Members of a group. Within some records, each of those is looked at and nobody else.
    func members(
        of group: RecordNumber, within scope: RecordScope, after place: RecordNumber?, limit: Int
    ) throws(StoreError) -> [RecordNumber] {
        try onConnection { connection in
            try connection.inOneRead {
                var members: [RecordNumber] = []
                switch scope {
                case .all:
                    let statement = try connection.statement(ReadSQL.members)
                    statement.bind([
                        .integer(group.rawValue), .integer(place?.rawValue ?? .min), .integer(Int64(limit)),
                    ])
                    defer { statement.reset() }
                    while try statement.step() { members.append(RecordNumber(statement.integer(0))) }
                case .only(let records):
                    let statement = try connection.statement(ReadSQL.member)
                    statement.bind(1, group.rawValue)
                    let rest = place.map { place in records.filter { $0 > place } } ?? records
                    for record in rest.sorted() where members.count < limit {
                        statement.bind(2, record.rawValue)
                        if try statement.step() { members.append(record) }
                        statement.reset()
                    }
                }
                return members
            }
        }
    }

    /// The owner's own card.
    func me() throws(StoreError) -> RecordNumber? {
        try onConnection { connection in
            let statement = try connection.statement(ReadSQL.me)
            defer { statement.reset() }
            return try statement.step() ? statement.record(0) : nil
        }
    }

    /// The containers beside the one that every book has, in the order in which they were made.
    func containers() throws(StoreError) -> [StoredContainer] {
        try onConnection { connection in
            let statement = try connection.statement(ReadSQL.containers)
            defer { statement.reset() }
            var containers: [StoredContainer] = []
            while try statement.step() {
                containers.append(
                    StoredContainer(record: RecordNumber(statement.integer(0)), name: statement.text(1)))
            }
            return containers
        }
    }

    /// `nil` for the one that every book has, and where there is no such contact.
    func container(ofContact record: RecordNumber) throws(StoreError) -> RecordNumber? {
        try onConnection { connection in
            let statement = try connection.statement(ReadSQL.containerOfContact)
            statement.bind(1, record.rawValue)
            defer { statement.reset() }
            return try statement.step() ? statement.record(0) : nil
        }
    }

    /// The app that added a contact; `nil` where there is no such contact.
    func maker(of record: RecordNumber) throws(StoreError) -> [UInt8]? {
        try onConnection { connection in
            let statement = try connection.statement(ReadSQL.maker)
            statement.bind(1, record.rawValue)
            defer { statement.reset() }
            return try statement.step() ? statement.bytes(0) : nil
        }
    }

    /// The number of the last change that can be seen, of those after another one; `nil`: there is none.
    func lastChange(after number: Int64, in scope: ChangeScope) throws(StoreError) -> Int64? {
        try onConnection { connection in
            try connection.inOneRead {
                let hidden = BookChange.Kind.hidden(from: scope.keys)
                let seen: [Binding] = [
                    .integer(number), .integer(Int64(bitPattern: scope.keys.rawValue)), .integer(hidden.lowerBound),
                    .integer(hidden.upperBound),
                ]
                guard case .only(let records) = scope.records else {
                    let statement = try connection.statement(ReadSQL.lastChange)
                    statement.bind(seen)
                    defer { statement.reset() }
                    return try statement.step() ? statement.integer(0) : nil
                }
                var last: Int64?
                let statement = try connection.statement(ReadSQL.changesOfRecord)
                statement.bind(seen, from: 2)
                for record in records {
                    statement.bind(1, record.rawValue)
                    defer { statement.reset() }
                    while try statement.step() {
                        // A link to a card that cannot be seen is none.
                        guard !statement.isLink || records.contains(RecordNumber(statement.integer(1))) else {
                            continue
                        }
                        last = max(last ?? 0, statement.integer(0))
                        break
                    }
                }
                guard let owner = scope.groupOwner else {
                    return try connection.lastChangeOfGroups(after: max(number, last ?? 0), with: records) ?? last
                }
                let groups = try connection.statement(ReadSQL.changesOfOwner)
                groups.bind([.bytes(owner), .integer(max(number, last ?? 0))])
                defer { groups.reset() }
                while try groups.step() {
                    // A member that cannot be seen came or went for nobody.
                    guard groups.isNull(1) || !groups.isMember || records.contains(RecordNumber(groups.integer(1)))
                    else { continue }
                    return groups.integer(0)
                }
                return last
            }
        }
    }
}

extension PreparedStatement {
    /// The record that a column names, or `nil`.
    func record(_ column: Int32) -> RecordNumber? { isNull(column) ? nil : RecordNumber(integer(column)) }

    /// Whether the change of ``ReadSQL/changesOfOwner`` at hand is of a contact in a group.
    fileprivate var isMember: Bool {
        switch BookChange.Kind(rawValue: integer(2)) {
        case .addMember, .removeMember: true
        case .addContact, .updateContact, .deleteContact, .addGroup, .updateGroup, .deleteGroup, .addSubgroup,
            .removeSubgroup, .link, .unlink, .linkByEvidence, .unlinkByEvidence, .linkByHand, .unlinkByHand, nil:
            false
        }
    }

    /// Whether the change of ``ReadSQL/changesOfRecord`` at hand is of a link.
    fileprivate var isLink: Bool { BookChange.Kind(rawValue: integer(2))?.isOfLinks ?? false }
}

extension BookReader.Connection {
    /// The last change of any group, as far as it is about these contacts: each of them is asked for, and nobody else in a group is
    /// looked at.
    fileprivate func lastChangeOfGroups(
        after number: Int64, with records: Set<RecordNumber>
    ) throws -> Int64? {
        var last: Int64?
        let groups = try statement(ReadSQL.changesOfGroups)
        groups.bind(1, number)
        defer { groups.reset() }
        if try groups.step() { last = groups.integer(0) }
        let members = try statement(ReadSQL.changesOfMember)
        for record in records {
            members.bind([.integer(record.rawValue), .integer(last ?? number)])
            defer { members.reset() }
            if try members.step() { last = members.integer(0) }
        }
        return last
    }

    fileprivate func group(_ statement: PreparedStatement) throws -> StoredGroup {
        let record = RecordNumber(statement.integer(0))
        let parents = try self.statement(ReadSQL.parents)
        parents.bind(1, record.rawValue)
        defer { parents.reset() }
        var found: [RecordNumber] = []
        while try parents.step() { found.append(RecordNumber(parents.integer(0))) }
        return StoredGroup(
            record: record, name: statement.text(1), owner: statement.bytes(2), container: statement.record(3),
            parents: found)
    }
}
