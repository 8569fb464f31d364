import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

/// Saves the contacts of an import in batches, and reports those that were rejected.
struct ContactSaves {
    typealias Entry = Import.Entry

    /// The limits of one save. The broker accepts no frame larger than 16 MiB.
    static let changesPerSave = 2_000
    /// The first save is smaller, so that the broker starts while this program reads. Each later limit is
    /// twice the previous one, up to ``changesPerSave``.
    static let changesOfFirstSave = 125
    static let bytesPerSave = 4 * 1_048_576

    /// The book to add contacts to; `nil` in a dry run.
    private let book: AddressBook?
    private let interruption: Interruption
    private let report: ImportReport
    private let matches: ImportMatches
    private let groups: ImportedGroups
    /// The groups of cards that repeat a contact of this run, until it is saved.
    var joining: [Int: [ImportedGroups.Membership]] = [:]
    /// Contacts with pending merges applied, by identifier.
    var merged: [String: Contact] = [:]
    /// Whether a save failed. Later saves can succeed, but ``ImportReport/lastPlace`` must not advance past the failed
    /// save.
    private var isBroken = false
    private var batch: [Entry] = []
    /// Sent saves to which the broker has not replied, oldest first.
    private var underWay: [Flight] = []
    private var batchSize = 0
    private var batchLimit = Self.changesOfFirstSave

    init(
        _ book: AddressBook?, interruption: Interruption, _ report: ImportReport,
        _ matches: ImportMatches, _ groups: ImportedGroups
    ) {
        self.book = book
        self.interruption = interruption
        self.report = report
        self.matches = matches
        self.groups = groups
    }

    /// Estimated size on the wire, in bytes. Images, notes and extra properties count with their sizes. All
    /// other values count as 2 KiB together, because they are usually short.
    static func size(of contact: Contact) -> Int {
        2_048 + contact.imageData.utf8.count + contact.note.utf8.count
            + contact.extraProperties.reduce(0) { $0 + $1.utf8.count }
    }

    /// Returns a contact of this run that is not saved yet.
    func unsaved(_ number: Int) -> Contact? {
        (underWay.map(\.entries) + [batch]).lazy.joined().first { $0.number == number }?.contact
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
            note(last)
            throw failed(error)
        }
        underWay.append(next)
        note(last)
    }

    var hasPendingMerge: Bool { underWay.contains(where: \.merges) }

    /// Waits until the broker has replied to all pending saves.
    mutating func settle() throws {
        while !underWay.isEmpty { note(try answered()) }
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
        guard !interruption.hasCome else { throw Import.Interrupted() }
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
                doubt(last)
                throw Import.Interrupted()
            } catch let failure as SaveFailure {
                guard let index = failure.index, last.entries.indices.contains(index) else {
                    throw failed(failure, isBroken: true)
                }
                refuse(last.entries.remove(at: index), failure)
            } catch let lost as AddressBook.Unanswered {
                doubt(last)
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
    private mutating func note(_ last: Flight?) {
        guard let last else { return }
        if !isBroken { report.lastPlace = last.entries.last?.card.place ?? report.lastPlace }
        for (place, entry) in last.entries.enumerated() {
            guard entry.merge == nil else {
                report.mergedCount += 1
                groups.join(entry.card.membership, as: entry.merge?.identifier ?? "")
                continue
            }
            report.taken += 1
            guard book != nil else { continue }
            let identifier = last.contacts[place].identifier
            if entry.card.fingerprint != nil { matches.saved(entry.number, as: identifier) }
            for membership in [entry.card.membership] + (joining.removeValue(forKey: entry.number) ?? []) {
                groups.join(membership, as: identifier)
            }
        }
        if !merged.isEmpty {
            // Keep only the merges that are not saved yet: the book does not contain these.
            let waiting = Set((batch + underWay.flatMap(\.entries)).compactMap(\.merge?.identifier))
            merged = merged.filter { waiting.contains($0.key) }
        }
        report.showProgress()
    }

    /// Waits for the other pending saves (only a short time after an interruption), and returns a description
    /// of the failure.
    ///
    /// - Parameter isBroken: whether the failed save precedes the pending ones.
    mutating func failed(_ error: any Error, isBroken: Bool = false) -> any Error {
        self.isBroken = self.isBroken || isBroken
        while !underWay.isEmpty {
            let flight = underWay.removeFirst()
            guard let book, let save = flight.save else { continue }
            do {
                guard try !book.end(save, until: interruption) else {
                    note(flight)
                    continue
                }
                doubt(flight)
            } catch is AddressBook.Unanswered {
                doubt(flight)
            } catch {
                // The broker rejected the save, so none of it is saved.
            }
            self.isBroken = true
        }
        let refused = ContactsFailure.refused(error, could: Import.task)
        if let failure = refused as? CommandFailure { return report.stopped(failure) }
        return refused
    }

    private mutating func refuse(_ entry: Entry, _ failure: SaveFailure) {
        if let merge = entry.merge { merged[merge.identifier] = nil }
        report.refuse(entry.card.place, failure.reason)
    }

    /// Counts the contacts of a save to which the broker did not reply.
    private func doubt(_ flight: Flight) {
        report.doubtful += flight.entries.count
    }
}
