import BrokerModel
import BrokerSQLite

/// Which records a book has, for the change history of a restored book.
struct BookOutline {
    struct Pair: Hashable {
        let parent: Int64
        let child: Int64
    }

    let cards: Set<Int64>
    /// The groups with their owners.
    let groups: [Int64: [UInt8]]
    let members: Set<Pair>
    let subgroups: Set<Pair>
    let links: BookLinks

    init(_ db: Database) throws(StoreError) {
        func pairs(_ sql: String) throws(StoreError) -> Set<Pair> {
            Set(try PreparedStatement(sql, on: db).all { Pair(parent: $0.integer(0), child: $0.integer(1)) })
        }
        cards = Set(try PreparedStatement("SELECT record FROM contact", on: db).all { $0.integer(0) })
        groups = Dictionary(
            try PreparedStatement("SELECT record, owner FROM contactGroup", on: db)
                .all { ($0.integer(0), $0.bytes(1)) }
        ) { first, _ in first }
        members = try pairs("SELECT parent, contact FROM member")
        subgroups = try pairs("SELECT parent, child FROM subgroup")
        links = BookLinks(
            all: try LinkTables.all(db, "link"), byHand: try LinkTables.all(db, "handLink"))
    }

    /// Notes every difference. All content of a card that was there before counts as changed.
    func note(after former: BookOutline, _ log: inout ChangeLog) {
        for pair in former.members.subtracting(members).sorted() {
            log.note(
                .removeMember, RecordNumber(pair.parent), member: RecordNumber(pair.child),
                owner: former.groups[pair.parent])
        }
        for pair in former.subgroups.subtracting(subgroups).sorted() {
            log.note(
                .removeSubgroup, RecordNumber(pair.parent), member: RecordNumber(pair.child),
                owner: former.owner(ofBoth: pair))
        }
        for record in former.cards.subtracting(cards).sorted() { log.note(.deleteContact, RecordNumber(record)) }
        for group in Set(former.groups.keys).subtracting(groups.keys).sorted() {
            log.note(.deleteGroup, RecordNumber(group), owner: former.groups[group])
        }
        for record in cards.sorted() {
            if former.cards.contains(record) {
                log.note(.updateContact, RecordNumber(record), keys: .all)
            } else {
                log.note(.addContact, RecordNumber(record))
            }
        }
        for (group, owner) in groups.sorted(by: { $0.key < $1.key }) {
            log.note(former.groups[group] == nil ? .addGroup : .updateGroup, RecordNumber(group), owner: owner)
        }
        for pair in members.subtracting(former.members).sorted() {
            log.note(
                .addMember, RecordNumber(pair.parent), member: RecordNumber(pair.child), owner: groups[pair.parent])
        }
        for pair in subgroups.subtracting(former.subgroups).sorted() {
            log.note(
                .addSubgroup, RecordNumber(pair.parent), member: RecordNumber(pair.child), owner: owner(ofBoth: pair))
        }
        Linking.note(cards.sorted().map { RecordNumber($0) }, from: former.links, to: links, &log)
    }

    /// The app that owns both groups; empty if different apps own them.
    private func owner(ofBoth pair: Pair) -> [UInt8] {
        guard let parent = groups[pair.parent], parent == groups[pair.child] else { return [] }
        return parent
    }
}

extension BookOutline.Pair: Comparable {
    static func < (left: Self, right: Self) -> Bool { (left.parent, left.child) < (right.parent, right.child) }
}
