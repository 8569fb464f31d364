import BrokerAccessControl
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerJSON
import BrokerLedger
import BrokerModel

/// Writes the events of one reply. It checks every record again except removed ones, and leaves out records
/// that the caller cannot see.
struct HistoryEvents: ~Copyable {
    private let context: ReadContext
    private let keys: ContactKeySet
    private let unifies: Bool
    private let limit: Int
    private let byteLimit: Int
    private var writer = DisclosedWriter(reservingCapacity: 1_024)
    private var count = 0
    /// The contacts that the reply discloses or reports as removed.
    private(set) var records: [RecordNumber] = []

    init(context: ReadContext, keys: ContactKeySet, unifies: Bool, limit: Int, byteLimit: Int) {
        self.context = context
        self.keys = keys
        self.unifies = unifies
        self.limit = limit
        self.byteLimit = byteLimit
        writer.beginArray("events")
    }

    var room: Int { limit - count }
    var isFull: Bool { room <= 0 || writer.size >= byteLimit }

    /// - Parameter detail: the broker's own text for the audit record, never text from an app.
    consuming func reply(token: String, detail: String) -> DisclosedReply {
        writer.endArray()
        writer.member("historyToken", token)
        let keys = keys.intersection(context.disclosure.keys)
        return writer.reply(under: context.basis, recording: [.contacts(records, keys: keys)], detail: detail)
    }

    private mutating func event(_ kind: HistoryPlan.Kind, _ write: (inout DisclosedWriter) -> Void) {
        writer.object {
            $0.member("kind", kind.rawValue)
            write(&$0)
        }
        count += 1
    }

    mutating func startOver() { event(.dropEverything) { _ in } }

    mutating func gone(_ kind: HistoryPlan.Kind, _ record: RecordNumber, as type: RecordKind) {
        records.append(record)
        let identifier = context.identifiers.identifier(of: record, as: type)
        event(kind) { $0.member("identifier", identifier) }
    }

    /// - Returns: the end of the batch and all cards that were read; `nil` if there is no book.
    mutating func contacts(
        _ predicate: ContactPredicate?, after: Position?, _ kind: (RecordNumber) -> HistoryPlan.Kind
    ) throws(StoreError) -> (end: FetchEnd, cards: Set<RecordNumber>)? {
        guard let book = context.book else { return nil }
        let disclosure = context.disclosure
        let query = ContactQuery(
            scope: disclosure.scope, predicate: predicate, matchKeys: disclosure.keys, after: after, limit: room,
            byteLimit: byteLimit - min(writer.size, byteLimit), disclosedKeys: disclosure.readable(of: keys),
            images: keys.intersection(.images).intersection(disclosure.keys), unifies: unifies)
        let (found, end) = try book.fetch(unified: query)
        var read: Set<RecordNumber> = []
        // The links also name damaged cards, which the fetch leaves out. They count as read, because another
        // attempt would not read them either.
        let links = unifies ? book.links(seeing: query.matchKeys, within: query.scope) : nil
        for contact in found {
            read.insert(contact.record)
            read.formUnion(contact.others.lazy.map(\.record))
            if let links { read.formUnion(links.members(of: contact.record)) }
            let kind = kind(contact.record)
            let cards = (first: contact.disclosable, others: contact.others.map(\.disclosable))
            let disclosed = disclosure.project(unified: [cards], of: keys, under: context.identifiers)
            guard let record = disclosed.records.first else { continue }
            records += disclosed.records
            let type: RecordKind = disclosed.records.count > 1 ? .unifiedContact : .contact
            let identifier = context.identifiers.identifier(of: record, as: type)
            let container = kind == .addContact ? try context.containerIdentifier(ofContact: record) : nil
            event(kind) {
                $0.member("contact", only: disclosed)
                $0.member("identifier", identifier)
                $0.member("container", container)
            }
        }
        return (end, read)
    }

    mutating func group(_ kind: HistoryPlan.Kind, _ record: RecordNumber) throws(StoreError) {
        let identifier = context.identifiers.identifier(of: record, as: .group)
        if kind == .deleteGroup { return event(kind) { $0.member("identifier", identifier) } }
        guard let group = try context.group(record) else { return }
        let parents = try context.visibleParents(of: group)
        let context = context
        event(kind) {
            $0.object("group") { context.describe(group, parents, &$0) }
            $0.member("identifier", identifier)
            $0.member("container", kind == .addGroup ? context.containerIdentifier(group.container) : nil)
        }
    }

    mutating func link(_ kind: HistoryPlan.Kind, _ link: HistoryPlan.Link) throws(StoreError) {
        guard try context.group(link.group) != nil else { return }
        if link.isSubgroup {
            guard try context.group(link.member) != nil else { return }
        } else {
            guard context.disclosure.scope.contains(link.member),
                try context.book?.existing([link.member]).isEmpty == false
            else { return }
        }
        write(kind, link)
    }

    /// Writes the memberships of a group in its parents, and then the memberships of the visible contacts in
    /// the group.
    ///
    /// - Parameter place: the contact to continue after; `nil` to start from the beginning.
    /// - Returns: the last contact written, if more contacts follow; otherwise `nil`.
    mutating func contents(of group: RecordNumber, after place: RecordNumber?) throws(StoreError) -> RecordNumber? {
        guard let found = try context.group(group) else { return nil }
        if place == nil {
            for parent in try context.visibleParents(of: found) {
                write(.addSubgroup, HistoryPlan.Link(group: parent, member: group, isSubgroup: true))
            }
        }
        return try members(of: group, within: context.disclosure.scope, after: place)
    }

    /// The visible groups.
    func groups() throws(StoreError) -> [RecordNumber] {
        try context.book?.groups(of: context.groupOwner).map(\.record) ?? []
    }

    /// Writes the memberships of some contacts in a group. The parameter `place` and the result have the same
    /// meaning as in ``contents(of:after:)``.
    mutating func members(
        of group: RecordNumber, amongst contacts: Set<RecordNumber>, after place: RecordNumber?
    ) throws(StoreError) -> RecordNumber? {
        guard try context.group(group) != nil else { return nil }
        return try members(
            of: group, within: .only(contacts.filter(context.disclosure.scope.contains)), after: place)
    }

    private mutating func members(
        of group: RecordNumber, within scope: RecordScope, after place: RecordNumber?
    ) throws(StoreError) -> RecordNumber? {
        let most = max(1, room)
        let found = try context.book?.members(of: group, within: scope, after: place, limit: most + 1) ?? []
        for member in found.prefix(most) {
            write(.addMember, HistoryPlan.Link(group: group, member: member, isSubgroup: false))
        }
        return found.count > most ? found[most - 1] : nil
    }

    private mutating func write(_ kind: HistoryPlan.Kind, _ link: HistoryPlan.Link) {
        let identifiers = context.identifiers
        event(kind) {
            $0.member("identifier", identifiers.identifier(of: link.group, as: .group))
            $0.member("member", identifiers.identifier(of: link.member, as: link.isSubgroup ? .group : .contact))
        }
    }
}
