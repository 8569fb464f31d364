import BrokerJSON
import BrokerModel
import Foundation

/// The content of a mutable contact: decoded objects, or an unchanged card that the contact was made from.
///
/// An import can save thousands of cards. Most of them go to the broker unchanged, without being decoded into
/// objects.
enum MutableContent: Sendable {
    case objects(ContactContent)
    /// - Parameter seen: the decoded objects, after the first read.
    case card(ContactCard, seen: ContactContent?)

    var identifier: String {
        switch self {
        case .objects(let content): content.values.identifier
        case .card(let card, _): card.identifier
        }
    }

    /// The keys that have a value.
    var present: ContactKeySet {
        switch self {
        case .objects(let content): content.values.present
        case .card(let card, _): card.contact.present
        }
    }

    mutating func objects() -> ContactContent {
        switch self {
        case .objects(let content), .card(_, let content?): return content
        case .card(let card, nil):
            let content = ContactContent(ContactValues(identifier: card.identifier, card.contact))
            self = .card(card, seen: content)
            return content
        }
    }

    mutating func change(_ change: (inout ContactValues) -> Void) {
        var values = objects().values
        change(&values)
        self = .objects(ContactContent(values))
    }

    mutating func rename(to identifier: String) {
        switch self {
        case .objects: change { $0.identifier = identifier }
        case .card(let card, _):
            self = .card(ContactCard(identifier: identifier, contact: card.contact), seen: nil)
        }
    }

    /// Writes the Varlink type `Contact` with these keys, including keys without a value.
    func write(_ keys: ContactKeySet, isNamed: Bool, to writer: inout JSONWriter) {
        switch self {
        case .objects(let content): content.values.write(keys, isNamed: isNamed, to: &writer)
        case .card(let card, _):
            WireContact(identifier: isNamed ? card.identifier : nil, contact: card.contact, keys: keys)
                .write(to: &writer)
        }
    }
}

/// A `Contact` of BrokerModel and its identifier. This is a class, so copies of the content share one object.
final class ContactCard: Sendable {
    let identifier: String
    let contact: Contact

    init(identifier: String, contact: Contact) {
        (self.identifier, self.contact) = (identifier, contact)
    }
}

extension ContactValues {
    /// The keys that have a value.
    var present: ContactKeySet {
        var keys = card.present
        func add(_ key: ContactKey, _ isThere: Bool) { if isThere { keys.formUnion(ContactKeySet(key)) } }
        add(.birthday, birthday != nil)
        add(.nonGregorianBirthday, nonGregorianBirthday != nil)
        add(.phoneNumbers, !phoneNumbers.isEmpty)
        add(.emailAddresses, !emailAddresses.isEmpty)
        add(.postalAddresses, !postalAddresses.isEmpty)
        add(.dates, !dates.isEmpty)
        add(.urlAddresses, !urlAddresses.isEmpty)
        add(.contactRelations, !contactRelations.isEmpty)
        add(.socialProfiles, !socialProfiles.isEmpty)
        add(.instantMessageAddresses, !instantMessageAddresses.isEmpty)
        return keys
    }
}
