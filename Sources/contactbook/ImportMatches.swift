import BrokerContactFiles

/// The contacts that a card of an import may duplicate: those of the address book, and the earlier ones of this run.
final class ImportMatches {
    typealias Place = Import.Place

    /// The contacts of this run, and those of the book that its cards may duplicate.
    private var index = DuplicateIndex<Place>()
    /// Fills ``index``; `nil` if this run does not search for duplicates.
    private var inBook: KnownContacts?
    /// Identifiers of this run's saved contacts by entry number; kept only if this run searches for
    /// duplicates.
    private var identifiers: [Int: String] = [:]
    /// The UIDs of this run's cards, by the contact that each card is or repeats.
    var uids: [Place: String] = [:]
    /// ``Import/Card/content`` of this run's contacts.
    private(set) var contents: [Place: Int] = [:]

    /// - Parameter inBook: `nil` if this run does not search for duplicates.
    init(_ inBook: KnownContacts?) { self.inBook = inBook }

    /// Reads the contacts of the book that a card may duplicate, unless they are in the index.
    func read(for fingerprint: DuplicateFingerprint) throws {
        try inBook?.insert(for: fingerprint, into: &index)
    }

    /// Returns the match from the index. If the matching contact was saved meanwhile, the match contains its
    /// identifier.
    ///
    /// - Parameter uid: the card's UID. Within one run, contacts with other UIDs are other contacts.
    func duplicate(by fingerprint: DuplicateFingerprint, _ uid: String?) -> DuplicateIndex<Place>.Match? {
        let match = index.match(fingerprint) { place in
            guard let uid, let other = uids[saved(place)] else { return true }
            return other == uid
        }
        guard var match else { return nil }
        match.reference = saved(match.reference)
        match.alternatives = match.alternatives.map(saved)
        return match
    }

    private func saved(_ place: Place) -> Place {
        if case .pending(let number) = place, let identifier = identifiers[number] { return .saved(identifier) }
        return place
    }

    /// Adds a card that becomes the contact with this number.
    func add(_ card: Import.Card, as number: Int) {
        guard let fingerprint = card.fingerprint else { return }
        index.insert(fingerprint, as: .pending(number))
        uids[.pending(number)] = card.uid
        contents[.pending(number)] = card.content
    }

    /// Takes the identifier of a contact that was saved.
    func saved(_ number: Int, as identifier: String) {
        identifiers[number] = identifier
        uids[.saved(identifier)] = uids.removeValue(forKey: .pending(number))
        contents[.saved(identifier)] = contents.removeValue(forKey: .pending(number))
    }
}
