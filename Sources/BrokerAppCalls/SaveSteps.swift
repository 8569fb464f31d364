import BrokerAccessControl
import BrokerBounds
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Reads the steps of a save in slices, one slice per event loop iteration. Reading a large save at once
/// would take 10 ms or more and delay other callers.
///
/// The identifiers of all steps are resolved first. Neither a reply nor the order of errors then reveals
/// whether an identifier is malformed, another app's, not granted, revoked or deleted.
struct SaveSteps {
    /// The context of this event loop iteration. Between two iterations, other saves and the person's answers
    /// may change what the app can see. ``SaveChanges/mayBeMade(_:)`` therefore checks all changes again when
    /// the save is made.
    private(set) var context: ReadContext
    private let changes: [SaveContactsParameters.Change]
    private let mostCards: Int
    /// For each step read so far, its decoded contact; `nil` if the step has none.
    private var written: [Result<WireContact, ContactError>?]
    /// The number of steps whose contacts were looked up.
    private var found = 0
    /// The number of cards named by the steps that ``found`` counts.
    private var cardCount = 0
    private var targets: [Target] = []
    /// The changes of the steps read so far.
    private var made: SaveChanges
    /// The records that this save adds, keyed by the identifiers that the app chose for them.
    private var added: [String: (record: RecordNumber, isGroup: Bool)] = [:]
    private var groups: [String: RecordNumber?] = [:]
    private var containers: [String: StoredContainer?]?
    /// For each identifier, the card that it names; for a unified contact, the visible cards.
    private var contacts: [String: [RecordNumber]] = [:]

    /// - Parameters:
    ///   - decoded: what ``decoded(_:)`` returns for the first steps; it may be empty.
    ///   - mostCards: the maximum number of cards that the steps of the save may name.
    ///   - numbers: returns `count` record numbers that have never been used.
    init(
        _ changes: [SaveContactsParameters.Change], _ decoded: [Result<WireContact, ContactError>?],
        _ context: ReadContext, mostCards: Int, numbers: (_ count: Int) -> [RecordNumber]
    ) {
        (self.changes, written) = (changes, decoded)
        self.context = context
        self.mostCards = mostCards
        let kinds = changes.map(\.addedKind)
        var rest = numbers(kinds.count { $0 != nil })[...]
        made = SaveChanges(adding: kinds.map { kind in kind.map { (rest.removeFirst(), $0) } })
    }

    /// The records that a step concerns. The step adds, removes, links or unlinks `member`.
    private struct Target {
        var record: RecordNumber?
        var member: RecordNumber?
        /// The container to delete or to put a new record into; `nil` stands for the local container.
        var container: RecordNumber?
    }

    /// Continues to read the steps until `end`. Each call makes some progress, even if `end` has passed.
    ///
    /// - Parameter context: the caller's current context.
    /// - Returns: the changes of all steps; `nil` if steps remain to be read.
    mutating func readMore(
        _ context: ReadContext, until end: ContinuousClock.Instant
    ) throws(ReadContext.Failure) -> SaveChanges? {
        // The identifiers resolved so far belong to a different principal or key, so reading starts over.
        if context.principal != self.context.principal || context.identifiers !== self.context.identifiers {
            let numbers = made.newRecords
            self = SaveSteps(changes, written, context, mostCards: mostCards) { _ in numbers }
        }
        self.context = context
        while written.count < changes.count {
            written.append(Self.decoded(changes[written.count]))
            if .now >= end, written.count < changes.count { return nil }
        }
        while found < changes.count {
            try findContacts(until: end)
            if .now >= end { return nil }
        }
        while targets.count < changes.count {
            targets.append(try target(changes[targets.count], targets.count))
            if .now >= end { return nil }
        }
        while made.stepCount < changes.count {
            let index = made.stepCount
            made.append(step: try step(changes[index], index, targets[index]))
            if .now >= end, made.stepCount < changes.count { return nil }
        }
        return made
    }

    /// Decodes and checks the contact of a step, if there is one. Runs on any thread.
    static func decoded(_ change: SaveContactsParameters.Change) -> Result<WireContact, ContactError>? {
        guard let json = change.contact else { return nil }
        return Result { () throws(ContactError) in
            let wire = try WireContact(json, limits: ContactLimits())
            if change.operation == .add || change.operation == .update { try wire.contact.validate(writing: wire.keys) }
            return wire
        }
    }

    // MARK: Identifiers

    /// Once a query has this many cards, no further step is added to it.
    private static let cardsAtOnce = 256

    /// Looks up the contacts of several steps in one query.
    private mutating func findContacts(until end: ContinuousClock.Instant) throws(ReadContext.Failure) {
        var candidates: [String: [RecordNumber]] = [:]
        var count = 0
        repeat {
            let change = changes[found]
            found += 1
            for name in [change.contact?.ownIdentifier, change.member] {
                guard let name else { continue }
                let cards = contacts[name] ?? candidates[name] ?? context.cards(name)
                cardCount += cards.count
                guard !cards.isEmpty, contacts[name] == nil, candidates[name] == nil else { continue }
                candidates[name] = cards
                count += cards.count
            }
            guard cardCount <= mostCards else {
                throw .call(ContactsError.limitExceeded("changes", maximum: mostCards))
            }
        } while found < changes.count && count < Self.cardsAtOnce && .now < end
        guard !candidates.isEmpty, let book = context.book else { return }
        let existing = try context.orFail { (_) throws(StoreError) in try book.existing(candidates.values.joined()) }
        for (name, cards) in candidates where existing.isSuperset(of: cards) { contacts[name] = cards }
    }

    private func contact(_ name: String?) -> RecordNumber? {
        guard let name else { return nil }
        if let record = contacts[name]?.first { return record }
        return added[name].flatMap { $0.isGroup ? nil : $0.record }
    }

    /// The cards that an identifier names; for a unified contact, the visible ones.
    private func cards(_ name: String?, _ record: RecordNumber) -> [RecordNumber] {
        name.flatMap { contacts[$0] } ?? [record]
    }

    private mutating func group(_ name: String?) throws(ReadContext.Failure) -> RecordNumber? {
        guard let name else { return nil }
        if groups[name] == nil {
            let group = try context.orFail { (context) throws(StoreError) in try context.group(named: name) }
            groups[name] = .some(group?.record)
            if let group, context.made(group) { made.ownGroups.insert(group.record) }
        }
        if let found = groups[name], let record = found { return record }
        return added[name].flatMap { $0.isGroup ? $0.record : nil }
    }

    private func requireOwn(
        _ groups: [RecordNumber], _ change: SaveContactsParameters.Change, _ index: Int
    ) throws(ReadContext.Failure) {
        guard groups.allSatisfy({ context.permissions.mayChangeGroup(isOwn: made.isOwn(group: $0)) }) else {
            throw notWritable(index, change.group?.ownIdentifier)
        }
    }

    private func notWritable(_ index: Int, _ identifier: String? = nil) -> ReadContext.Failure {
        .call(ContactsError.recordNotWritable(at: index, identifier: identifier))
    }

    private mutating func target(
        _ change: SaveContactsParameters.Change, _ index: Int
    ) throws(ReadContext.Failure) -> Target {
        let groupName = change.group?.ownIdentifier
        switch change.operation {
        case .add:
            guard context.permissions.mayAdd else {
                throw .call(ContactsError.parentContainerNotWritable(at: index))
            }
            return Target(record: made.added[index]?.record, container: try checkAdd(change, index))
        case .update, .delete:
            let record =
                change.group == nil
                ? contact(change.contact?.ownIdentifier) : try group(groupName)
            guard let record else { throw .call(ContactsError.recordDoesNotExist(at: index)) }
            return Target(record: record)
        case .addMember, .removeMember, .addSubgroup, .removeSubgroup:
            guard let parent = try group(groupName) else {
                throw .call(ContactsError.parentRecordDoesNotExist(at: index))
            }
            let isContact = change.operation == .addMember || change.operation == .removeMember
            guard let member = isContact ? contact(change.member) : try group(change.member) else {
                throw .call(ContactsError.recordDoesNotExist(at: index))
            }
            return Target(record: parent, member: member)
        case .link, .unlink:
            guard context.permissions.mayLink else { throw notWritable(index) }
            guard let record = contact(change.contact?.ownIdentifier), let member = contact(change.member)
            else { throw .call(ContactsError.recordDoesNotExist(at: index)) }
            return Target(record: record, member: member)
        case .addContainer, .deleteContainer, .setMe:
            guard change.operation == .setMe ? context.permissions.maySetMe : context.permissions.mayChangeContainers
            else { throw notWritable(index) }
            if change.operation == .addContainer { return Target(record: made.added[index]?.record) }
            if change.operation == .deleteContainer {
                guard let found = try container(change.container) else {
                    throw .call(ContactsError.recordDoesNotExist(at: index))
                }
                return Target(container: found?.record)
            }
            guard let json = change.contact else { return Target() }
            guard let record = contact(json.ownIdentifier) else {
                throw .call(ContactsError.recordDoesNotExist(at: index))
            }
            return Target(record: record)
        }
    }

    /// The visible container that an identifier names; `nil` if there is none. An inner `nil` stands for the
    /// local container.
    private mutating func container(_ name: String?) throws(ReadContext.Failure) -> StoredContainer?? {
        guard let name else { return nil }
        if let containers { return containers[name] }
        let all = try context.orFail { context throws(StoreError) in
            Dictionary(try context.containers().map { (context.identifier(of: $0), $0) }) { first, _ in first }
        }
        containers = all
        return all[name]
    }

    /// Returns the container for a new record. Stores the identifier by which later steps name the record.
    private mutating func checkAdd(
        _ change: SaveContactsParameters.Change, _ index: Int
    ) throws(ReadContext.Failure) -> RecordNumber? {
        var place: RecordNumber?
        for name in [change.group?["container"]?.identifier(), change.container] where name != nil {
            guard let found = try container(name) else { throw .call(ContactsError.recordDoesNotExist(at: index)) }
            place = found?.record
        }
        guard let name = (change.group ?? change.contact)?.ownIdentifier, !name.isEmpty else { return place }
        let known = change.group == nil ? contact(name) : try group(name)
        guard known == nil else { throw .call(ContactsError.recordAlreadyExists(at: index, identifier: name)) }
        if let (record, kind) = made.added[index] { added[name] = (record, kind == .group) }
        return place
    }

    // MARK: Changes

    private mutating func step(
        _ change: SaveContactsParameters.Change, _ index: Int, _ target: Target
    ) throws(ReadContext.Failure) -> [ContactChange] {
        try checkShape(change)
        if let revision = change.unchangedSince, let record = target.record {
            let isUnified = context.identifiers.named(change.contact?.ownIdentifier ?? "")?.kind == .unifiedContact
            made.expect(revision, of: record, isUnified: isUnified)
        }
        switch (change.operation, target.record, target.member) {
        case (.add, let record?, _) where change.group != nil:
            let name = try groupName(change, index)
            return [.group(.add(record, name: name, owner: context.identifiers.mark))]
                + put(record, isGroup: true, in: target.container)
        case (.add, let record?, _):
            let contact = try wire(index).contact
            let forbidden = contact.present.subtracting(context.permissions.writableKeys)
            guard forbidden.isEmpty else { throw .call(ContactsError.unauthorizedKeys(forbidden.keys.map(\.rawValue))) }
            return [.add(record, contact)] + put(record, isGroup: false, in: target.container)
        case (.update, let record?, _) where change.group != nil:
            try requireOwn([record], change, index)
            return [.group(.rename(record, name: try groupName(change, index)))]
        case (.update, let record?, _):
            let wire = try wire(index)
            let unreadable = wire.keys.subtracting(context.permissions.keys)
            guard unreadable.isEmpty else {
                throw .call(ContactsError.unauthorizedKeys(unreadable.keys.map(\.rawValue)))
            }
            let updates = try update(change, wire, of: cards(change.contact?.ownIdentifier, record))
            for case .update(let card, _, _) in updates where try !mayUpdate(card) {
                throw notWritable(index, change.contact?.ownIdentifier)
            }
            return updates
        case (.delete, let record?, _) where change.group != nil:
            try requireOwn([record], change, index)
            return [.group(.delete(record))]
        case (.delete, let record?, _):
            _ = try wire(index)
            let identifier = change.contact?.ownIdentifier
            let cards = cards(identifier, record)
            for card in cards where try !mayDelete(card) { throw notWritable(index, identifier) }
            return cards.map { .delete($0) }
        case (.addMember, let group?, let member?):
            try requireMembers(of: group, change, index)
            return [.group(.addMember(member, to: group))]
        case (.removeMember, let group?, let member?):
            try requireMembers(of: group, change, index)
            return cards(change.member, member).map { .group(.removeMember($0, from: group)) }
        case (.addSubgroup, let group?, let member?):
            try requireOwn([group, member], change, index)
            return [.group(.addSubgroup(member, to: group, visible: context.groupOwner))]
        case (.removeSubgroup, let group?, let member?):
            try requireOwn([group, member], change, index)
            return [.group(.removeSubgroup(member, from: group))]
        case (.setMe, let record, _): return [.group(.setMe(record))]
        case (.link, let record?, let member?):
            _ = try wire(index)
            return [.link(.link(record, member))]
        case (.unlink, let record?, let member?):
            _ = try wire(index)
            let cards = cards(change.member, member)
            // All visible cards of a unified contact are unlinked from each other.
            return cards.map { .link(.unlink($0, from: cards.count > 1 ? $0 : record)) }
        case (.addContainer, let record?, _):
            return [.container(.add(record, name: try checkedName(change.container, index)))]
        case (.deleteContainer, _, _):
            // The local container cannot be deleted.
            guard let container = target.container else {
                throw notWritable(index, change.container)
            }
            return [.container(.delete(container))]
        case (.add, _, _), (.update, _, _), (.delete, _, _), (.addMember, _, _), (.removeMember, _, _),
            (.addSubgroup, _, _), (.removeSubgroup, _, _), (.link, _, _), (.unlink, _, _), (.addContainer, _, _):
            // Not reached, because the records of all steps were resolved earlier.
            throw .call(ContactsError.recordDoesNotExist(at: index))
        }
    }

    private func put(_ record: RecordNumber, isGroup: Bool, in container: RecordNumber?) -> [ContactChange] {
        container.map { [.container(.put(record, isGroup: isGroup, in: $0))] } ?? []
    }

    private func requireMembers(
        of group: RecordNumber, _ change: SaveContactsParameters.Change, _ index: Int
    ) throws(ReadContext.Failure) {
        let isOwn = made.isOwn(group: group)
        // What the granted contacts or keys refuse is decided when the save is made.
        guard context.permissions.updatesWhatItSees || context.permissions.mayChangeMembers(ofGroupThatIsOwn: isOwn)
        else { throw notWritable(index, change.group?.ownIdentifier) }
    }

    private mutating func mayUpdate(_ record: RecordNumber) throws(ReadContext.Failure) -> Bool {
        if made.isNew(record) || context.permissions.deletesWhatItSees { return true }
        // Also of a contact that it may update: only its maker may empty it.
        try noteMaker(of: record)
        // Its keys were checked before.
        return context.permissions.mayUpdate(record, isOwn: made.ownContacts.contains(record), writing: [])
    }

    private mutating func mayDelete(_ record: RecordNumber) throws(ReadContext.Failure) -> Bool {
        if made.isNew(record) || context.permissions.deletesWhatItSees { return true }
        try noteMaker(of: record)
        return context.permissions.mayDelete(record, isOwn: made.ownContacts.contains(record))
    }

    private mutating func noteMaker(of record: RecordNumber) throws(ReadContext.Failure) {
        if try context.orFail({ context throws(StoreError) in try context.made(contact: record) }) {
            made.ownContacts.insert(record)
        }
    }

    /// Checks that the step's fields match its operation.
    private func checkShape(_ change: SaveContactsParameters.Change) throws(ReadContext.Failure) {
        let isRight: Bool
        switch change.operation {
        case .add: isRight = (change.contact == nil) != (change.group == nil) && change.member == nil
        case .update, .delete:
            isRight =
                (change.contact == nil) != (change.group == nil) && change.member == nil && change.container == nil
        case .addMember, .removeMember, .addSubgroup, .removeSubgroup:
            isRight = change.contact == nil && change.container == nil
        case .setMe: isRight = change.group == nil && change.member == nil && change.container == nil
        case .link, .unlink: isRight = change.group == nil && change.container == nil
        case .addContainer, .deleteContainer:
            isRight =
                change.container != nil && change.contact == nil && change.group == nil && change.member == nil
        }
        let mayExpect = change.contact != nil && [.update, .delete].contains(change.operation)
        guard isRight, change.unchangedSince == nil || mayExpect else { throw .call(.invalidParameter("changes")) }
        if let group = change.group {
            do throws(VarlinkError) {
                let wire = try WireGroup(group)
                if change.operation == .add, !wire.parents.isEmpty { throw .invalidParameter("changes") }
            } catch {
                throw .call(error)
            }
        }
    }

    private func wire(_ index: Int) throws(ReadContext.Failure) -> WireContact {
        guard let written = written[index] else { throw .call(.invalidParameter("changes")) }
        do throws(ContactError) {
            return try written.get()
        } catch {
            switch error {
            case .invalidParameter(let name): throw .call(.invalidParameter(name))
            case .invalidContact(let key, let reason):
                throw .call(ContactsError.invalidContact(at: index, key: key, reason: reason))
            case .limitExceeded(let limit, let maximum):
                throw .call(ContactsError.limitExceeded(limit, maximum: maximum))
            }
        }
    }

    private func groupName(_ change: SaveContactsParameters.Change, _ index: Int) throws(ReadContext.Failure) -> String
    {
        try checkedName(change.group?["name"]?.string, index)
    }

    private func checkedName(_ name: String?, _ index: Int) throws(ReadContext.Failure) -> String {
        guard let name else { throw .call(.invalidParameter("changes")) }
        guard name.utf8.count <= ParameterLimits.groupName else {
            throw .call(ContactsError.limitExceeded("name", maximum: ParameterLimits.groupName))
        }
        guard name.unicodeScalars.contains(where: { !$0.properties.isWhitespace }),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw .call(
                ContactsError.invalidContact(
                    at: index, key: "name", reason: "must have a visible character and no control characters"))
        }
        return name
    }
}

extension SaveContactsParameters.Change {
    /// The kind of record that the step adds; `nil` if it adds none.
    fileprivate var addedKind: RecordKind? {
        switch operation {
        case .add: group == nil ? .contact : .group
        case .addContainer: .container
        case .update, .delete, .addMember, .removeMember, .addSubgroup, .removeSubgroup, .setMe, .link, .unlink,
            .deleteContainer:
            nil
        }
    }
}
