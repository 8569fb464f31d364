@_spi(StoredBytes) import BrokerModel
import BrokerSQLite

/// Finds the changes that take back what a group of an app's saves did. A record that was changed several times is taken
/// back to what it was before the first of them.
///
/// Everything is compared with the book as it is, so what was taken back before needs no change.
struct InversePlan {
    /// What a group of saves changed, as it was before the first of them.
    struct Entry {
        let state: FormerState
        /// The last row of the group about the same subject.
        var last: Int64
        /// Whether one of the saves deleted the contact.
        var deletes: Bool
    }

    /// The size of changed values, in bytes, after which no further change is taken.
    private static let mostBytes = 4 * 1_048_576

    let db: Database
    let group: String
    let seen: ChangeScope
    let isForced: Bool
    private let limit: Int
    private let contacts: ContactWriter
    private(set) var entries: [Entry] = []
    /// The contacts that the group added, and the groups.
    private var added: [ClosedRange<Int64>] = []
    private var addedGroups: Set<RecordNumber> = []
    var made: InverseSave
    private var bytes = 0

    /// - Returns: `nil` if the bin has nothing of such a group of this app.
    init?(
        _ db: Database, _ contacts: ContactWriter, _ group: String, seen: ChangeScope, isForced: Bool, limit: Int
    ) throws {
        (self.db, self.contacts, self.group, self.seen) = (db, contacts, group, seen)
        (self.isForced, self.limit) = (isForced, limit)
        made = InverseSave(asOf: try db.lastChange())
        try read()
        guard !entries.isEmpty else { return nil }
        try plan()
    }

    private mutating func read() throws {
        let select = try db.statement(
            """
            SELECT binItem.number, subject, record, member, existed, former, save, flags, partial
            FROM binSave JOIN binItem ON save = binSave.number WHERE mark = ? AND groupToken = ? ORDER BY binItem.number
            """)
        var places: [BinSubject: [RecordNumber: [RecordNumber: Int]]] = [:]
        let rows = try select.bind(1, seen.app).bind(2, group).all { row -> (FormerState, Bool, Bool)? in
            guard let subject = BinSubject(rawValue: row.integer(1)) else { return nil }
            let state = FormerState(
                item: row.integer(0), subject: subject, record: RecordNumber(row.integer(2)),
                member: RecordNumber(row.integer(3)), existed: row.integer(4) != 0, former: row.record(5),
                save: row.integer(6), mark: seen.app, place: row.integer(0))
            return (state, subject == .contact && row.integer(7) & 2 != 0, row.integer(8) != 0)
        }
        for case let (state, deletes, isPartial)? in rows {
            if isPartial { made.isPartial = true }
            if let place = places[state.subject]?[state.record]?[state.member] {
                entries[place].last = state.place
                if deletes { entries[place].deletes = true }
            } else {
                places[state.subject, default: [:]][state.record, default: [:]][state.member] = entries.count
                entries.append(Entry(state: state, last: state.place, deletes: deletes))
            }
            if let numbers = state.addedNumbers { added.append(numbers) }
            if state.subject == .group, !state.existed { addedGroups.insert(state.record) }
        }
    }

    // MARK: Taking changes

    func isSeen(_ contact: RecordNumber) -> Bool { seen.records.contains(contact) }

    /// Takes a change unless there is no room.
    mutating func take(_ change: ContactChange, bytes: Int = 0) {
        let fits = limit == .max || self.bytes + bytes <= Self.mostBytes || made.changes.isEmpty
        guard !made.hasMore, made.changes.count < limit, fits else { return made.hasMore = true }
        self.bytes += bytes
        guard limit == .max else { return made.changes.append(change) }
        // Only the number of changes is wanted, which could be too many to keep their values.
        switch change {
        case .update(let record, _, let keys): made.changes.append(.update(record, Contact(), keys: keys))
        case .putBack(let former):
            let kind = former.contact == nil ? former.kind : .contact(.empty)
            made.changes.append(.putBack(FormerRecords(kind: kind, records: former.records, steps: [])))
        default: made.changes.append(change)
        }
    }

    /// Whether the group added a contact.
    func isAdded(_ contact: RecordNumber) -> Bool { added.contains { $0.contains(contact.rawValue) } }

    /// Something stays, and the app must not learn why.
    mutating func miss() { made.isPartial = true }

    /// What comes back is there before anything refers to it, and what goes is the last.
    private mutating func plan() throws {
        for entry in entries where entry.state.subject == .container && entry.state.existed {
            try planContainer(entry.state)
        }
        for entry in entries where entry.state.subject == .contact && entry.state.existed && !made.hasMore {
            if !isAdded(entry.state.record) { try plan(contact: entry) }
        }
        for entry in entries where entry.state.subject == .group && entry.state.existed && !made.hasMore {
            if !addedGroups.contains(entry.state.record) { try plan(group: entry) }
        }
        let groups = made.changes.reduce(into: Set<RecordNumber>()) { groups, change in
            if case .putBack(let former) = change, case .group = former.kind { groups.formUnion(former.records) }
        }
        try planRelations(with: made.changes.returnedContacts, groups, leavingOut: addedGroups)
        for group in entries where group.state.subject == .group && addedGroups.contains(group.state.record) {
            try planRemoval(ofGroup: group)
        }
        try planRemovals()
        for entry in entries where entry.state.subject == .container && !entry.state.existed {
            try planRemoval(ofContainer: entry.state.record)
        }
    }

    // MARK: Contacts

    /// What a contact was after the group's last save.
    private enum After {
        /// As it is now.
        case unchanged
        case contact(Contact)
        /// The bin has it no more.
        case unknown
    }

    private func after(_ record: RecordNumber, _ last: Int64) throws(StoreError) -> After {
        let select = try db.statement(
            "SELECT number, existed FROM binItem WHERE subject = 1 AND record = ? AND number > ? ORDER BY number LIMIT 1"
        )
        let later = try select.bind(1, record.rawValue).bind(2, last).first { ($0.integer(0), $0.integer(1) == 1) }
        guard case (let item, true)? = later else { return .unchanged }
        let former = try FormerContact.read(item, record, db).flatMap { Contact($0.card) }
        return former.map { .contact($0) } ?? .unknown
    }

    /// Returns the photo that a contact had after a row of the bin, in base64; `nil` if it had none.
    ///
    /// - Parameter contact: the contact as it was then.
    private func photo(of record: RecordNumber, in contact: Contact, from item: Int64) throws(StoreError) -> [UInt8]? {
        guard contact.imageDataAvailable else { return nil }
        if let photo = try FormerContact.photo(item, record, db) { return photo.image }
        return try db.statement("SELECT imageData FROM image WHERE record = ?").bind(1, record.rawValue)
            .first { $0.bytesOrNil(0) } ?? nil
    }

    /// Returns the contact as it is; `nil` if it is damaged.
    private func present(_ record: RecordNumber) throws(StoreError) -> Contact? {
        do throws(StoreError) {
            return try contacts.contact(record.rawValue, .all).flatMap { Contact($0.stored) }
        } catch {
            guard case .damagedCard = error else { throw error }
            return nil
        }
    }

    private mutating func noteMaker(_ record: RecordNumber) throws(StoreError) {
        let isOwn = try db.statement("SELECT 1 FROM contact WHERE record = ? AND maker = ?").bind(1, record.rawValue)
            .bind(2, seen.app).hasRow()
        if isOwn { made.ownContacts.insert(record) }
    }

    private mutating func plan(contact entry: Entry) throws {
        let record = entry.state.record
        guard let item = entry.state.item, let former = try FormerContact.read(item, record, db) else { return miss() }
        guard try db.hasContact(record) else {
            // If somebody else deleted it, somebody else meant it.
            guard entry.deletes, try !isChangedByOthers(.contact, record, after: entry.last) else { return miss() }
            let back = FormerRecords(kind: .contact(former.card), records: [record], steps: [entry.state])
            return take(.putBack(back), bytes: former.card.bytes.count)
        }
        guard !entry.deletes else { return }
        guard isSeen(record), let now = try present(record), let before = Contact(former.card) else { return miss() }
        var after = now
        switch try self.after(record, entry.last) {
        case .unchanged: break
        case .contact(let contact): after = contact
        case .unknown: return miss()
        }
        let changed = after.keys(differingFrom: before, of: seen.keys.subtracting(.images))
        var keys = now.keys(differingFrom: before, of: changed)
        var isConflict = now.keys(differingFrom: after, of: changed) != []
        var patch = before
        if seen.keys.contains(.imageData) {
            let former = try photo(of: record, in: before, from: item)
            let later = try photo(of: record, in: after, from: entry.last + 1)
            let present = try photo(of: record, in: now, from: .max)
            if former != later, present != former {
                guard before.imageDataAvailable == (former != nil) else { return miss() }
                patch.imageData = former.map { String(decoding: $0, as: UTF8.self) } ?? ""
                keys.formUnion(ContactKeySet(.imageData))
                if present != later { isConflict = true }
            }
        }
        guard keys != [] else { return }
        guard isForced || !isConflict else { return made.conflicts.append(record) }
        try noteMaker(record)
        take(.update(record, patch, keys: keys), bytes: former.card.bytes.count + patch.imageData.utf8.count)
    }

    private mutating func planRemovals() throws {
        var last: [RecordNumber: Int64] = [:]
        for entry in entries where entry.state.subject == .contact { last[entry.state.record] = entry.last }
        for entry in entries where !entry.state.existed && !made.hasMore {
            switch entry.state.subject {
            case .added:
                let records = try db.statement("SELECT record FROM contact WHERE record BETWEEN ? AND ?")
                    .bind(1, entry.state.record.rawValue).bind(2, entry.state.member.rawValue).records()
                for record in records where !made.hasMore {
                    try planRemoval(of: record, last: max(entry.last, last[record] ?? 0))
                }
            case .contact:
                guard try db.hasContact(entry.state.record) else { continue }
                try planRemoval(of: entry.state.record, last: entry.last)
            default: continue
            }
        }
    }

    /// A contact that the group added goes, unless it was changed since.
    private mutating func planRemoval(of record: RecordNumber, last: Int64) throws {
        guard isSeen(record) else { return miss() }
        if !isForced {
            switch try after(record, last) {
            case .unchanged: break
            case .unknown: return miss()
            case .contact(let after):
                guard let now = try present(record) else { return miss() }
                var changed = now.keys(differingFrom: after, of: ContactKeySet.all.subtracting(.images))
                if try photo(of: record, in: after, from: last + 1) != photo(of: record, in: now, from: .max) {
                    changed.formUnion(ContactKeySet(.imageData))
                }
                guard changed.isDisjoint(with: seen.keys) else { return made.conflicts.append(record) }
                guard changed == [] else { return miss() }
            }
        }
        try noteMaker(record)
        take(.delete(record))
    }

    // MARK: Others' changes

    /// Whether another author has changed a subject since.
    func isChangedByOthers(_ subject: BinSubject, _ record: RecordNumber, after last: Int64) throws(StoreError) -> Bool
    {
        try db.statement(
            """
            SELECT 1 FROM binItem JOIN binSave ON binSave.number = save
            WHERE subject = ? AND record = ? AND binItem.number > ? AND mark <> ? LIMIT 1
            """
        )
        .bind(1, subject.rawValue).bind(2, record.rawValue).bind(3, last).bind(4, seen.app).hasRow()
    }
}
