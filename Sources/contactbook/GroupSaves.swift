import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

/// Puts the contacts of an import into their groups, at its end.
struct GroupSaves {
    let groups: ImportedGroups
    /// `nil` in a dry run.
    let book: AddressBook?
    let interruption: Interruption
    let report: ImportReport

    /// Creates missing groups, adds the imported contacts to their groups, and nests the groups.
    func save() throws {
        let groupUIDs = Set(groups.cards.map { ContactUID.comparable($0.uid) })
        for card in groups.cards {
            guard groups.knows(card.name) else {
                report.remark(card.place, "more than \(ImportedGroups.most) groups; not made")
                continue
            }
            let unknown = groups.addMembers(of: card)
            // A dry run has no identifiers, so every member is unknown to it.
            let others = unknown - card.members.count { groupUIDs.contains(ContactUID.comparable($0)) }
            if book != nil, others > 0 {
                report.remark(card.place, "\(others) of its members are no contacts of these files")
            }
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
    private func reportingUIDs(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            let reason = (error as? CommandFailure)?.message ?? "\(error)"
            report.remark(groups.cards.first?.place ?? "groups", "\(reason); exports will give the groups new UIDs")
        }
    }

    /// A group with a card's UID is the card's group, also if it was renamed.
    private func identify(_ existing: [CNGroup], by uids: GroupUIDs, _ identifiers: inout [String: String]) {
        let byUID = Dictionary(
            existing.map { (ContactUID.comparable(uids.uid(of: $0.identifier)), $0) },
            uniquingKeysWith: { first, _ in first })
        for card in groups.cards where card.isKnownByUID {
            guard let group = byUID[ContactUID.comparable(card.uid)], group.name != card.name else { continue }
            identifiers[card.name] = group.identifier
            report.remark(card.place, "the group is called \(Speech.clean(group.name)) in your address book")
        }
    }

    /// One change of a group.
    private struct GroupChange {
        /// What the report names if the broker rejects the change.
        let place: String
        let put: (CNSaveRequest) -> Void
        /// The new group; `nil` for a change of members.
        var group: CNMutableGroup?
        /// Whether a rejection without a cause in a value, such as a group within itself, concerns this change only.
        var isNesting = false
    }

    /// - Returns: the identifier of each new group that the broker accepts.
    private func add(_ names: [String], _ book: AddressBook) throws -> [(name: String, identifier: String)] {
        let changes = names.map { name in
            let group = CNMutableGroup()
            group.name = name
            return GroupChange(
                place: "group \(Speech.clean(name))", put: { $0.add(group, toContainerWithIdentifier: nil) },
                group: group)
        }
        return try save(changes, book).compactMap(\.group).map { ($0.name, $0.identifier) }
    }

    private func additions(to name: String, _ identifier: String, besides members: [String]) -> [GroupChange] {
        var inside = Set(members)
        return (groups.members[name] ?? []).filter { inside.insert($0).inserted }.map { member in
            GroupChange(
                place: "group \(Speech.clean(name))",
                put: { $0.addMember(withIdentifier: member, toGroupWithIdentifier: identifier) })
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
                    place: card.place,
                    put: { $0.addSubgroup(withIdentifier: inner, toGroupWithIdentifier: outer) }, isNesting: true)
            }
        }
    }

    /// Saves changes, many at a time. If the broker rejects a save, this halves it, until it has found and reported
    /// the change that the broker rejects.
    ///
    /// - Returns: the changes that were saved.
    private func save(_ changes: [GroupChange], _ book: AddressBook) throws -> [GroupChange] {
        var saved: [GroupChange] = []
        var (start, limit) = (0, ContactSaves.changesPerSave)
        while start < changes.count {
            guard !interruption.hasCome else { throw Import.Interrupted() }
            let end = min(start + limit, changes.count)
            let some = changes[start..<end]
            var reason: String?
            do {
                try book.send { for change in some { change.put($0) } }
            } catch let lost as AddressBook.Unanswered {
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
            if let reason { report.remark(some[start].place, reason) } else { saved += some }
            start = end
            limit = ContactSaves.changesPerSave
        }
        return saved
    }
}
