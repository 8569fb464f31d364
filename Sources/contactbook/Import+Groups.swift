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
        /// Whether other programs know the group by its UID. A group of LDIF has only a name in its directory.
        let isKnownByUID: Bool
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
        Speech.progress("adding the contacts to their groups…")
        let existing = try book.groups()
        var identifiers = Dictionary(
            existing.filter { !$0.isNamedByOtherApp }.map { ($0.name, $0.identifier) },
            uniquingKeysWith: { first, _ in first })
        var uids: GroupUIDs?
        reportingUIDs { uids = try GroupUIDs(to: "compare the UIDs of the groups") }
        if let uids { identify(existing, by: uids, &identifiers) }
        let new = groups.names.filter { identifiers[$0] == nil }
        var changes: [GroupChange] = []
        let wanted = Set(groups.names.compactMap { identifiers[$0] })
        let members = try book.members(of: existing.filter { wanted.contains($0.identifier) })
        for name in groups.names {
            guard let identifier = identifiers[name] else { continue }
            changes += additions(to: name, identifier, besides: members[identifier] ?? [])
        }
        for (name, identifier) in try add(new, book) {
            identifiers[name] = identifier
            changes += additions(to: name, identifier, besides: [])
        }
        for card in groups.cards where card.isKnownByUID {
            if let identifier = identifiers[card.name] { uids?.note(card.uid, of: identifier) }
        }
        reportingUIDs { try uids?.save() }
        _ = try save(changes + nestings(identifiers), book)
    }

    /// The groups are added also if their UIDs cannot be read or noted.
    private mutating func reportingUIDs(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            let reason = (error as? CommandFailure)?.message ?? "\(error)"
            report(groups.cards.first?.place ?? "groups", "\(reason); exports will give the groups new UIDs")
        }
    }

    /// A group with a card's UID is the card's group, also if it was renamed.
    private mutating func identify(_ existing: [CNGroup], by uids: GroupUIDs, _ identifiers: inout [String: String]) {
        let byUID = Dictionary(
            existing.map { (ContactUID.comparable(uids.uid(of: $0.identifier)), $0) },
            uniquingKeysWith: { first, _ in first })
        for card in groups.cards where card.isKnownByUID {
            guard let group = byUID[ContactUID.comparable(card.uid)], group.name != card.name else { continue }
            identifiers[card.name] = group.identifier
            report(card.place, "the group is called \(Speech.clean(group.name)) in your address book")
        }
    }

    /// One change of a group.
    private struct GroupChange {
        /// What the report names if the broker rejects the change.
        let place: String
        /// The undo step; `nil` for a new group, whose identifier is not known before the save.
        var step: UndoStep?
        /// The new group; `nil` for a change of members.
        var group: CNMutableGroup?
        /// Whether a rejection without a cause in a value, such as a group within itself, concerns this change only.
        var isNesting = false

        func put(into request: CNSaveRequest) {
            if let group { request.add(group, toContainerWithIdentifier: nil) }
            if case .pair(let pairing, let record, let member)? = step { request.put(pairing, record, member) }
        }
    }

    /// - Returns: the identifier of each new group that the broker accepts.
    private mutating func add(_ names: [String], _ book: AddressBook) throws -> [(name: String, identifier: String)] {
        let changes = names.map { name in
            let group = CNMutableGroup()
            group.name = name
            return GroupChange(place: "group \(Speech.clean(name))", group: group)
        }
        let added = try save(changes, book).compactMap(\.group)
        try journal?.note(added.map { .groupAdded(identifier: $0.identifier, name: $0.name) })
        return added.map { ($0.name, $0.identifier) }
    }

    private func additions(to name: String, _ identifier: String, besides members: [String]) -> [GroupChange] {
        var inside = Set(members)
        return (groups.members[name] ?? []).filter { inside.insert($0).inserted }.map {
            GroupChange(
                place: "group \(Speech.clean(name))", step: .pair(.memberAdded, record: identifier, member: $0))
        }
    }

    /// If a group card lists another group as a member, that group becomes its subgroup.
    private func nestings(_ identifiers: [String: String]) -> [GroupChange] {
        let names = Dictionary(
            groups.cards.filter { !$0.uid.isEmpty }.map { (ContactUID.comparable($0.uid), $0.name) },
            uniquingKeysWith: { first, _ in first })
        return groups.cards.flatMap { card in
            card.members.compactMap { member in
                guard let inner = names[ContactUID.comparable(member)].flatMap({ identifiers[$0] }),
                    let outer = identifiers[card.name]
                else { return nil }
                return GroupChange(
                    place: card.place, step: .pair(.subgroupAdded, record: outer, member: inner), isNesting: true)
            }
        }
    }

    /// Saves changes, many at a time. If the broker rejects a save, this halves it, until it has found and reported
    /// the change that the broker rejects.
    ///
    /// - Returns: the changes that were saved.
    private mutating func save(_ changes: [GroupChange], _ book: AddressBook) throws -> [GroupChange] {
        var saved: [GroupChange] = []
        var (start, noted, limit) = (0, 0, Self.changesPerSave)
        while start < changes.count {
            guard !interruption.hasCome else { throw Interrupted() }
            let end = min(start + limit, changes.count)
            let some = changes[start..<end]
            try journal?.note(changes[min(noted, end)..<end].compactMap(\.step))
            noted = max(noted, end)
            var reason: String?
            do {
                try book.send { for change in some { change.put(into: $0) } }
            } catch let lost as AddressBook.Unanswered {
                journal?.isUncertain = true
                throw lost.failure
            } catch let failure as SaveFailure {
                reason = failure.reason
            } catch let failure as CommandFailure where some.contains(where: \.isNesting) {
                reason = failure.message
            }
            if reason != nil, some.count > 1 {
                limit = some.count / 2
                continue
            }
            if let reason { report(some[start].place, reason) } else { saved += some }
            start = end
            limit = Self.changesPerSave
        }
        return saved
    }
}
