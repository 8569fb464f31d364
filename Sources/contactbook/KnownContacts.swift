import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

/// Reads the contacts of the address book that imported cards may duplicate.
///
/// Duplicates have the same name or the same UID. The broker finds a name by its index, so few cards cost little in a large
/// book. As soon as the look-ups have cost a part of what reading all contacts costs, this reads all of them instead.
struct KnownContacts {
    typealias Index = DuplicateIndex<Import.Place>

    private struct TooCostly: Error {}

    /// The cost of a look-up, in contacts that could be read instead.
    private static let costOfLookUp = 10
    /// Look-ups cost at most this part of reading all contacts.
    private static let share = 4

    private let book: AddressBook
    private let keys: ContactKeySet
    /// What look-ups may still cost, in contacts.
    private var budget: Int
    /// The names whose contacts are in the index, including the cards of this run.
    private var names: Set<String> = []
    private var hasUIDs = false
    private var hasAll = false

    /// - Parameter fetchable: the keys that this program may fetch.
    init(_ book: AddressBook, fetchable: ContactKeySet) throws {
        self.book = book
        keys = Index.keys.intersection(fetchable)
        budget = try book.trying { try $0.countOfContacts() } / Self.share
    }

    /// Inserts the contacts that a card may duplicate into the index, unless they are in it. The order of those with one name
    /// or UID is that of the address book.
    mutating func insert(for card: DuplicateFingerprint, into index: inout Index) throws {
        do {
            if !hasAll, !names.contains(card.name) { try insertNamesakes(of: card, into: &index) }
            if !hasAll, card.hasUID, keys.contains(.extraProperties) { try insertUID(of: card, into: &index) }
        } catch is TooCostly {
            try insertAll(into: &index)
        }
    }

    private mutating func insertNamesakes(of card: DuplicateFingerprint, into index: inout Index) throws {
        budget -= Self.costOfLookUp
        guard budget > 0, let query = card.nameQuery else { throw TooCostly() }
        var found: [(DuplicateFingerprint, Import.Place)] = []
        try book.fetch(keys, CNContact.predicateForContacts(matchingName: query), unify: false, page: 1_000) {
            budget -= 1
            guard budget > 0 else { throw TooCostly() }
            let other = DuplicateFingerprint($0.contact)
            if other.name == card.name, let identifier = $0.identifier { found.append((other, .saved(identifier))) }
        }
        for (other, place) in found { index.insert(other, as: place) { $0 != .uid } }
        names.insert(card.name)
    }

    /// The broker has no index of UIDs, so this reads those of all contacts, once, and then only the contacts with this one.
    private mutating func insertUID(of card: DuplicateFingerprint, into index: inout Index) throws {
        if !hasUIDs {
            Speech.progress("looking at the UIDs of the contacts that are there…")
            try book.fetch(ContactKeySet([.extraProperties]), unify: false, page: 1_000) {
                guard let identifier = $0.identifier else { return }
                index.insert(DuplicateFingerprint($0.contact), as: .saved(identifier)) { $0 == .uid }
            }
            Speech.endProgress()
            hasUIDs = true
        }
        let unread = index.withoutDetails(card).compactMap {
            if case .saved(let identifier) = $0 { identifier } else { nil }
        }
        try book.fetch(cards: unread, keys) {
            guard let identifier = $0.identifier else { return }
            index.insert(DuplicateFingerprint($0.contact), as: .saved(identifier)) { _ in false }
        }
    }

    private mutating func insertAll(into index: inout Index) throws {
        Speech.progress("looking at the contacts that are there…")
        try book.fetch(keys, unify: false, page: 1_000) {
            guard let identifier = $0.identifier else { return }
            let other = DuplicateFingerprint($0.contact)
            let isKnown = names.contains(other.name)
            index.insert(other, as: .saved(identifier)) { $0 == .uid ? !hasUIDs : !isKnown }
        }
        Speech.endProgress()
        (hasAll, names) = (true, [])
    }
}
