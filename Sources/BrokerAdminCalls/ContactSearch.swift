import BrokerContactsStore
import BrokerModel

/// Finds the contact that a look-up names.
struct ContactSearch: Sendable {
    let text: String
    /// The contacts that the text names as an identifier of one of the user's apps.
    let named: Set<RecordNumber>
    /// Whether only a whole name, e-mail address or phone number matches.
    let isExact: Bool

    /// Returns the cards of each matching contact. If several match by a part of their names, and some by the whole
    /// name, only the latter.
    func matches(in book: ContactsStore) throws(StoreError) -> [Set<RecordNumber>] {
        if !named.isEmpty {
            return try fetch(.records(named.sorted()), in: book).map(\.cards)
        }
        var found = try fetch(.emailAddress(text), in: book)
        if found.isEmpty, text.contains(where: \.isNumber) { found = try fetch(.phoneNumber(text), in: book) }
        guard found.isEmpty else { return found.map(\.cards) }
        let byName = try fetch(.name(text), in: book)
        let whole = byName.filter { $0.names.contains(Self.folded(text)) }
        return (whole.isEmpty && !isExact ? byName : whole).map(\.cards)
    }

    private func fetch(
        _ predicate: ContactPredicate, in book: ContactsStore
    ) throws(StoreError) -> [(cards: Set<RecordNumber>, names: Set<String>)] {
        let query = ContactQuery(scope: .all, predicate: predicate, limit: Self.most, byteLimit: .max)
        return try book.fetch(unified: query, .onWorker).rows.map { row in
            let all = [row] + row.others
            return (Set(all.map(\.record)), Set(all.flatMap { Self.names(of: $0.contact) }))
        }
    }

    /// More matches are counted as so many.
    private static let most = 1_000

    /// The whole names of a card, with the given name first and with the family name first, its nickname and its
    /// organization.
    private static func names(of stored: StoredContact) -> [String] {
        let keys = ContactKeySet([.givenName, .middleName, .familyName, .nickname, .organizationName])
        guard let contact = Contact(stored, keys: keys) else { return [] }
        return [
            "\(contact.givenName) \(contact.familyName)", "\(contact.familyName) \(contact.givenName)",
            "\(contact.givenName) \(contact.middleName) \(contact.familyName)", contact.nickname,
            contact.organizationName,
        ]
        .map(folded).filter { !$0.isEmpty }
    }

    private static func folded(_ text: String) -> String {
        text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
