import BrokerBounds
@_spi(StoredBytes) import BrokerModel
import BrokerSQLite

/// Finds the changes that take back what a group of an app's saves did.
///
/// Everything is compared with the book as it is, so what was taken back before needs no change. What the app does not see is
/// left out before anything is compared.
struct InversePlan {
    /// A row of the bin.
    struct Row {
        let state: FormerState
        /// Whether the save deleted the contact.
        let deletes: Bool
        /// When the save was made, in seconds since 1970.
        let time: Int64
    }

    struct Subject: Hashable {
        let subject: BinSubject
        let record: RecordNumber
        var member = RecordNumber(0)
    }

    /// More rows of a group are not taken back.
    private static let mostRows: Int64 = 200_000
    /// The size of changed values, in bytes, after which no further change is taken.
    private static let mostBytes = 4 * 1_048_576

    let reader: BookReader
    let group: String
    let view: InverseView
    /// The maximum number of changes; `nil` if they are only counted.
    private let limit: Int?
    private(set) var rows: [Row] = []
    /// The rows of each subject, and the subjects in the order of their first rows.
    private(set) var places: [Subject: [Int]] = [:]
    private(set) var order: [Subject] = []
    /// The rows of the group's contacts.
    private var own: Set<Int64> = []
    /// The saves that deleted or returned each contact.
    private var replacing: [RecordNumber: Set<Int64>] = [:]
    /// The contacts that the group added, in ascending order, and its groups.
    private var added: [ClosedRange<Int64>] = []
    private(set) var addedGroups: Set<RecordNumber> = []
    /// The saves that added, renamed, deleted or returned groups.
    private(set) var savesOfGroups: Set<Int64> = []
    /// The contacts and groups that come back.
    var returned: Set<RecordNumber> = []
    var returnedGroups: Set<RecordNumber> = []
    /// For each contact and group that the group of saves deleted last, that save.
    var deletions: [RecordNumber: Int64] = [:]
    /// Whether more can be taken back once these changes are made.
    var again = false
    var made: InverseSave
    private var bytes = 0

    var db: Database { reader.database }

    /// - Returns: `nil` if the bin has nothing of such a group of this app.
    init?(_ reader: BookReader, _ group: String, _ view: InverseView, limit: Int?) throws {
        (self.reader, self.group, self.view, self.limit) = (reader, group, view, limit)
        made = InverseSave(asOf: try reader.database.lastChange())
        try read()
        guard !rows.isEmpty || made.isPartial else { return nil }
        try plan()
        if again { made.hasMore = true }
    }

    private mutating func read() throws {
        // What a restored backup replaced is not what these saves left.
        let restore =
            try db.statement("SELECT max(number) FROM binSave WHERE kind = 2").first { $0.integerOrNil(0) } ?? 0
        let select = try db.statement(
            """
            SELECT binItem.number, subject, record, member, existed, former, save, flags, partial, time
            FROM binSave JOIN binItem ON save = binSave.number WHERE mark = ? AND groupToken = ?
            ORDER BY binItem.number LIMIT ?
            """)
        let found = try select.bind(1, view.seen.app).bind(2, group).bind(3, Self.mostRows + 1)
            .all { row -> (row: Row, isPartial: Bool)? in
                guard let subject = BinSubject(rawValue: row.integer(1)) else { return nil }
                let state = FormerState(
                    item: row.integer(0), subject: subject, record: RecordNumber(row.integer(2)),
                    member: RecordNumber(row.integer(3)), existed: row.integer(4) != 0, former: row.record(5),
                    save: row.integer(6), mark: view.seen.app, place: row.integer(0))
                let deletes = subject == .contact && row.integer(7) & 2 != 0
                return (
                    Row(state: state, deletes: deletes, time: row.integer(9)),
                    row.integer(8) != 0 || state.save <= restore
                )
            }
        if found.count > Self.mostRows { miss() }
        for case let (row, isPartial)? in found.prefix(Int(Self.mostRows)) {
            if isPartial { miss() }
            guard row.state.save > restore else { continue }
            add(row)
        }
        added.sort { $0.lowerBound < $1.lowerBound }
    }

    private mutating func add(_ row: Row) {
        let state = row.state
        let subject = Subject(subject: state.subject, record: state.record, member: state.member)
        if let numbers = state.addedNumbers { added.append(numbers) }
        if state.subject == .contact {
            own.insert(state.place)
            if row.deletes || !state.existed { replacing[state.record, default: []].insert(state.save) }
        }
        if state.subject == .group { savesOfGroups.insert(state.save) }
        if places[subject] == nil {
            order.append(subject)
            if state.subject == .group, !state.existed { addedGroups.insert(state.record) }
        }
        places[subject, default: []].append(rows.count)
        rows.append(row)
    }

    /// The group's rows about a subject; at least one.
    func rows(_ subject: Subject) -> [Row] { (places[subject] ?? []).map { rows[$0] } }

    /// Whether a save of the group deleted or returned this contact.
    func replaces(_ contact: RecordNumber, in save: Int64) -> Bool { replacing[contact]?.contains(save) ?? false }

    /// Whether the group added a contact.
    func isAdded(_ contact: RecordNumber) -> Bool {
        var (low, high) = (0, added.count)
        while low < high {
            let middle = (low + high) / 2
            if added[middle].upperBound < contact.rawValue { low = middle + 1 } else { high = middle }
        }
        return low < added.count && added[low].contains(contact.rawValue)
    }

    // MARK: Taking changes

    /// Takes a change unless there is no room.
    ///
    /// - Parameter count: what counts the change.
    mutating func take(
        _ count: WritableKeyPath<InverseSave.Counts, Int>, bytes: Int = 0, _ change: @autoclosure () -> ContactChange
    ) {
        let fits = self.bytes + bytes <= Self.mostBytes || made.changes.isEmpty
        guard limit.map({ !made.hasMore && made.changes.count < $0 && fits }) ?? true else {
            return made.hasMore = true
        }
        made.counts[keyPath: count] += 1
        guard limit != nil else { return }
        self.bytes += bytes
        made.changes.append(change())
    }

    /// Something stays, and the app must not learn why.
    mutating func miss() { made.isPartial = true }

    /// What comes back is there before anything refers to it, and what goes is the last.
    private mutating func plan() throws {
        for subject in order where subject.subject == .container && !made.hasMore { try plan(container: subject) }
        // Contacts that come back in a later part find their groups.
        for subject in order where subject.subject == .group && !made.hasMore { try plan(group: subject) }
        for subject in order where subject.subject == .contact && !made.hasMore && !isAdded(subject.record) {
            try plan(contact: subject)
        }
        try planRelations()
        for subject in order where subject.subject == .group && !made.hasMore && addedGroups.contains(subject.record) {
            try planRemoval(ofGroup: subject)
        }
        try planRemovals()
        for subject in order where subject.subject == .container && !made.hasMore {
            try planRemoval(ofContainer: subject)
        }
    }

    // MARK: Contacts

    private mutating func noteMaker(_ record: RecordNumber) throws {
        let isOwn = try db.statement("SELECT 1 FROM contact WHERE record = ? AND maker = ?").bind(1, record.rawValue)
            .bind(2, view.seen.app).hasRow()
        if isOwn { made.ownContacts.insert(record) }
    }

    private mutating func plan(contact subject: Subject) throws {
        let (record, rows) = (subject.record, rows(subject))
        guard view.sees(record) else { return miss() }
        guard try db.hasContact(record) else { return try planReturn(record, rows) }
        if rows.contains(where: \.deletes) { made.back.insert(record) }
        // A contact that the group brought back goes again.
        guard rows[0].state.existed else { return }
        guard let runs = try ContactRuns(of: record, from: rows[0].state.place, own: own, reader) else { return miss() }
        let (patch, keys, isConflict) = try runs.inverse(view.seen.keys)
        guard keys != [] else { return }
        guard view.isForced || !isConflict else { return made.conflicts.append(record) }
        try noteMaker(record)
        take(
            \.changed, bytes: StoredContact(patch).bytes.count + patch.imageData.utf8.count,
            .update(record, patch, keys: keys))
    }

    /// A deleted contact comes back as the group's last save that deleted it found it.
    private mutating func planReturn(_ record: RecordNumber, _ rows: [Row]) throws {
        let subject = Subject(subject: .contact, record: record)
        // If another save deleted it, that meant it.
        guard let last = rows.last, last.deletes, let item = last.state.item, try !isChanged(subject, after: item)
        else {
            return rows[0].state.existed ? miss() : ()
        }
        guard view.seesEverything || view.returning.contains(record),
            let card = try FormerContact.card(item, record, db)
        else { return miss() }
        // The size of what the app does not see must not show in how many contacts come back at once.
        let seen = view.seen.keys
        take(\.returned, bytes: card.size(of: seen), Self.back(.contact(card.showing(seen)), last.state))
        guard !made.hasMore else { return }
        returned.insert(record)
        deletions[record] = last.state.save
        made.back.insert(record)
        // What the group changed before that is compared once the contact is there.
        if rows.contains(where: { !$0.deletes && $0.state.existed }) { again = true }
    }

    static func back(_ kind: FormerRecords.Kind, _ state: FormerState) -> ContactChange {
        .putBack(FormerRecords(kind: kind, records: [state.record], steps: [state]))
    }

    private mutating func planRemovals() throws {
        for subject in order where !made.hasMore {
            let first = rows(subject)[0].state
            switch subject.subject {
            case .added:
                guard let numbers = first.addedNumbers else { continue }
                let select = try db.statement("SELECT record FROM contact WHERE record BETWEEN ? AND ?")
                let there = try select.bind(1, numbers.lowerBound).bind(2, numbers.upperBound).records()
                // Of contacts that the app does not see, it must not learn whether they are there.
                if !view.seesEverything,
                    numbers.prefix(ParameterLimits.changes).contains(where: { !view.sees(RecordNumber($0)) })
                {
                    miss()
                }
                for record in there where view.sees(record) && !made.hasMore {
                    try planRemoval(of: record, from: first.place)
                }
            case .contact where !first.existed && !isAdded(subject.record):
                guard view.sees(subject.record), try db.hasContact(subject.record) else { continue }
                try planRemoval(of: subject.record, from: first.place)
            default: continue
            }
        }
    }

    /// A contact that the group added goes, unless others have changed it since.
    private mutating func planRemoval(of record: RecordNumber, from number: Int64) throws {
        let others = try db.statement(
            "SELECT number FROM binItem WHERE subject = 1 AND record = ? AND member = 0 AND number > ?"
        )
        .bind(1, record.rawValue).bind(2, number).all { $0.integer(0) }
        if !view.isForced, !own.isSuperset(of: others) {
            guard let runs = try ContactRuns(of: record, from: number, own: own, reader) else { return miss() }
            let changed = runs.changedByOthers
            guard changed.isDisjoint(with: view.seen.keys) else { return made.conflicts.append(record) }
            guard changed == [] else { return miss() }
        }
        try noteMaker(record)
        take(\.removed, .delete(record))
    }

    // MARK: Others' changes

    /// Whether a save outside the group has changed a subject since. What was taken back, and what took it back, do not count.
    func isChanged(_ subject: Subject, after number: Int64) throws -> Bool {
        try db.statement(
            """
            SELECT 1 FROM binItem JOIN binSave ON binSave.number = save
            WHERE subject = ? AND record = ? AND member = ? AND binItem.number > ?
            AND (mark <> ? OR groupToken IS NOT ? AND takenBack = 0 AND takesBack IS NULL) LIMIT 1
            """
        )
        .bind(1, subject.subject.rawValue).bind(2, subject.record.rawValue).bind(3, subject.member.rawValue)
        .bind(4, number).bind(5, view.seen.app).bind(6, group).hasRow()
    }
}

extension StoredContact {
    /// The contact with these keys and its names only.
    fileprivate func showing(_ keys: ContactKeySet) -> StoredContact {
        let shown = keys.union(.names).union(ContactKeySet(.imageDataAvailable))
        guard !present.isSubset(of: shown), let contact = Contact(self, keys: shown) else { return self }
        return StoredContact(contact)
    }
}
