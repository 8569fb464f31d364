import BrokerBounds
import BrokerModel
import BrokerSQLite

/// Keeps what a save changes and deletes, as it was before the save. Use it only within the save's transaction.
///
/// The bin has at most one row for each subject of a save.
final class BinWriter {
    /// What a row of the bin says was before.
    private struct Former {
        var existed = true
        var number: Int64?
        var flags: Int64 = 0
        var name: String?
        var owner: [UInt8]?
    }

    private let db: Database
    private let rows: BinRows
    private let kind: BinSave.Kind
    private let app: SaveAuthor
    private let mark: [UInt8]
    private let seconds: Int64
    private let days: Int64
    /// Whether the bin keeps no contents for this save, because the person allowed that.
    private let isIrreversible: Bool
    private let group: SaveGroup?
    private let save: Int64
    /// Whether the author may not see every contact completely.
    private let isLimited: Bool
    /// The author's own records from this number on need not stay in the bin if only the author has changed them. A tool
    /// with full access, which may have made the whole book, could otherwise be used to push it out.
    private let firstYoung: Int64
    /// The owner's own card before the save.
    private let me: Int64?
    private var next: Int64
    /// The rows of this save's contacts.
    private var items: [Int64: Int64] = [:]
    /// The contacts and groups that this save adds.
    private var added: Set<Int64> = []
    private var addedGroups: Set<Int64> = []

    /// Returns `nil` if the person keeps no bin.
    init?(
        _ db: Database, _ kind: BinSave.Kind = .save, of app: SaveAuthor, by author: ChangeAuthor, isLimited: Bool,
        isIrreversible: Bool = false, in group: SaveGroup? = nil, at seconds: Int64, _ bounds: SpaceBounds
    ) throws(StoreError) {
        rows = BinRows(db: db)
        let (days, saves) = try rows.settings(bounds, at: seconds)
        guard days.days > 0 else { return nil }
        (self.db, self.kind, self.app, mark, self.seconds, self.days) = (db, kind, app, author.app, seconds, days.days)
        save = saves + 1
        self.isLimited = isLimited
        self.isIrreversible = isIrreversible
        self.group = group
        firstYoung = isLimited ? .min : BookChange.lowestNumber(at: seconds - Self.young)
        me = try db.statement("SELECT me FROM book").first { $0.integerOrNil(0) }
        next = (try db.statement("SELECT max(number) FROM binItem").first { $0.integer(0) } ?? 0) + 1
    }

    /// How long after its addition a record counts as its app's churn, in seconds.
    private static let young: Int64 = 86_400

    // MARK: Contacts

    /// Call this before a contact changes, and before its links do.
    ///
    /// - Parameter deletes: whether it is going to be deleted. Then its photo and its memberships are kept, too.
    func keep(contact record: Int64, deletes: Bool = false) throws(StoreError) {
        guard !added.contains(record) else { return }
        if let item = items[record] {
            if deletes { try db.statement("UPDATE binItem SET flags = flags | 2 WHERE number = ?").bind(1, item).run() }
        } else {
            try copy(record, deletes: deletes)
        }
        guard deletes else { return }
        try keepPhoto(record)
        let groups = try db.statement("SELECT parent, confirmed FROM member WHERE contact = ?").bind(1, record)
            .all { ($0.integer(0), $0.integer(1)) }
        for (group, confirmed) in groups { try keep(member: record, of: group, confirmed: confirmed) }
        if record == me { try keepMe() }
    }

    private func copy(_ record: Int64, deletes: Bool) throws(StoreError) {
        guard !isIrreversible else {
            // The row says that the save changed the contact.
            items[record] = try keep(.contact, record, Former(flags: deletes ? 2 : 0))
            return
        }
        let rank = try rank(.contact, record) ?? 1
        try db.statement(Self.copying).bind(1, next).bind(2, save).bind(3, ownMark).bind(4, app.portion.rawValue)
            .bind(5, rank).bind(6, deletes ? 2 : 0).bind(7, record).bind(8, firstYoung).run()
        guard db.changesCount > 0 else { return }
        items[record] = next
        next += 1
    }

    // Without RETURNING, for which SQLite makes a table each time.
    private static let copying = """
        INSERT INTO binItem (number, save, portion, rank, subject, record, member, existed, bytes, former, flags,
            maker, identifiers, stored, checksum, apart, apartStored, apartChecksum)
        SELECT ?1, ?2, ?4, CASE WHEN sole = 1 AND maker = ?3 AND contact.record >= ?8 THEN 0 ELSE ?5 END, 1,
            contact.record, 0, 1, \(BinRows.row) + length(contact.stored) + coalesce(length(apart.stored), 0),
            container, (unsure.record IS NOT NULL) | ?6, maker, identifiers, contact.stored, contact.checksum, apart,
            apart.stored, apart.checksum
        FROM contact LEFT JOIN apart USING (record) LEFT JOIN unsure USING (record) WHERE contact.record = ?7
        """

    /// Call this after ``keep(contact:deletes:)`` and before the contact's photo is replaced or removed.
    func keepPhoto(_ record: Int64) throws(StoreError) {
        // Without a row of its own, an earlier state has the photo of this one.
        guard let item = items[record] else { return }
        if isIrreversible, try rows.former(of: item) == nil { return }
        try db.statement(
            """
            INSERT OR IGNORE INTO binPhoto (item, imageData, thumbnailImageData)
            SELECT ?, imageData, thumbnailImageData FROM image WHERE record = ?
            """
        )
        .bind(1, item).bind(2, record).run()
        guard db.changesCount > 0 else { return }
        try db.statement("UPDATE binItem SET bytes = bytes + (\(BinRows.photoSize)) WHERE number = ?1").bind(1, item)
            .run()
    }

    /// Notes a contact that the save adds.
    func added(contact record: Int64) { added.insert(record) }

    /// Notes a contact that is about to be put back.
    func putsBack(contact record: Int64) throws(StoreError) {
        items[record] = try keep(.contact, record, Former(existed: false))
    }

    // MARK: Groups and containers

    /// Call this before the group's name or mark changes, or it is deleted.
    func keep(group: Int64) throws(StoreError) {
        let select = try db.statement("SELECT name, owner, container, confirmed FROM contactGroup WHERE record = ?")
        let former = try select.bind(1, group).first {
            Former(number: $0.integerOrNil(2), flags: $0.integer(3), name: $0.text(0), owner: $0.bytes(1))
        }
        if let former { try keep(.group, group, former, isOwn: try isOwn(group)) }
    }

    /// Call this before a group is deleted.
    func keep(deleted group: Int64) throws(StoreError) {
        try keep(group: group)
        let members = try db.statement("SELECT contact, confirmed FROM member WHERE parent = ?").bind(1, group)
            .all { ($0.integer(0), $0.integer(1)) }
        for (contact, confirmed) in members { try keep(member: contact, of: group, confirmed: confirmed) }
        let pairs = try db.statement("SELECT parent, child FROM subgroup WHERE parent = ?1 OR child = ?1")
            .bind(1, group).all { ($0.integer(0), $0.integer(1)) }
        for (parent, child) in pairs { try keep(subgroup: child, of: parent, existed: true) }
    }

    /// Notes a group that the save adds or puts back.
    func added(group: Int64) throws(StoreError) {
        try keep(.group, group, Former(existed: false), isOwn: true)
        addedGroups.insert(group)
    }

    /// - Parameter confirmed: the member's mark before the save; `nil` if it was not a member.
    func keep(member contact: Int64, of group: Int64, confirmed: Int64?) throws(StoreError) {
        guard !added.contains(contact), !addedGroups.contains(group) else { return }
        try keep(
            .member, group, Former(existed: confirmed != nil, number: confirmed), member: contact,
            isOwn: try isOwn(group))
    }

    func keep(subgroup child: Int64, of parent: Int64, existed: Bool) throws(StoreError) {
        guard !addedGroups.contains(child), !addedGroups.contains(parent) else { return }
        try keep(.subgroup, parent, Former(existed: existed), member: child, isOwn: try isOwn(parent))
    }

    /// Call this before the owner's own card changes.
    func keepMe() throws(StoreError) {
        let former = try db.statement("SELECT me FROM book").first { $0.integerOrNil(0) }
        try keep(.me, 0, Former(existed: former != nil, number: former))
    }

    /// - Parameter name: the container's name before the save; `nil` if the save adds it.
    func keep(container: Int64, name: String?) throws(StoreError) {
        try keep(.container, container, Former(existed: name != nil, name: name), isOwn: name == nil)
    }

    /// Whether a group is this author's churn.
    private func isOwn(_ group: Int64) throws(StoreError) -> Bool {
        guard group >= firstYoung else { return false }
        return try db.statement("SELECT 1 FROM contactGroup WHERE record = ? AND sole = 1 AND owner = ?")
            .bind(1, group).bind(2, ownMark).hasRow()
    }

    // MARK: Links

    /// - Parameter first: the first card of the set that the card was in before the save; `nil` if it was not linked.
    func keep(handLink record: RecordNumber, first: RecordNumber?) throws(StoreError) {
        guard !added.contains(record.rawValue) else { return }
        try keep(.handLink, record.rawValue, Former(existed: first != nil, number: first?.rawValue))
    }

    func keep(unlike one: RecordNumber, _ other: RecordNumber, existed: Bool) throws(StoreError) {
        guard !added.contains(one.rawValue), !added.contains(other.rawValue) else { return }
        let pair = (min(one.rawValue, other.rawValue), max(one.rawValue, other.rawValue))
        try keep(.unlike, pair.0, Former(existed: existed), member: pair.1)
    }

    // MARK: Rows

    /// The mark of an app whose own records need not stay in the bin; `nil` for the person.
    private var ownMark: [UInt8]? { app.portion == .person ? nil : mark }

    /// Returns the rank of a new row; `nil` if the save has a row for this subject.
    private func rank(_ subject: BinSubject, _ record: Int64, _ member: Int64 = 0) throws(StoreError) -> Int64? {
        let select = try db.statement(
            """
            SELECT save, rank, mark, flags FROM binItem LEFT JOIN binSave ON binSave.number = save
            WHERE subject = ? AND record = ? AND member = ? ORDER BY binItem.number DESC LIMIT 1
            """)
        let former = try select.bind(1, subject.rawValue).bind(2, record).bind(3, member)
            .first { (save: $0.integer(0), rank: $0.integer(1), mark: $0.bytes(2), flags: $0.integer(3)) }
        guard let former else { return 2 }
        if former.save == save { return nil }
        // If this author's own record is no longer only its own, another author's change is not in the bin any more. What
        // the person removed from it cannot stand for this state.
        return former.mark == mark && former.rank > 0 && former.flags & BinRows.removed == 0 ? 1 : 2
    }

    /// Writes a row, unless the save has one for this subject.
    ///
    /// - Parameter isOwn: whether only this author has changed the record.
    /// - Returns: the row's number.
    @discardableResult
    private func keep(
        _ subject: BinSubject, _ record: Int64, _ former: Former, member: Int64 = 0, isOwn: Bool = false
    ) throws(StoreError) -> Int64? {
        guard let found = try rank(subject, record, member) else { return nil }
        let rank = isOwn && ownMark != nil ? 0 : found
        let bytes = BinRows.row + Int64((former.name ?? "").utf8.count)
        try db.statement(
            """
            INSERT INTO binItem (number, save, portion, rank, subject, record, member, existed, bytes, former, flags,
                name, maker)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        .bind(1, next).bind(2, save).bind(3, app.portion.rawValue).bind(4, rank).bind(5, subject.rawValue)
        .bind(6, record).bind(7, member).bind(8, former.existed ? 1 : 0).bind(9, bytes).bind(10, former.number)
        .bind(11, former.flags).bind(12, former.name).bind(13, former.owner).run()
        next += 1
        return next - 1
    }

    /// Writes the save's row, deletes what has expired, and makes room. Call this at the end of the save.
    ///
    /// - Returns: whether something left the bin.
    func finish(_ changes: [BookChange], _ space: inout BinSpace) throws -> Bool {
        for range in RecordNumber.ranges(of: added) {
            try keep(.added, range.lowerBound, Former(existed: false), member: range.upperBound, isOwn: true)
        }
        let select = try db.statement("SELECT sum(bytes), max(rank) FROM binItem WHERE save = ?")
        let kept = try select.bind(1, save).first { row in row.integerOrNil(0).map { ($0, rank: row.integer(1)) } }
        guard let (growth, highest) = kept else { return false }
        let records = { (kind: BookChange.Kind) in Set(changes.lazy.filter { $0.kind == kind }.map(\.record)) }
        let (new, deleted) = (records(.addContact), records(.deleteContact))
        let changed = records(.updateContact).subtracting(new).subtracting(deleted)
        let row = try rows.write(
            BinSave(
                number: save, kind: kind, time: seconds, author: app, added: new.subtracting(deleted).count,
                changed: changed.count, deleted: deleted.subtracting(added.map { RecordNumber($0) }).count,
                group: group),
            mark)
        try rows.add(growth + row, to: app.portion.rawValue)
        let hasExpired = try rows.expire(before: seconds - days * 86_400)
        // Whether the save took a state into the bin that may not be pushed out.
        let keepsOthers = highest == 2 && !isIrreversible
        let most = try space.most(app.portion, isLimited: isLimited, keepsOthers: keepsOthers, at: seconds)
        let hasLeft = try rows.makeRoom(in: app.portion, most: most, for: save)
        // What the person does is never refused, and neither is what needs no space that other states have.
        if app.portion != .person, keepsOthers, try rows.size(of: app.portion) > most {
            throw space.refuse(app.portion, isLimited: isLimited, at: seconds)
        }
        return hasExpired || hasLeft
    }
}

extension RecordNumber {
    /// Returns the ranges of consecutive numbers, in ascending order.
    fileprivate static func ranges(of numbers: Set<Int64>) -> [ClosedRange<Int64>] {
        var ranges: [ClosedRange<Int64>] = []
        for number in numbers.sorted() {
            if let last = ranges.last, last.upperBound == number - 1 {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges
    }
}
