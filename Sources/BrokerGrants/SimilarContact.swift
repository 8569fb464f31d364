import BrokerBounds
import BrokerContactsStore
import BrokerInterface
import BrokerModel

/// A contact of the person that may be the one whose card an app offers.
package struct SimilarContact: Hashable, Sendable {
    /// What both have in common, as the interface names it; the strongest first.
    package enum Match: String, Sendable { case email, phone, name }

    package let record: RecordNumber
    package let match: Match

    /// The number of contacts to find.
    package static let most = 5
    /// The number of the card's addresses, and of its numbers, that are looked up.
    private static let values = 16
    /// The number of contacts of that name to compare. Other contacts can begin with the same words.
    private static let names = 200

    /// Finds the contacts with an e-mail address, a phone number or the full name of a card, in this order. This must not
    /// run on the event loop.
    package static func find(_ card: Contact, in book: ContactsStore) throws(StoreError) -> [SimilarContact] {
        var found: [SimilarContact] = []
        func add(_ match: Match, _ predicate: ContactPredicate, limit: Int, if isMatch: (Contact) -> Bool)
            throws(StoreError)
        {
            guard found.count < most else { return }
            let query = ContactQuery(scope: .all, predicate: predicate, limit: limit)
            for row in try book.fetch(unified: query, .onWorker).rows where found.count < most {
                guard !found.contains(where: { $0.record == row.record }),
                    let contact = Contact(row.contact, keys: .names), isMatch(contact)
                else { continue }
                found.append(SimilarContact(record: row.record, match: match))
            }
        }
        for email in card.emailAddresses.prefix(values) {
            try add(.email, .emailAddress(email.value), limit: 2 * most) { _ in true }
        }
        for phone in card.phoneNumbers.prefix(values) {
            try add(.phone, .phoneNumber(phone.value), limit: 2 * most) { _ in true }
        }
        let name = fullName(card)
        guard !name.isEmpty, name.utf8.count <= ParameterLimits.query else { return found }
        try add(.name, .name(name), limit: names) { fullName($0) == name }
        return found
    }

    /// The name without case and repeated spaces: a person's, or else the organization's.
    private static func fullName(_ contact: Contact) -> String {
        let person = [contact.givenName, contact.middleName, contact.familyName].joined(separator: " ")
        let words = person.lowercased().split(whereSeparator: \.isWhitespace)
        guard words.isEmpty else { return words.joined(separator: " ") }
        return contact.organizationName.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
