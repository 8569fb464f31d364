import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

/// Undoes one command. It compares the command's changes with the current contacts. It reverts the changes to
/// records that were not changed since, and reports the others. With `force` it also reverts those, if it
/// can.
struct UndoRun {
    private let book: AddressBook
    private let journal: UndoJournal?
    private let force: Bool
    private let removal: Removal
    /// For each recorded command, oldest first: the new identifiers of recreated records, by their former
    /// identifiers.
    private var names: [[String: String]]
    private var changes: [Change] = []
    /// One line for each change that is not reverted, with the reason.
    private(set) var conflicts: [String] = []
    /// New identifiers of the records that this run recreated, by their former identifiers.
    private(set) var renamed: [String: String] = [:]
    /// Number of saved changes.
    private(set) var saved = 0
    private var counts: [Effect: Int] = [:]

    /// What changes do: the thing that they change, in the singular, and what happens to it.
    private struct Effect: Hashable {
        let thing: String
        let what: String

        init(_ thing: String, _ what: String) { (self.thing, self.what) = (thing, what) }

        static let removal = Effect("contact", "removed")
    }

    /// The contacts as they are after the steps planned so far.
    private var contacts: [String: Contact] = [:]
    private var gone: Set<String> = []
    private var groups: [String: CNGroup] = [:]
    private var members: [String: Set<String>] = [:]
    /// Temporary names of the records that this run recreates, by their former identifiers.
    private var returning: [String: String] = [:]
    /// The contacts that this run recreates, by temporary name. They get their identifiers when they are
    /// saved.
    private var newContacts: [String: CNMutableContact] = [:]
    private var newGroups: [String: CNMutableGroup] = [:]

    /// Adds one step to a request. `identifier` converts a temporary name to the record's identifier.
    private typealias Put = (_ request: CNSaveRequest, _ identifier: (String) -> String) -> Void

    private struct Change {
        let put: Put
        /// The step that undoes this change.
        let redo: UndoStep?
        /// Estimated size on the wire, in bytes.
        var size = ContactSaves.size(of: Contact())
    }

    /// - Parameter names: for each recorded command, oldest first: the new identifiers of recreated records,
    ///   by their former identifiers.
    init(book: AddressBook, names: [[String: String]], force: Bool, journal: UndoJournal?) throws {
        self.book = book
        self.names = names
        self.force = force
        self.journal = journal
        removal = try Removal(book)
        for group in try book.groups() { groups[group.identifier] = group }
    }

    /// Describes the planned changes.
    var summary: String {
        counts.sorted { ($0.key.thing, $0.key.what) < ($1.key.thing, $1.key.what) }.map {
            "\(Count.words($0.value, $0.key.thing)) \($0.key.what)"
        }
        .joined(separator: ", ")
    }

    /// The number of contacts that are removed.
    var removals: Int { counts[.removal] ?? 0 }

    /// Whether contacts are brought back.
    var hasReturns: Bool { !newContacts.isEmpty }
    /// The keys of which contacts that are brought back may have had values that the undo steps do not have.
    private(set) var lost = ContactKeySet()
    /// The name of the contact that is brought back; `nil` if it is not the only change.
    var returned: String? {
        guard newContacts.count == 1, counts.values.reduce(0, +) == 1 else { return nil }
        return newContacts.values.first.map { ContactCard.name($0.wire.contact) }
    }

    /// Plans the changes that undo an entry.
    mutating func plan(_ entry: UndoEntry) throws {
        try load(entry)
        for step in entry.steps.reversed() { try plan(step) }
    }

    /// The record's current identifier; the temporary name if this run recreates the record.
    private func now(_ identifier: String) -> String {
        var identifier = identifier
        for renamed in names { identifier = renamed[identifier] ?? identifier }
        return returning[identifier] ?? identifier
    }

    /// Reads all contacts of the steps, in pages.
    private mutating func load(_ entry: UndoEntry) throws {
        var wanted: [String] = []
        for step in entry.steps {
            switch step {
            case .added(let identifier, _, _), .updated(let identifier, _, _, _, _),
                .deleted(let identifier, _, _, _, _):
                wanted.append(now(identifier))
            case .pair(.memberAdded, _, let member), .pair(.memberRemoved, _, let member): wanted.append(now(member))
            case .pair(.linked, let contact, let member), .pair(.unlinked, let contact, let member):
                wanted += [now(contact), now(member)]
            case .groupDeleted(_, _, let members, _, _): wanted += members.map(now)
            case .groupAdded, .groupRenamed, .pair(.subgroupAdded, _, _), .pair(.subgroupRemoved, _, _): break
            }
        }
        let keys = try book.fetchableKeys().subtracting(ContactKeySet(.thumbnailImageData))
        var loaded: [String: Contact] = [:]
        var seen: Set<String> = []
        try book.fetch(cards: wanted.filter { seen.insert($0).inserted }, keys) {
            if let identifier = $0.identifier { loaded[identifier] = $0.contact }
        }
        contacts = loaded
    }

    private mutating func add(_ effect: Effect, of contact: Contact = Contact(), redo: UndoStep?, _ put: @escaping Put)
    {
        changes.append(Change(put: put, redo: redo, size: ContactSaves.size(of: contact)))
        counts[effect, default: 0] += 1
    }

    /// Adds a step that belongs to another step and is not counted.
    private mutating func add(redo: UndoStep? = nil, _ put: @escaping Put) {
        changes.append(Change(put: put, redo: redo))
    }

    private mutating func conflict(_ name: String, _ reason: String) {
        conflicts.append("\(Speech.clean(name)): \(reason)")
    }

    private mutating func plan(_ step: UndoStep) throws {
        switch step {
        case .added(let identifier, let name, let digest):
            try planRemoval(now(identifier), name, digest)
        case .updated(let identifier, let name, let before, let after, let keys):
            planUpdate(now(identifier), name, before, after, keys)
        case .deleted(let identifier, let contact, let groups, let linked, let unread):
            planReturn(identifier, contact, groups, linked, unread)
        case .groupAdded(let identifier, let name): planGroupRemoval(now(identifier), name)
        case .groupRenamed(let identifier, let before, let after): planRename(now(identifier), before, after)
        case .groupDeleted(let identifier, let name, let members, let parents, let subgroups):
            planGroupReturn(identifier, name, members, parents, subgroups)
        case .pair(let pairing, let record, let member): planPair(pairing.opposite, now(record), now(member))
        }
    }

    // MARK: Contacts

    private mutating func planRemoval(_ identifier: String, _ name: String, _ digest: ContactDigest) throws {
        // The contact is already deleted.
        guard let contact = contacts[identifier] else { return }
        guard force || ContactDigest(contact).says(asMuchAs: digest, readable: removal.readable) else {
            return conflict(name, "changed since it was added; stays")
        }
        contacts[identifier] = nil
        gone.insert(identifier)
        add(.removal, redo: try removal.step(identifier, contact)) {
            $0.deleteContact(withIdentifier: $1(identifier))
        }
    }

    private mutating func planUpdate(
        _ identifier: String, _ name: String, _ before: Contact, _ after: Contact, _ keys: ContactKeySet
    ) {
        guard let contact = contacts[identifier] else {
            return conflict(name, "removed since; undo that first")
        }
        let readable = removal.readable.union(ContactKeySet(.imageData))
        if !readable.isSuperset(of: keys) {
            conflict(name, "its note stays as it is now: contactbook may not see notes any more")
        }
        let keys = keys.intersection(readable)
        guard contact.keys(differingFrom: before, of: keys) != ContactKeySet() else { return }
        let changed = contact.keys(differingFrom: after, of: keys)
        guard force || changed == ContactKeySet() else {
            return conflict(name, "changed since: \(changed.keys.map(\.rawValue).joined(separator: ", ")); stays")
        }
        contacts[identifier] = contact.applying(before, keys: keys)
        add(
            Effect("contact", "changed back"), of: before,
            redo: .updated(identifier: identifier, name: name, before: contact, after: before, keys: keys)
        ) { $0.update(CNMutableContact(withIdentifier: $1(identifier), before, writing: keys)) }
    }

    private mutating func planReturn(
        _ identifier: String, _ contact: Contact, _ groups: [String], _ linked: [String], _ unread: ContactKeySet
    ) {
        // The contact was already restored, or was never deleted.
        guard now(identifier) == identifier, contacts[identifier] == nil else { return }
        let name = "new-\(returning.count)"
        returning[identifier] = name
        let contact = contact.writable
        contacts[name] = contact
        let new = CNMutableContact(contact)
        newContacts[name] = new
        lost.formUnion(unread)
        add(
            Effect("contact", "brought back"), of: contact,
            redo: .added(identifier: identifier, name: ContactCard.name(contact), digest: ContactDigest(contact))
        ) { request, _ in request.add(new, toContainerWithIdentifier: nil) }
        for group in groups.map(now) where self.groups[group] != nil || group.hasPrefix("new-") {
            add { $0.put(.memberAdded, $1(group), $1(name)) }
        }
        for other in linked.map(now) where contacts[other] != nil {
            add { $0.put(.linked, $1(other), $1(name)) }
        }
    }

    // MARK: Groups

    /// Plans to connect or disconnect two records, unless they already are in that state.
    private mutating func planPair(_ pairing: UndoStep.Pairing, _ record: String, _ member: String) {
        let effect: Effect
        switch pairing {
        case .memberAdded, .memberRemoved:
            guard groups[record] != nil || record.hasPrefix("new-"), contacts[member] != nil else { return }
            members[record] = membership(record)
            if pairing == .memberAdded {
                guard members[record]?.insert(member).inserted == true else { return }
                effect = Effect("group member", "added")
            } else {
                guard members[record]?.remove(member) != nil else { return }
                effect = Effect("group member", "removed")
            }
        case .subgroupAdded, .subgroupRemoved:
            let isJoining = pairing == .subgroupAdded
            guard groups[record] != nil, let inner = groups[member],
                inner.parentGroupIdentifiers.contains(record) != isJoining
            else { return }
            effect = Effect("group", isJoining ? "nested" : "taken out of another")
        case .linked, .unlinked:
            guard contacts[record] != nil, contacts[member] != nil else { return }
            effect = Effect("card", pairing == .linked ? "linked" : "unlinked")
        }
        add(effect, redo: .pair(pairing, record: record, member: member)) { $0.put(pairing, $1(record), $1(member)) }
    }

    private func membership(_ group: String) -> Set<String> { members[group] ?? Set(removal.members[group] ?? []) }

    private mutating func planGroupRemoval(_ identifier: String, _ name: String) {
        guard let group = groups[identifier] else { return }
        let others = membership(identifier).subtracting(gone)
        guard force || others.isEmpty else { return conflict(name, "a group that others are in by now; stays") }
        let inner = groups.values.filter { $0.parentGroupIdentifiers.contains(identifier) }.map(\.identifier)
        groups[identifier] = nil
        add(
            Effect("group", "removed"),
            redo: .groupDeleted(
                identifier: identifier, name: group.name, members: others.sorted(),
                parents: group.parentGroupIdentifiers, subgroups: inner)
        ) { request, _ in request.deleteGroup(withIdentifier: identifier) }
    }

    private mutating func planRename(_ identifier: String, _ before: String, _ after: String) {
        guard let group = groups[identifier] else { return conflict(after, "the group was deleted since") }
        guard group.name != before else { return }
        guard force || group.name == after else { return conflict(group.name, "the group was renamed since; stays") }
        let renamed = group.renamed(before)
        add(Effect("group", "renamed"), redo: .groupRenamed(identifier: identifier, before: group.name, after: before))
        {
            request, _ in request.update(renamed)
        }
    }

    private mutating func planGroupReturn(
        _ identifier: String, _ name: String, _ members: [String], _ parents: [String], _ subgroups: [String]
    ) {
        guard now(identifier) == identifier, groups[identifier] == nil else { return }
        let new = "new-\(returning.count)"
        returning[identifier] = new
        let group = CNMutableGroup()
        group.name = name
        newGroups[new] = group
        add(Effect("group", "brought back"), redo: .groupAdded(identifier: identifier, name: name)) { request, _ in
            request.add(group, toContainerWithIdentifier: nil)
        }
        let there = members.map(now).filter { contacts[$0] != nil }
        for member in there {
            add(redo: .pair(.memberAdded, record: identifier, member: member)) {
                $0.put(.memberAdded, $1(new), $1(member))
            }
        }
        self.members[new] = Set(there)
        for parent in parents.map(now) where groups[parent] != nil {
            add { $0.put(.subgroupAdded, parent, $1(new)) }
        }
        for inner in subgroups.map(now) where groups[inner] != nil {
            add { $0.put(.subgroupAdded, $1(new), inner) }
        }
    }

    // MARK: Saving

    /// Saves in batches that the broker accepts.
    mutating func save() throws {
        var start = 0
        while start < changes.count {
            var end = start
            var size = 0
            while end < changes.count, end - start < ContactSaves.changesPerSave {
                size += changes[end].size
                if size > ContactSaves.bytesPerSave, end > start { break }
                end += 1
            }
            try save(changes[start..<end])
            start = end
            saved = end
            Speech.progress("\(end) of \(changes.count)")
        }
        Speech.endProgress()
    }

    /// Returns the new identifier for a temporary name. Any other name is an identifier, and is returned
    /// unchanged.
    private func identifier(_ name: String) -> String {
        newContacts[name]?.identifier ?? newGroups[name]?.identifier ?? name
    }

    private mutating func save(_ some: ArraySlice<Change>) throws {
        let steps = some.compactMap(\.redo)
        // Additions and group members are recorded after the save, because added records get their
        // identifiers from it. All other steps are recorded before the save.
        try journal?.note(
            steps.filter {
                switch $0 {
                case .added, .groupAdded, .pair(.memberAdded, _, _): false
                default: true
                }
            })
        try book.save { request in for change in some { change.put(request, identifier) } }
        var new: [UndoStep] = []
        var restored: [(old: String, new: String)] = []
        for step in steps {
            switch step {
            case .added(let old, let name, let digest):
                renamed[old] = identifier(returning[old] ?? old)
                new.append(.added(identifier: renamed[old] ?? old, name: name, digest: digest))
            case .groupAdded(let old, let name):
                renamed[old] = identifier(returning[old] ?? old)
                new.append(.groupAdded(identifier: renamed[old] ?? old, name: name))
                restored.append((old, renamed[old] ?? old))
            default: break
            }
        }
        for case .pair(.memberAdded, let group, let member) in steps {
            new.append(.pair(.memberAdded, record: renamed[group] ?? group, member: identifier(member)))
        }
        try journal?.note(new)
        try GroupUIDs.keep(restored)
    }
}
