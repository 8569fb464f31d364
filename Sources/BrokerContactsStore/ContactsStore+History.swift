import BrokerModel
import BrokerSQLite

extension ContactsStore {
    /// How long changes are kept, in seconds.
    public static let historyRetention: Int64 = 30 * 86_400

    /// No change that is made at a time or later has a lower number: numbers are times in microseconds, or come after the last.
    public static func changeNumber(at seconds: Int64) -> Int64 {
        let (time, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? 0 : time
    }

    /// The changes after a number and up to another one, in their order. Not for the loop.
    ///
    /// - Parameters:
    ///   - records: of a scope of some records, those whose changes are looked for, whether or not they are still in it.
    ///   - owner: beside those of some records, the changes of this app's groups; `nil`: of everybody's, where they are about no
    ///     contact or about one of these.
    public func changes(
        after first: Int64, through last: Int64, of records: RecordScope, groupsOf owner: [UInt8]?
    ) throws(StoreError) -> [BookChange] {
        try write { try $0.changes(after: first, through: last, of: records, groupsOf: owner) }
    }

    /// The number of the last change that can be seen, of those after another one; `nil`: there is none.
    public func lastChange(
        after number: Int64, in scope: ChangeScope, _ manner: ReadingManner = .whole
    ) throws(StoreError) -> Int64? {
        try read(manner) { try $0.lastChange(after: number, in: scope) }
    }

    /// Whether the last change of a scope takes too long for the loop: each of its records is asked for.
    public func isLong(_ scope: ChangeScope) -> Bool {
        guard case .only(let records) = scope.records else { return false }
        return stepsOnLoop == 0 || records.count > ContactQuery.mostOnLoop
    }

    /// Groups in the order in which they were made; of an app, its own alone.
    public func groups(of owner: [UInt8]?) throws(StoreError) -> [StoredGroup] {
        try read { try $0.groups(of: owner) }
    }

    public func group(_ record: RecordNumber) throws(StoreError) -> StoredGroup? {
        try read { try $0.group(record) }
    }

    /// Contacts in a group in rising order, those in its subgroups not among them.
    ///
    /// - Parameters:
    ///   - place: goes on after this one.
    ///   - limit: most to give.
    public func members(
        of group: RecordNumber, within scope: RecordScope, after place: RecordNumber? = nil, limit: Int = .max
    ) throws(StoreError) -> [RecordNumber] {
        try read { try $0.members(of: group, within: scope, after: place, limit: limit) }
    }

    /// The containers beside the one that every book has, in the order in which they were made.
    public func containers() throws(StoreError) -> [StoredContainer] {
        try read {
            try $0.statement(ReadSQL.containers).all {
                StoredContainer(record: RecordNumber($0.integer(0)), name: $0.text(1))
            }
        }
    }

    /// `nil` for the one that every book has, and where there is no such contact.
    public func container(ofContact record: RecordNumber) throws(StoreError) -> RecordNumber? {
        try read { try $0.statement(ReadSQL.containerOfContact).bind(1, record.rawValue).first { $0.record(0) } }
    }

    /// The app that added a contact, as ``ChangeAuthor/app``; `nil` where there is no such contact.
    public func maker(of record: RecordNumber) throws(StoreError) -> [UInt8]? {
        try read { try $0.statement(ReadSQL.maker).bind(1, record.rawValue).first { $0.bytes(0) } }
    }

    /// The owner's own card; `nil` where none was named.
    public func me() throws(StoreError) -> RecordNumber? {
        try read { try $0.statement(ReadSQL.me).first { $0.record(0) } }
    }
}
