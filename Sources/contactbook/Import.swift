import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

/// One run of `import`: saves cards in batches, and says what could not be taken.
struct Import {
    static let task = "import the contacts"
    /// Bounds of one save; the broker takes no frame of more than 16 MiB.
    static let changesPerSave = 2_000
    /// The first one is smaller, so that the broker begins while this program reads, and each is twice the one before.
    static let changesOfFirstSave = 125
    static let bytesPerSave = 4 * 1_048_576
    /// Cards named in the report; a file of something else must not fill the screen.
    private static let reported = 100

    /// The person wants no more.
    struct Interrupted: Error {}

    /// The person wants no more, but what they have said so far.
    struct Stopped: Error {}

    /// `nil` to read and report only.
    let book: AddressBook?
    /// Where duplicates are looked at; also without adding anything.
    let known: AddressBook?
    let interruption: Interruption
    let journal: UndoJournal?
    /// What is done with a card that is there already.
    var treatment: DuplicateTreatment
    /// The book's contacts and those of this run, to find duplicates by.
    private var index = DuplicateIndex<Place>()
    /// Of those of this run that are saved, by their number, as long as duplicates are looked for.
    private var identifiers: [Int: String] = [:]
    /// What of contacts may be read and written by a merge.
    var readable: ContactKeySet
    var groups = ImportedGroups()
    /// What merges of the batch have made of contacts, by their identifiers.
    var merged: [String: Contact] = [:]

    /// Bytes, or files, of all that is read, where that is known.
    private let size: Int?
    var sizeRead = 0
    private(set) var taken = 0
    private(set) var refused = 0
    var skipped = 0
    private(set) var mergedCount = 0
    /// Duplicates that say something which this program may not see of what is there.
    var unseen = 0
    /// Where the last contact stands that was taken.
    private var lastPlace = ""
    /// A save has failed: of those behind it some may be made, and whoever goes on must go on before them.
    private var isBroken = false
    /// Contacts of saves that were left before they were answered.
    private var doubtful = 0
    private var remarks = 0
    private var batch: [Entry] = []
    /// What is sent and not answered yet, the oldest first.
    private var underWay: [Flight] = []
    private var batchSize = 0
    private var batchLimit = Self.changesOfFirstSave
    private var count = 0

    /// Where a duplicate is: in the book, or on its way there.
    enum Place: Hashable, Sendable {
        case saved(String)
        case pending(Int)
    }

    init(
        book: AddressBook?, knowing known: AddressBook?, duplicates: DuplicateTreatment, size: Int?,
        interruption: Interruption, journal: UndoJournal?
    ) throws {
        self.book = book
        self.known = known
        self.size = size
        self.interruption = interruption
        self.journal = journal
        treatment = duplicates
        readable = .all
        guard let known, duplicates != .keep else { return }
        readable = try known.readableKeys()
        Speech.progress("looking at the contacts that are there…")
        try known.fetch(DuplicateIndex<Place>.keys.intersection(readable), unify: false, page: 1_000) {
            if let identifier = $0.identifier { index.insert(DuplicateFingerprint($0.contact), as: .saved(identifier)) }
        }
        Speech.endProgress()
    }

    /// One card, from wherever it was read.
    ///
    /// - Parameter groups: the names of the groups that it is to be in.
    mutating func take(_ contact: Contact, at place: String, groups names: [String]) throws {
        do throws(ContactError) {
            try contact.validate(writing: contact.present)
        } catch {
            refuse(place, ContactsFailure.reason(error))
            return
        }
        let membership = try membership(of: contact, in: names, place)
        let card = Card(contact, isLookedFor: treatment != .keep)
        guard let fingerprint = card.fingerprint, let match = duplicate(by: fingerprint) else {
            return try add(card, place, membership)
        }
        try takeDuplicate(card, fingerprint, match, place, membership)
    }

    /// What the index finds, by its identifier where that is known by now.
    func duplicate(by fingerprint: DuplicateFingerprint) -> DuplicateIndex<Place>.Match? {
        guard let match = index.match(fingerprint) else { return nil }
        guard case .pending(let number) = match.reference, let identifier = identifiers[number] else { return match }
        return DuplicateIndex<Place>.Match(reference: .saved(identifier), evidence: match.evidence)
    }

    mutating func add(_ card: Card, _ place: String, _ membership: ImportedGroups.Membership) throws {
        count += 1
        if let fingerprint = card.fingerprint { index.insert(fingerprint, as: .pending(count)) }
        try enqueue(
            Entry(
                number: count, contact: card.contact, digest: card.digest, merge: nil, place: place,
                memberships: membership))
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

    /// Saves what is left, then the groups.
    mutating func finish() throws {
        try save()
        try settle()
        try saveGroups()
        Speech.endProgress()
        if remarks > Self.reported { Speech.say("and \(remarks - Self.reported) more") }
    }

    /// How far one came, for whoever must go on from there.
    var soFar: String {
        let contacts = "\(Self.contacts(taken)) \(taken == 1 ? "was" : "were")"
        let last = taken == 0 || lastPlace.isEmpty ? "" : ", the last from \(lastPlace)"
        let doubt = doubtful == 0 ? "" : "; of \(doubtful) more it is not known"
        return "\(contacts) \(book == nil ? "read" : "added")\(last)\(doubt)"
    }

    /// What became of duplicates, to stand after what was added; empty where there were none.
    var duplicates: String {
        var parts: [String] = []
        if skipped > 0 { parts.append("\(skipped) \(skipped == 1 ? "was" : "were") there already") }
        if mergedCount > 0 {
            parts.append("\(mergedCount) \(book == nil ? "can be merged" : "merged") into what was there")
        }
        return parts.joined(separator: ", ")
    }

    static func contacts(_ count: Int) -> String { count == 1 ? "1 contact" : "\(count) contacts" }

    func showProgress() {
        let share = size.map { $0 == 0 ? "" : ", \(min(100, sizeRead * 100 / $0)) % read" } ?? ""
        Speech.progress("\(Self.contacts(taken)) \(book == nil ? "can be added" : "added")\(share)")
    }

    // MARK: Saving

    /// A save that is made ready, or sent and not answered yet.
    private struct Flight {
        var entries: [Entry]
        /// The same as the library has them, and their save; nothing where nothing is added.
        var contacts: [CNMutableContact] = []
        var save: CNPendingSave?

        var merges: Bool { entries.contains { $0.merge != nil } }
    }

    /// Has the batch saved. Two saves are under way at a time: the broker reads one while it writes the other. The next is made ready
    /// meanwhile, sent as soon as one is answered, and what there is to note of that one is noted then.
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
            // Cards are not weighed exactly, only found to be too much together. Until its turn comes the second half waits.
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
        // Saves that are under way together are made in any order, and two merges may be into the same contact.
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

    /// Waits for the answers to what is under way.
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
        // Before it is done: of a merge nobody knows afterwards what was there before.
        try journal?.note(
            next.entries.compactMap { entry in
                entry.merge.map {
                    .updated(
                        identifier: $0.identifier, name: ContactCard.name(entry.contact), before: $0.before,
                        after: entry.contact, keys: $0.keys)
                }
            })
        if let save = next.save { try book?.begin(save) }
    }

    /// Waits for the oldest of what is under way, and returns it. A contact that the broker does not take is left out, and the others
    /// are sent once more and waited for: what is noted is noted in the order of the file.
    ///
    /// - Returns: `nil` where nothing of it was left.
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

    /// What was under way is in the book.
    private mutating func note(_ last: Flight?) throws {
        guard let last else { return }
        if !isBroken { lastPlace = last.entries.last?.place ?? lastPlace }
        var steps: [UndoStep] = []
        for (place, entry) in last.entries.enumerated() {
            guard entry.merge == nil else {
                mergedCount += 1
                groups.join(entry.memberships, as: entry.merge?.identifier ?? "")
                continue
            }
            taken += 1
            guard book != nil else { continue }
            let identifier = last.contacts[place].identifier
            if journal != nil, let digest = entry.digest {
                steps.append(
                    .added(identifier: identifier, name: ContactCard.name(entry.contact), digest: digest))
            }
            if treatment != .keep { identifiers[entry.number] = identifier }
            groups.join(entry.memberships, as: identifier)
        }
        try journal?.note(steps, isSynced: false)
        if !merged.isEmpty {
            // What is still to be saved is not to be seen in the book yet.
            let waiting = Set((batch + underWay.flatMap(\.entries)).compactMap(\.merge?.identifier))
            merged = merged.filter { waiting.contains($0.key) }
        }
        showProgress()
    }

    /// Waits for what else is under way, a little if the person wants no more, and says what has failed.
    ///
    /// - Parameter isBroken: whether what has failed comes before that.
    private mutating func failed(_ error: any Error, isBroken: Bool = false) -> any Error {
        self.isBroken = self.isBroken || isBroken
        while !underWay.isEmpty {
            let flight = underWay.removeFirst()
            guard let book, let save = flight.save else { continue }
            do {
                guard try !book.end(save, until: interruption) else {
                    // That it cannot be undone would be the second thing to say.
                    try? note(flight)
                    continue
                }
                doubtful += flight.entries.count
            } catch is AddressBook.Unanswered {
                doubtful += flight.entries.count
            } catch {
                // The answer was no: none of it is saved.
            }
            self.isBroken = true
        }
        let refused = ContactsFailure.refused(error, could: Self.task)
        if let failure = refused as? CommandFailure { return stopped(failure) }
        return refused
    }

    /// Says how far one came: what was saved stays saved.
    func stopped(_ failure: CommandFailure) -> CommandFailure {
        Speech.endProgress()
        if taken == 0, doubtful == 0 { return failure }
        return CommandFailure("\(failure.message) (\(soFar))", try: failure.advice, failure.code)
    }

    private mutating func refuse(_ entry: Entry, _ failure: SaveFailure) {
        if let merge = entry.merge { merged[merge.identifier] = nil }
        refuse(entry.place, failure.reason)
    }

    mutating func refuse(_ place: String, _ reason: String) {
        refused += 1
        report(place, reason)
    }

    mutating func report(_ place: String, _ reason: String) {
        remarks += 1
        guard remarks <= Self.reported else { return }
        Speech.endProgress()
        Speech.say("\(place): \(reason)")
    }

    /// About as many bytes as it takes on the wire; the picture and the content lines are what can be long.
    static func size(of contact: Contact) -> Int {
        2_048 + contact.imageData.utf8.count + contact.note.utf8.count
            + contact.extraProperties.reduce(0) { $0 + $1.utf8.count }
    }
}
