import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

/// The groups of imported cards. They come from the group names in cards and rows, from subfolders, and from
/// group cards.
struct ImportedGroups {
    /// The names of one card's groups, and the card's UID.
    struct Membership {
        var names: [String] = []
        var uid: String?
    }

    /// A group card of the imported files.
    struct GroupCard {
        let name: String
        let uid: String
        let members: [String]
        let place: String
    }

    /// The maximum number of groups in one run. A file with more groups is unlikely to be an address book.
    static let most = 1_000
    /// Member identifiers by group name.
    private(set) var members: [String: [String]] = [:]
    /// Group names in the order of their first occurrence.
    private(set) var names: [String] = []
    private(set) var identifiersByUID: [String: String] = [:]
    /// The group cards of this run.
    var cards: [GroupCard] = []

    /// Registers a group name. Returns `false` if there are already ``most`` groups.
    mutating func knows(_ name: String) -> Bool {
        if members[name] != nil { return true }
        guard names.count < Self.most else { return false }
        members[name] = []
        names.append(name)
        return true
    }

    mutating func join(_ membership: Membership, as identifier: String) {
        for name in membership.names { members[name, default: []].append(identifier) }
        if let uid = membership.uid { identifiersByUID[uid] = identifier }
    }

    /// Adds the members that a group card lists and that this run has imported.
    ///
    /// - Returns: the number of members that this run has not imported.
    mutating func addMembers(of card: GroupCard) -> Int {
        let known = card.members.compactMap { identifiersByUID[ContactUID.comparable($0)] }
        members[card.name, default: []] += known
        return card.members.count - known.count
    }
}

extension Import {
    mutating func membership(
        of contact: Contact, in names: [String], _ uid: String?, _ place: String
    ) throws -> ImportedGroups.Membership {
        var membership = ImportedGroups.Membership()
        for name in names {
            guard groups.knows(name) else {
                report(place, "more than \(ImportedGroups.most) groups; not put into another one")
                break
            }
            membership.names.append(name)
        }
        membership.uid = (uid ?? ContactUID.of(contact)).map(ContactUID.comparable)
        return membership
    }

    /// Creates missing groups, adds the imported contacts to their groups, and nests the groups.
    mutating func saveGroups() throws {
        let groupUIDs = Set(groups.cards.map { ContactUID.comparable($0.uid) })
        for card in groups.cards {
            guard groups.knows(card.name) else {
                report(card.place, "more than \(ImportedGroups.most) groups; not made")
                continue
            }
            let unknown = groups.addMembers(of: card)
            // A dry run has no identifiers, so every member is unknown to it.
            let others = unknown - card.members.count { groupUIDs.contains(ContactUID.comparable($0)) }
            if book != nil, others > 0 { report(card.place, "\(others) of its members are no contacts of these files") }
        }
        guard let book, !groups.names.isEmpty else { return }
        let there = try book.groups()
        var made: [String: String] = [:]
        for name in groups.names {
            guard let identifier = try fill(name, there, book) else { continue }
            made[name] = identifier
        }
        try nest(made, book)
    }

    /// - Returns: the group's identifier; `nil` if the broker rejects the group or its members.
    private mutating func fill(_ name: String, _ there: [CNGroup], _ book: AddressBook) throws -> String? {
        let identifier: String
        var inside: Set<String> = []
        do {
            if let group = there.first(where: { $0.name == name }) {
                identifier = group.identifier
                inside = Set(try book.members(of: identifier))
            } else {
                identifier = try book.addGroup(named: name)
                try journal?.note([.groupAdded(identifier: identifier, name: name)])
            }
            let new = (groups.members[name] ?? []).filter { inside.insert($0).inserted }
            for start in stride(from: 0, to: new.count, by: Self.changesPerSave) {
                guard !interruption.hasCome else { throw Interrupted() }
                let some = new[start..<min(start + Self.changesPerSave, new.count)]
                try journal?.note(some.map { .pair(.memberAdded, record: identifier, member: $0) })
                try book.save { for member in some { $0.put(.memberAdded, identifier, member) } }
            }
            return identifier
        } catch let failure as SaveFailure {
            report("group \(Speech.clean(name))", failure.reason)
            return nil
        }
    }

    /// Nests groups: if a group card lists another group as a member, that group becomes its subgroup.
    private mutating func nest(_ made: [String: String], _ book: AddressBook) throws {
        let byUID = Dictionary(
            groups.cards.filter { !$0.uid.isEmpty }.map { (ContactUID.comparable($0.uid), $0.name) },
            uniquingKeysWith: { first, _ in first })
        for card in groups.cards {
            for member in card.members {
                guard let inner = byUID[ContactUID.comparable(member)].flatMap({ made[$0] }),
                    let outer = made[card.name]
                else { continue }
                do {
                    try book.save { $0.put(.subgroupAdded, outer, inner) }
                    try journal?.note([.pair(.subgroupAdded, record: outer, member: inner)])
                } catch let failure as CommandFailure {
                    // The broker rejects, for example, a group that would contain itself. The other groups
                    // are still nested.
                    report(card.place, failure.message)
                }
            }
        }
    }
}
