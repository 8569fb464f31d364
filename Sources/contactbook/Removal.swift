import BrokerContactFiles
import BrokerModel
import Contacts

/// Collects the data of cards before they are deleted, so that undo can restore them.
struct Removal {
    let book: AddressBook
    let readable: ContactKeySet
    /// The cards of each group, read once.
    let members: [String: [String]]
    /// The groups of each card.
    private let groups: [String: [String]]

    init(_ book: AddressBook) throws {
        self.book = book
        readable = try book.readableKeys()
        var groups: [String: [String]] = [:]
        let all = try book.groups()
        members = try book.members(of: all)
        for group in all {
            for member in members[group.identifier] ?? [] { groups[member, default: []].append(group.identifier) }
        }
        self.groups = groups
    }

    /// Whether notes and extra properties can be restored.
    var includesNotes: Bool { readable.isSuperset(of: .named) }

    /// The keys whose values are lost with a card, because this program may not read them.
    var unread: ContactKeySet { ContactKeySet.all.subtracting(readable).subtracting(.ofBroker) }

    /// Names keys as the form of `edit` does.
    static func words(_ keys: ContactKeySet) -> String {
        (ContactForm.fields(of: keys).map { $0.lowercased() } + (keys.contains(.imageData) ? ["photo"] : [])
            + (keys.contains(.extraProperties) ? ["unrecognized vCard properties"] : [])).joined(separator: ", ")
    }

    /// The identifiers of the card's groups.
    func groups(of card: String) -> [String] { groups[card] ?? [] }

    func steps(_ cards: [String]) throws -> [UndoStep] {
        var steps: [UndoStep] = []
        try book.fetch(cards: cards, book.fetchableKeys().subtracting(ContactKeySet(.thumbnailImageData))) { wire in
            if let identifier = wire.identifier { steps.append(try step(identifier, wire.contact)) }
        }
        return steps
    }

    func step(_ identifier: String, _ contact: Contact) throws -> UndoStep {
        let linked = try book.cards(of: identifier).filter { $0 != identifier }
        return .deleted(
            identifier: identifier, contact: contact, groups: groups(of: identifier), linked: linked, unread: unread)
    }
}

extension Contact {
    /// The contact without value identifiers, and without the keys that only the broker sets.
    var writable: Contact { withoutValueIdentifiers.applying(Contact(), keys: .ofBroker) }
}
