import CommandOutput
import ContactFiles
import Contacts
import ContactsModel

/// One run of `import`: saves cards in batches, and says what could not be taken.
struct Import {
    static let task = "import the contacts"
    /// Bounds of one save; the broker takes no frame of more than 16 MiB.
    static let changesPerSave = 1_000
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
    var index = DuplicateIndex<Place>()
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
    /// Contacts of a save that was left before it was answered.
    private var doubtful = 0
    private var remarks = 0
    private var batch: [Entry] = []
    /// Sent to be saved, and not answered yet.
    private var underWay: [Entry] = []
    /// The same as the library has them, and their save; `nil` where nothing is added.
    private var saving: (save: CNPendingSave, contacts: [CNMutableContact])?
    private var batchSize = 0
    private var count = 0

    /// Where a duplicate is: in the book, or on its way there.
    enum Place: Hashable, Sendable {
        case saved(String)
        case pending(Int)
    }

    struct Entry {
        let number: Int
        /// The card, or the contact that it is merged into.
        let contact: Contact
        /// Of a card that is added, where duplicates are looked for.
        let fingerprint: DuplicateFingerprint?
        /// `nil` for a card that is added.
        let merge: Merge?
        /// Where it stands: file and line.
        let place: String
        let memberships: ImportedGroups.Membership

        struct Merge {
            let identifier: String
            let before: Contact
            let keys: ContactKeySet
        }

        func forSaving() -> CNMutableContact {
            guard let merge else { return CNMutableContact(contact) }
            return CNMutableContact(withIdentifier: merge.identifier, contact, writing: merge.keys)
        }
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
        guard treatment != .keep else { return try add(contact, nil, place, membership) }
        let fingerprint = DuplicateFingerprint(contact)
        guard let match = index.match(fingerprint) else { return try add(contact, fingerprint, place, membership) }
        try takeDuplicate(contact, fingerprint, match, place, membership)
    }

    mutating func add(
        _ contact: Contact, _ fingerprint: DuplicateFingerprint?, _ place: String,
        _ membership: ImportedGroups.Membership
    ) throws {
        count += 1
        if let fingerprint { index.insert(fingerprint, as: .pending(count)) }
        try enqueue(
            Entry(
                number: count, contact: contact, fingerprint: fingerprint, merge: nil, place: place,
                memberships: membership))
    }

    mutating func enqueue(_ entry: Entry) throws {
        let size = Self.size(of: entry.contact)
        if batch.count == Self.changesPerSave || batchSize + size > Self.bytesPerSave { try save() }
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
        let last = taken == 0 ? "" : ", the last from \(lastPlace)"
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

    /// Has the batch saved. While the broker does, the next one is read; before it is sent, the answer is waited for.
    mutating func save() throws {
        try settle()
        underWay = batch
        batch = []
        batchSize = 0
        if !underWay.isEmpty { try send() }
    }

    private mutating func send() throws {
        guard !interruption.hasCome else {
            underWay = []
            throw Interrupted()
        }
        do {
            // Before it is done: of a merge nobody knows afterwards what was there before.
            try journal?.note(
                underWay.compactMap { entry in
                    entry.merge.map {
                        .updated(
                            identifier: $0.identifier, name: ContactCard.name(entry.contact), before: $0.before,
                            after: entry.contact, keys: $0.keys)
                    }
                })
            let contacts = underWay.map { $0.forSaving() }
            saving = try book.map { book in
                let save = try book.begin { request in
                    for (entry, contact) in zip(underWay, contacts) {
                        if entry.merge == nil {
                            request.add(contact, toContainerWithIdentifier: nil)
                        } else {
                            request.update(contact)
                        }
                    }
                }
                return (save, contacts)
            }
        } catch {
            throw failed(error)
        }
    }

    /// Waits for the answer to what is under way. A contact that the broker does not take is left out, and the others
    /// are saved without it.
    mutating func settle() throws {
        while let last = underWay.last {
            do {
                if let book, let saving, try !book.end(saving.save, until: interruption) {
                    doubtful = underWay.count
                    (underWay, self.saving) = ([], nil)
                    throw Interrupted()
                }
                lastPlace = last.place
                try noteSaved(saving?.contacts.map(\.identifier) ?? [])
                (underWay, saving) = ([], nil)
                merged = [:]
                showProgress()
            } catch let failure as SaveFailure {
                guard let index = failure.index, underWay.indices.contains(index) else { throw failed(failure) }
                refuse(underWay.remove(at: index).place, failure.reason)
                if !underWay.isEmpty { try send() }
            } catch {
                throw failed(error)
            }
        }
    }

    /// What was under way is in the book.
    private mutating func noteSaved(_ identifiers: [String]) throws {
        var steps: [UndoStep] = []
        for (place, entry) in underWay.enumerated() {
            if entry.merge == nil { taken += 1 } else { mergedCount += 1 }
            let saved = place < identifiers.count ? identifiers[place] : ""
            let identifier = entry.merge?.identifier ?? saved
            if entry.merge == nil, book != nil, !saved.isEmpty {
                steps.append(
                    .added(
                        identifier: saved, name: ContactCard.name(entry.contact), digest: ContactDigest(entry.contact)))
                if let fingerprint = entry.fingerprint {
                    index.rename(fingerprint, from: .pending(entry.number), to: .saved(saved))
                }
            }
            if !identifier.isEmpty { groups.join(entry.memberships, as: identifier) }
        }
        try journal?.note(steps, isSynced: false)
    }

    /// Nothing is under way any more.
    private mutating func failed(_ error: any Error) -> any Error {
        (underWay, saving) = ([], nil)
        switch error {
        case let failure as SaveFailure:
            return stopped("could not \(Self.task): \(failure.reason)", try: nil, .notTried)
        case let failure as CommandFailure: return stopped(failure.message, try: failure.advice, failure.code)
        default: return error
        }
    }

    /// Says how far one came: what was saved stays saved.
    func stopped(_ message: String, try advice: String?, _ code: CommandFailure.Code) -> CommandFailure {
        Speech.endProgress()
        return CommandFailure(taken == 0 ? message : "\(message) (\(soFar))", try: advice, code)
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
