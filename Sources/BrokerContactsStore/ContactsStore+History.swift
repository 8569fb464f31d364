import BrokerModel
import BrokerSQLite

extension ContactsStore {
    /// Returns the changes whose numbers are greater than `first` and at most `last`, in order. Not for the
    /// event loop.
    ///
    /// - Parameters:
    ///   - records: the contacts whose changes are returned. They may include contacts that have left the
    ///     reader's scope.
    ///   - owner: if `records` is restricted, the result also contains the changes of this app's groups. With
    ///     `nil`, it contains those changes of all groups that concern no contact or one of `records`.
    public func changes(
        after first: Int64, through last: Int64, of records: RecordScope, groupsOf owner: [UInt8]?
    ) throws(StoreError) -> [BookChange] {
        try write { try $0.changes(after: first, through: last, of: records, groupsOf: owner) }
    }

    /// Returns the number of the last change after `number` that is visible in the scope; `nil` if there is
    /// none.
    public func lastChange(
        after number: Int64, in scope: ChangeScope, _ manner: ReadingManner = .whole
    ) throws(StoreError) -> Int64? {
        try read(manner) { try $0.lastChange(after: number, in: scope) }
    }

    /// Whether finding the last change in a scope takes too long for the event loop. The search looks up each
    /// record of the scope.
    public func isLong(_ scope: ChangeScope) -> Bool {
        guard case .only(let records) = scope.records else { return false }
        return stepsOnLoop == 0 || records.count > ContactQuery.mostOnLoop
    }

    /// Returns the groups in the order of their creation; with an owner, only that app's groups.
    public func groups(of owner: [UInt8]?) throws(StoreError) -> [StoredGroup] {
        try read { reader in
            try reader.inOneRead {
                guard let owner else { return try reader.statement(ReadSQL.groups).all(reader.storedGroup) }
                return try reader.statement(ReadSQL.groupsOfOwner).bind(1, owner).all(reader.storedGroup)
            }
        }
    }

    /// - Parameter owner: the app whose groups are read; `nil` reads all groups. Groups of other apps are not
    ///   looked up, so that the time does not reveal whether one exists.
    public func group(_ record: RecordNumber, of owner: [UInt8]?) throws(StoreError) -> StoredGroup? {
        try read { reader in
            try reader.inOneRead {
                let statement = try reader.statement(owner == nil ? ReadSQL.group : ReadSQL.groupOfOwner)
                guard let owner else { return try statement.bind(1, record.rawValue).first(reader.storedGroup) }
                return try statement.bind(1, owner).bind(2, record.rawValue).first(reader.storedGroup)
            }
        }
    }

    /// Returns the contacts in a group in ascending order, without those of its subgroups.
    ///
    /// - Parameters:
    ///   - place: the contact after which to continue; `nil` starts at the beginning.
    ///   - limit: the maximum number of contacts to return.
    public func members(
        of group: RecordNumber, within scope: RecordScope, after place: RecordNumber? = nil, limit: Int = .max
    ) throws(StoreError) -> [RecordNumber] {
        try read { try $0.members(of: group, within: scope, after: place, limit: limit) }
    }

    /// Returns all containers except the default one, in the order of their creation.
    public func containers() throws(StoreError) -> [StoredContainer] {
        try read {
            try $0.statement(ReadSQL.containers).all {
                StoredContainer(record: RecordNumber($0.integer(0)), name: $0.text(1))
            }
        }
    }

    /// Returns a contact's container; `nil` for the default container, or if there is no such contact.
    public func container(ofContact record: RecordNumber) throws(StoreError) -> RecordNumber? {
        try read { try $0.statement(ReadSQL.containerOfContact).bind(1, record.rawValue).first { $0.record(0) } }
    }

    /// Returns the app that added a contact, as ``ChangeAuthor/app``; empty if it is unknown, and `nil` if
    /// there is no such contact.
    public func maker(of record: RecordNumber) throws(StoreError) -> [UInt8]? {
        try read { try $0.statement(ReadSQL.maker).bind(1, record.rawValue).first { $0.bytes(0) } }
    }

    /// Returns those of the given contacts that an app has added since a time, in seconds since 1970. Do not call this on the
    /// event loop.
    public func contacts(
        among records: Set<RecordNumber>, addedBy app: [UInt8], since time: Int64
    ) throws(StoreError) -> Set<RecordNumber> {
        try read(.onWorker) { reader in
            try records.filter { record in
                try reader.statement(ReadSQL.addition).bind(1, record.rawValue).bind(2, time).bind(3, app).hasRow()
            }
        }
    }

    /// Returns the contacts that an app added. Reads the whole table, so it is not for the event loop.
    public func contacts(madeBy app: [UInt8]) throws(StoreError) -> [RecordNumber] {
        try read {
            try $0.statement("SELECT record FROM contact WHERE maker = ?").bind(1, app).all {
                RecordNumber($0.integer(0))
            }
        }
    }

    /// Returns the owner's own card; `nil` if none is set.
    public func me() throws(StoreError) -> RecordNumber? {
        try read { try $0.statement(ReadSQL.me).first { $0.record(0) } }
    }
}
