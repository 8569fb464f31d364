import BrokerBounds
import BrokerModel
import BrokerNormalization

/// Derives links from the content of cards. It writes nothing.
///
/// Cards that were linked by hand count as one *person* here. A shared address or number links two persons if
/// their names agree and no container has cards of both: within a container, only the owner links. Connected persons become one set if all their names agree. Otherwise only persons with
/// equal names are linked. For example, if J., John and James Smith share a number, J. Smith is linked with
/// neither John nor James. The rules apply to all cards at once, so the order in which cards were added does
/// not matter.
final class LinkEvidence {
    /// The maximum number of cards that one address or number links. A value on more cards probably belongs
    /// to a switchboard or a family.
    static let mostCards = 16

    private let book: LinkTables
    private let normalizer: Normalizer
    private let byHand: ContactLinks
    /// The number of cards that the save touched. At most this many cards can have gained or lost a value.
    private let changed: Int
    private let hasUnlike: Bool
    private var names: [RecordNumber: LinkName?] = [:]
    private var valuesOf: [RecordNumber: [LinkValue]] = [:]
    /// The default container is `nil`.
    private var containers: [RecordNumber: RecordNumber?] = [:]
    private var cardsWith: [LinkValue: [RecordNumber]] = [:]

    private typealias Person = [RecordNumber]

    private enum Confidence {
        /// The names are equal.
        case sure
        /// The names agree.
        case likely
    }

    init(_ book: LinkTables, _ normalizer: Normalizer, byHand: ContactLinks, changed: Int) throws {
        (self.book, self.normalizer, self.byHand, self.changed) = (book, normalizer, byHand, changed)
        hasUnlike = try book.hasUnlike()
    }

    // MARK: Evidence on cards

    /// Returns the addresses and numbers of a card; none if the card is not used as evidence.
    func values(of record: RecordNumber) throws -> [LinkValue] {
        if let known = valuesOf[record] { return known }
        let values = try book.isUnsure(record) ? [] : book.values(of: record)
        valuesOf[record] = values
        return values
    }

    private func name(of record: RecordNumber) throws -> LinkName? {
        if let known = names[record] { return known }
        let name = try book.isUnsure(record) ? nil : book.name(of: record, normalizer)
        names.updateValue(name, forKey: record)
        return name
    }

    private func container(of record: RecordNumber) throws -> RecordNumber? {
        if let known = containers[record] { return known }
        let container = try book.container(of: record)
        containers.updateValue(container, forKey: record)
        return container
    }

    private func cards(with value: LinkValue) throws -> [RecordNumber] {
        if let known = cardsWith[value] { return known }
        let cards = try book.cards(with: value, most: Self.mostCards + 1 + changed)
        cardsWith[value] = cards
        return cards
    }

    /// Returns the cards whose links may change because some cards gained or lost this value.
    func concerned(by value: LinkValue) throws -> [RecordNumber] {
        let cards = try cards(with: value)
        // More than the maximum number of cards had this value before the save and still have it, so it links
        // none.
        return cards.count > Self.mostCards + changed ? [] : cards
    }

    /// Whether a value is evidence for a card with this name. A role address such as `info@` is evidence only
    /// for an organisation.
    private func distinguishes(_ value: LinkValue, _ one: LinkName) -> Bool {
        switch value {
        case .email(let address): one.isOrganization || !EmailMatchKey.isOfRole(address)
        // A service number or a very short number does not identify a person.
        case .phone(let national, _, _): !PhoneMatchKey.isWhole(national)
        }
    }

    // MARK: Persons

    private func person(_ record: RecordNumber) -> Person { byHand.members(of: record) }

    /// Returns the persons that a shared address or number links directly with a person.
    private func neighbours(of person: Person, _ confidence: Confidence) throws -> Set<Person> {
        var found: Set<Person> = []
        for record in person {
            guard let name = try name(of: record) else { continue }
            for value in try values(of: record) where distinguishes(value, name) {
                let cards = try cards(with: value)
                guard cards.count <= Self.mostCards else { continue }
                for card in cards where !person.contains(card) {
                    guard let other = try self.name(of: card),
                        confidence == .sure ? name.equals(other) : name.agrees(with: other),
                        // `values(of:)` returns none for a card with too many values.
                        try values(of: card).contains(value)
                    else { continue }
                    let neighbour = self.person(card)
                    if !found.contains(neighbour), try mayBeOne(person, neighbour, confidence) {
                        found.insert(neighbour)
                    }
                }
            }
        }
        return found
    }

    /// Whether two persons can be the same. No pair of their cards may be in one container or unlinked by hand, and no
    /// two names may contradict. Unless `confidence` is `sure`, one pair of names must be equal or all pairs must
    /// agree.
    private func mayBeOne(_ one: Person, _ other: Person, _ confidence: Confidence) throws -> Bool {
        var (hasEqual, doAllAgree) = (false, true)
        for card in one {
            let name = try name(of: card)
            for member in other {
                if try container(of: card) == container(of: member) { return false }
                if hasUnlike, try book.areUnlike(card, member) { return false }
                guard let name, let others = try self.name(of: member) else { continue }
                if name.contradicts(others) { return false }
                hasEqual = hasEqual || name.equals(others)
                doAllAgree = doAllAgree && name.agrees(with: others)
            }
        }
        return confidence == .sure || hasEqual || doAllAgree
    }

    /// Returns a person and all persons linked with it, directly or indirectly. Returns `nil` if they have
    /// more than `StoreLimits.linkedCards` cards together.
    private func component(of person: Person, _ confidence: Confidence) throws -> [Person]? {
        var seen: Set<Person> = [person]
        var found = [person]
        var index = 0
        var count = person.count
        while index < found.count {
            for neighbour in try neighbours(of: found[index], confidence) where seen.insert(neighbour).inserted {
                count += neighbour.count
                guard count <= StoreLimits.linkedCards else { return nil }
                found.append(neighbour)
            }
            index += 1
        }
        return found
    }

    private func areOne(_ persons: [Person], _ confidence: Confidence) throws -> Bool {
        for (index, one) in persons.enumerated() {
            for other in persons[(index + 1)...] where try !mayBeOne(one, other, confidence) { return false }
        }
        return true
    }

    // MARK: Sets

    /// Returns the sets that contain these cards, and all cards that were examined. An examined card that is
    /// in no set is not linked.
    ///
    /// - Parameter linked: the links before the evidence is evaluated.
    func sets(
        of cards: some Sequence<RecordNumber>, linked: ContactLinks
    ) throws -> (sets: [[RecordNumber]], examined: Set<RecordNumber>) {
        var (sets, examined): ([[RecordNumber]], Set<RecordNumber>) = ([], [])
        var rest = cards.sorted()
        func settle(_ persons: [Person], asOne: Bool) {
            for set in asOne ? [persons.flatMap { $0 }] : persons { sets.append(set.sorted()) }
            for record in persons.joined() where examined.insert(record).inserted {
                // The cards that were linked with this card may need a new set.
                rest += linked.members(of: record)
            }
        }
        while let record = rest.popLast() {
            guard !examined.contains(record) else { continue }
            let persons = try component(of: person(record), .likely)
            if let persons, try areOne(persons, .likely) {
                settle(persons, asOne: true)
                continue
            }
            for person in persons ?? [person(record)] where !examined.contains(person[0]) {
                guard let equals = try component(of: person, .sure) else {
                    settle([person], asOne: false)
                    continue
                }
                settle(equals, asOne: try areOne(equals, .sure))
            }
        }
        return (sets.filter { $0.count > 1 }, examined)
    }
}
