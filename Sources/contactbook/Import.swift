import BrokerContactFiles
import BrokerModel

/// One run of `import`: adds each card, merges it into the contact that it duplicates, or skips it.
struct Import {
    static let task = "import the contacts"

    /// The book to add contacts to; `nil` in a dry run.
    let book: AddressBook?
    /// The book to search for duplicates, also in a dry run; `nil` if this program may not see contacts yet.
    let known: AddressBook?
    let interruption: Interruption
    /// How to treat duplicates.
    var treatment: DuplicateTreatment
    /// Whether the person has not said what to do with duplicates, and cannot be asked.
    let isUnanswered: Bool
    let report: ImportReport
    let matches: ImportMatches
    /// The keys that a merge may read and write.
    var readable: ContactKeySet
    let groups = ImportedGroups()
    var saves: ContactSaves
    private var count = 0

    init(
        book: AddressBook?, knowing known: AddressBook?, duplicates: DuplicateTreatment, isUnanswered: Bool,
        size: Int?, interruption: Interruption
    ) throws {
        (self.book, self.known, self.isUnanswered) = (book, known, isUnanswered)
        report = ImportReport(isDryRun: book == nil, size: size)
        self.interruption = interruption
        treatment = duplicates
        readable = .all
        var inBook: KnownContacts?
        if let known, duplicates != .keep {
            readable = try known.readableKeys()
            inBook = try KnownContacts(known, fetchable: known.fetchableKeys())
        }
        matches = ImportMatches(inBook)
        saves = ContactSaves(book, interruption: interruption, report, matches, groups)
    }

    /// Checks one imported card, then adds it or handles it as a duplicate.
    ///
    /// - Parameters:
    ///   - groups: the names of the card's groups.
    ///   - uid: the name by which groups of the same file list the card; `nil` for its UID.
    mutating func take(_ contact: Contact, at place: String, groups names: [String], uid: String? = nil) throws {
        let (contact, leftOut) = contact.fitted()
        for part in leftOut { report.remark(place, ContactsFailure.reason(part)) }
        guard !contact.present.isEmpty else { return report.refuse(place, "nothing of it can be added") }
        let membership = try membership(of: contact, in: names, uid, place)
        let card = Card(contact, at: place, membership, isLookedFor: treatment != .keep)
        guard let fingerprint = card.fingerprint else { return try add(card) }
        do {
            try matches.read(for: fingerprint)
        } catch {
            throw saves.failed(error)
        }
        guard let match = matches.duplicate(by: fingerprint, card.uid) else { return try add(card) }
        try takeDuplicate(card, fingerprint, match)
    }

    private func membership(
        of contact: Contact, in names: [String], _ uid: String?, _ place: String
    ) throws -> ImportedGroups.Membership {
        var membership = ImportedGroups.Membership()
        for name in names {
            guard groups.knows(name) else {
                report.remark(place, "more than \(ImportedGroups.most) groups; not put into another one")
                break
            }
            membership.names.append(name)
        }
        membership.uid = (uid ?? ContactUID.of(contact)).map(ContactUID.comparable)
        return membership
    }

    mutating func add(_ card: Card) throws {
        count += 1
        matches.add(card, as: count)
        try saves.enqueue(Entry(card: card, number: count))
    }

    /// Saves the remaining cards, then the groups.
    mutating func finish() throws {
        try saves.save()
        try saves.settle()
        try GroupSaves(groups: groups, book: book, interruption: interruption, report: report).save()
        report.end()
    }
}
