import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

/// One run of `import`. It saves cards in batches and reports those that were rejected.
struct Import {
    static let task = "import the contacts"
    /// The limits of one save. The broker accepts no frame larger than 16 MiB.
    static let changesPerSave = 2_000
    /// The first save is smaller, so that the broker starts while this program reads. Each later limit is
    /// twice the previous one, up to ``changesPerSave``.
    static let changesOfFirstSave = 125
    static let bytesPerSave = 4 * 1_048_576
    /// The maximum number of lines in the report. Without it, a file in another format could fill the screen.
    private static let reported = 100

    /// The book to add contacts to; `nil` in a dry run.
    let book: AddressBook?
    /// The book to search for duplicates, also in a dry run; `nil` if this program may not see contacts yet.
    let known: AddressBook?
    let interruption: Interruption
    let journal: UndoJournal?
    /// How to treat duplicates.
    var treatment: DuplicateTreatment
    /// Whether the person has not said what to do with duplicates, and cannot be asked.
    let isUnanswered: Bool
    /// The contacts of this run, and those of the book that its cards may duplicate.
    private var index = DuplicateIndex<Place>()
    /// Fills ``index``; `nil` if this run does not search for duplicates.
    private var inBook: KnownContacts?
    /// Identifiers of this run's saved contacts by entry number; kept only if this run searches for
    /// duplicates.
    private var identifiers: [Int: String] = [:]
    /// The UIDs of this run's cards, by the contact that each card is or repeats.
    var uids: [Place: String] = [:]
    /// ``Card/content`` of this run's contacts.
    private(set) var contents: [Place: Int] = [:]
    /// The groups of cards that repeat a contact of this run, until it is saved.
    var joining: [Int: [ImportedGroups.Membership]] = [:]
    /// The keys that a merge may read and write.
    var readable: ContactKeySet
    var groups = ImportedGroups()
    /// Contacts with pending merges applied, by identifier.
    var merged: [String: Contact] = [:]

    /// Total bytes to read, if known.
    private let size: Int?
    var sizeRead = 0
    private(set) var taken = 0
    private(set) var refused = 0
    var skipped = 0
    private(set) var mergedCount = 0
    /// The number of duplicates with values in keys that this program may not read.
    var unseen = 0
    /// The origin of the last contact that was saved.
    private var lastPlace = ""
    /// Whether a save failed. Later saves can succeed, but ``lastPlace`` must not advance past the failed
    /// save.
    private var isBroken = false
    /// The number of contacts in saves to which the broker did not reply.
    private var doubtful = 0 { didSet { journal?.isUncertain = true } }
    private var remarks = 0
    private var batch: [Entry] = []
    /// Sent saves to which the broker has not replied, oldest first.
    private var underWay: [Flight] = []
    private var batchSize = 0
    private var batchLimit = Self.changesOfFirstSave
    private var count = 0

    init(
        book: AddressBook?, knowing known: AddressBook?, duplicates: DuplicateTreatment, isUnanswered: Bool,
        size: Int?, interruption: Interruption, journal: UndoJournal?
    ) throws {
        (self.book, self.known, self.isUnanswered) = (book, known, isUnanswered)
        self.size = size
        self.interruption = interruption
        self.journal = journal
        treatment = duplicates
        readable = .all
        guard let known, duplicates != .keep else { return }
        readable = try known.readableKeys()
        inBook = try KnownContacts(known, fetchable: known.fetchableKeys())
    }

    /// Checks one imported card, then adds it or handles it as a duplicate.
    ///
    /// - Parameters:
    ///   - groups: the names of the card's groups.
    ///   - uid: the name by which groups of the same file list the card; `nil` for its UID.
    mutating func take(_ contact: Contact, at place: String, groups names: [String], uid: String? = nil) throws {
        let (contact, leftOut) = contact.fitted()
        for part in leftOut { report(place, ContactsFailure.reason(part)) }
        guard !contact.present.isEmpty else { return refuse(place, "nothing of it can be added") }
        let membership = try membership(of: contact, in: names, uid, place)
        let card = Card(contact, at: place, membership, isLookedFor: treatment != .keep)
        guard let fingerprint = card.fingerprint else { return try add(card) }
        do {
            try inBook?.insert(for: fingerprint, into: &index)
        } catch {
            throw failed(error)
        }
        guard let match = duplicate(by: fingerprint, card.uid) else { return try add(card) }
        try takeDuplicate(card, fingerprint, match)
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

    /// Returns a contact of this run that is not saved yet.
    func unsaved(_ number: Int) -> Contact? {
        (underWay.map(\.entries) + [batch]).lazy.joined().first { $0.number == number }?.contact
    }

    mutating func add(_ card: Card) throws {
        count += 1
        if let fingerprint = card.fingerprint {
            index.insert(fingerprint, as: .pending(count))
            uids[.pending(count)] = card.uid
            contents[.pending(count)] = card.content
        }
        try enqueue(Entry(card: card, number: count))
    }

    mutating func enqueue(_ entry: Entry) throws {
        let size = Self.size(of: entry.contact)
        if batch.count >= batchLimit || batchSize + size > Self.bytesPerSave {
            try save()
            batchLimit = min(batchLimit * 2, Self.changesPerSave)
        }
        batch.append(entry)
        batchSize += size
    }

    /// Saves the remaining cards, then the groups.
    mutating func finish() throws {
        try save()
        try settle()
        try saveGroups()
        Speech.endProgress()
        if remarks > Self.reported { Speech.say("and \(remarks - Self.reported) more") }
    }

    /// The progress so far, for a person who has to resume the import.
    var soFar: String {
        let contacts = "\(Count.words(taken, "contact")) \(taken == 1 ? "was" : "were")"
        let last = taken == 0 || lastPlace.isEmpty ? "" : ", the last from \(lastPlace)"
        let doubt = doubtful == 0 ? "" : "; \(Count.grouped(doubtful)) more may have been added"
        return "\(contacts) \(book == nil ? "read" : "added")\(last)\(doubt)"
    }

    func showProgress() {
        let share = size.map { $0 == 0 ? "" : ", \(min(100, sizeRead * 100 / $0)) % read" } ?? ""
        Speech.progress("\(Count.words(taken, "contact")) \(book == nil ? "can be added" : "added")\(share)")
    }

    // MARK: Saving

    /// A save that is prepared, or that was sent and has no reply yet.
    private struct Flight {
        var entries: [Entry]
        /// The entries in the library's form, and their save. A dry run has neither.
        var contacts: [CNMutableContact] = []
        var save: CNPendingSave?

        var merges: Bool { entries.contains { $0.merge != nil } }
    }

    /// Saves the batch. At most two saves are pending: the broker reads one while it writes the other.
    /// Meanwhile this program prepares the next save. As soon as the broker replies to the older save, this
    /// program sends the next one, and then records the finished save.
    mutating func save() throws {
        let entries = batch
        (batch, batchSize) = ([], 0)
        guard !entries.isEmpty else { return try settle() }
        try save(entries)
    }

    private mutating func save(_ entries: [Entry]) throws {
        let next: Flight
        do {
            next = try prepare(entries)
        } catch let failure as SaveFailure where failure.isTooLarge {
            // The batch is too large and is split. The second half waits in ``batch``, where ``note(_:)``
            // finds its merges.
            guard entries.count > 1 else { return refuse(entries[0], failure) }
            let rest = Array(entries[(entries.count / 2)...])
            batch.insert(contentsOf: rest, at: 0)
            try save(Array(entries[..<(entries.count / 2)]))
            batch.removeFirst(rest.count)
            return try save(rest)
        } catch {
            try settle()
            throw failed(error)
        }
        // The broker may apply concurrent saves in any order, and two merges can change the same contact.
        // Therefore a merge is never concurrent with another save.
        if next.merges || underWay.contains(where: \.merges) { try settle() }
        let last = underWay.count > 1 ? try answered() : nil
        do {
            try begin(next)
        } catch {
            try noting(last)
            throw failed(error)
        }
        underWay.append(next)
        try noting(last)
    }

    var hasPendingMerge: Bool { underWay.contains(where: \.merges) }

    /// Waits until the broker has replied to all pending saves.
    mutating func settle() throws {
        while !underWay.isEmpty { try noting(answered()) }
    }

    private mutating func noting(_ last: Flight?) throws {
        do {
            try note(last)
        } catch {
            throw failed(error)
        }
    }

    private func prepare(_ entries: [Entry]) throws -> Flight {
        guard let book else { return Flight(entries: entries) }
        let contacts = entries.map { $0.forSaving() }
        let save = try book.prepare { request in
            for (entry, contact) in zip(entries, contacts) {
                if entry.merge == nil {
                    request.add(contact, toContainerWithIdentifier: nil)
                } else {
                    request.update(contact)
                }
            }
        }
        return Flight(entries: entries, contacts: contacts, save: save)
    }

    private mutating func begin(_ next: Flight) throws {
        guard !interruption.hasCome else { throw Interrupted() }
        // Merges are recorded before the save, because a merge overwrites the old values.
        try journal?.note(
            next.entries.compactMap { entry in
                entry.merge.map {
                    .updated(
                        identifier: $0.identifier, name: ContactCard.name($0.after), before: $0.before,
                        after: $0.after, keys: $0.keys)
                }
            })
        if let save = next.save { try book?.begin(save) }
    }

    /// Waits for the oldest pending save and returns it. If the broker rejects a contact, this leaves the
    /// contact out, sends the others again and waits for them. Therefore results are recorded in file order.
    ///
    /// - Returns: `nil` if no contact of the save is left.
    private mutating func answered() throws -> Flight? {
        while !underWay.isEmpty {
            var last = underWay.removeFirst()
            do {
                guard let book, let save = last.save else { return last }
                if try book.end(save, until: interruption) { return last }
                doubtful += last.entries.count
                throw Interrupted()
            } catch let failure as SaveFailure {
                guard let index = failure.index, last.entries.indices.contains(index) else {
                    throw failed(failure, isBroken: true)
                }
                refuse(last.entries.remove(at: index), failure)
            } catch let lost as AddressBook.Unanswered {
                doubtful += last.entries.count
                throw failed(lost.failure, isBroken: true)
            } catch {
                throw failed(error, isBroken: true)
            }
            guard !last.entries.isEmpty else { return nil }
            do {
                let next = try prepare(last.entries)
                try begin(next)
                underWay.insert(next, at: 0)
            } catch {
                throw failed(error, isBroken: true)
            }
        }
        return nil
    }

    /// Records a save that the broker has made.
    private mutating func note(_ last: Flight?) throws {
        guard let last else { return }
        if !isBroken { lastPlace = last.entries.last?.card.place ?? lastPlace }
        var steps: [UndoStep] = []
        for (place, entry) in last.entries.enumerated() {
            guard entry.merge == nil else {
                mergedCount += 1
                groups.join(entry.card.membership, as: entry.merge?.identifier ?? "")
                continue
            }
            taken += 1
            guard book != nil else { continue }
            let identifier = last.contacts[place].identifier
            if journal != nil {
                let name = ContactCard.name(entry.contact)
                steps.append(.added(identifier: identifier, name: name, digest: entry.card.digest))
            }
            if treatment != .keep {
                identifiers[entry.number] = identifier
                uids[.saved(identifier)] = uids.removeValue(forKey: .pending(entry.number))
                contents[.saved(identifier)] = contents.removeValue(forKey: .pending(entry.number))
            }
            for membership in [entry.card.membership] + (joining.removeValue(forKey: entry.number) ?? []) {
                groups.join(membership, as: identifier)
            }
        }
        try journal?.note(steps, isSynced: false)
        if !merged.isEmpty {
            // Keep only the merges that are not saved yet: the book does not contain these.
            let waiting = Set((batch + underWay.flatMap(\.entries)).compactMap(\.merge?.identifier))
            merged = merged.filter { waiting.contains($0.key) }
        }
        showProgress()
    }

    /// Waits for the other pending saves (only a short time after an interruption), and returns a description
    /// of the failure.
    ///
    /// - Parameter isBroken: whether the failed save precedes the pending ones.
    private mutating func failed(_ error: any Error, isBroken: Bool = false) -> any Error {
        self.isBroken = self.isBroken || isBroken
        while !underWay.isEmpty {
            let flight = underWay.removeFirst()
            guard let book, let save = flight.save else { continue }
            do {
                guard try !book.end(save, until: interruption) else {
                    // Only the first failure is reported, so a journal error is ignored here.
                    try? note(flight)
                    continue
                }
                doubtful += flight.entries.count
            } catch is AddressBook.Unanswered {
                doubtful += flight.entries.count
            } catch {
                // The broker rejected the save, so none of it is saved.
            }
            self.isBroken = true
        }
        let refused = ContactsFailure.refused(error, could: Self.task)
        if let failure = refused as? CommandFailure { return stopped(failure) }
        return refused
    }

    /// Adds the progress to the failure's message, because saved contacts stay saved.
    func stopped(_ failure: CommandFailure) -> CommandFailure {
        if taken == 0, doubtful == 0 { return failure }
        return CommandFailure("\(failure.message) (\(soFar))", try: failure.advice, failure.code)
    }

    private mutating func refuse(_ entry: Entry, _ failure: SaveFailure) {
        if let merge = entry.merge { merged[merge.identifier] = nil }
        refuse(entry.card.place, failure.reason)
    }

    mutating func refuse(_ place: String, _ reason: String) {
        refused += 1
        report(place, reason)
    }

    mutating func report(_ place: String, _ reason: String) {
        remarks += 1
        guard remarks <= Self.reported else { return }
        Speech.say("\(place): \(reason)")
    }
}
