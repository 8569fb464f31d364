import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerFormatting
import BrokerModel

/// The treatment of an imported card that duplicates a contact.
enum DuplicateTreatment: String, ExpressibleByArgument, CaseIterable, Sendable {
    case ask, skip, merge, keep
}

extension Import {
    /// Handles a card that seems to duplicate a contact.
    mutating func takeDuplicate(
        _ card: Card, _ fingerprint: DuplicateFingerprint, _ match: DuplicateIndex<Place>.Match
    ) throws {
        var match = match
        if !match.alternatives.isEmpty {
            let all = [match.reference] + match.alternatives.prefix(Self.mostAlternatives)
            // A contact that has more may be the double of another card.
            var same = try all.first { try has($0, card, isNoMore: true) }
            if same == nil { same = try all.first { try has($0, card) } }
            match.reference = same ?? match.reference
        }
        // With another birthday it is another person, such as a son with his father's name and number.
        if match.hasOtherBirthday, isUnanswered || treatment == .merge {
            report.remark(
                card.place,
                "\(ContactCard.name(card.contact)) differs from the contact that is there in \(Self.words(match.differing));"
                    + " added as another one")
            return try add(card)
        }
        if treatment == .skip { return try skipSaying(card, match) }
        var reference = match.reference
        if case .pending = reference {
            // The matching contact is pending; it gets its identifier when it is saved.
            try saves.save()
            try saves.settle()
            reference = matches.duplicate(by: fingerprint, card.uid)?.reference ?? reference
        }
        guard case .saved(let identifier) = reference else { return skip(card, reference) }
        guard let there = try contact(identifier) else {
            // The contact was deleted in the meantime, so the card is not a duplicate.
            return try add(card)
        }
        let visible = readablePart(of: card.contact)
        let change = Change(of: there, by: visible, isSameUID: match.evidence == .uid)
        let differing = match.differing.union(change.differing)
        // A card without other values needs no question.
        guard treatment == .keep || change.keys != ContactKeySet() || differing != ContactKeySet() else {
            match.reference = reference
            return try skipSaying(card, match)
        }
        if visible != card.contact { report.unseen += 1 }
        let choice =
            treatment == .ask ? try ask(there, card.contact, match.evidence, change.isUpdate) : treatment
        switch choice {
        case .keep: try add(card)
        case .merge:
            if !change.isUpdate, differing != ContactKeySet() {
                report.remark(
                    card.place,
                    "\(ContactCard.name(card.contact)): the contact that is there keeps its own "
                        + Self.words(differing))
            }
            guard change.keys != ContactKeySet() else { return skip(card, reference) }
            if matches.uids[reference] == nil { matches.uids[reference] = card.uid }
            let merge = Entry.Merge(identifier: identifier, before: there, after: change.after, keys: change.keys)
            try saves.enqueue(Entry(card: card, merge: merge))
            saves.merged[identifier] = change.after
        case .skip, .ask: skip(card, reference)
        }
    }

    /// The maximum number of further matches to compare with a card.
    private static let mostAlternatives = 20

    /// Whether a contact has all that a card has, apart from the UID.
    ///
    /// - Parameter isNoMore: whether the contact must have nothing else.
    private mutating func has(_ reference: Place, _ card: Card, isNoMore: Bool = false) throws -> Bool {
        if matches.contents[reference] == card.content { return true }
        guard let there = try contact(at: reference) else { return false }
        let visible = readablePart(of: card.contact)
        let change = Change(of: there, by: visible, isSameUID: false)
        guard change.keys == ContactKeySet(), change.differing == ContactKeySet() else { return false }
        return !isNoMore
            || Change(of: visible, by: there, isSameUID: false).keys == ContactKeySet()
                && (there.imageData.isEmpty && !there.imageDataAvailable) == card.contact.imageData.isEmpty
    }

    /// What a card says that a contact does not.
    private struct Change {
        /// The contact after a merge.
        let after: Contact
        /// The keys that a merge changes.
        let keys: ContactKeySet
        /// The keys of which both have a text, or the label of a value, and not the same.
        let differing: ContactKeySet
        /// Whether a merge replaces what differs, because the card is a later state of the contact.
        let isUpdate: Bool

        /// - Parameter isSameUID: whether the card's UID is the contact's. Any other UID says nothing about the person.
        init(of there: Contact, by card: Contact, isSameUID: Bool) {
            let update = there.updated(by: card, ignoringCase: !isSameUID)
            let (completed, added) = (isSameUID ? update.contact : there).completed(by: card.withoutUID)
            differing = update.keys
            isUpdate = isSameUID && update.keys != ContactKeySet()
            keys = isSameUID ? added.union(update.keys) : added
            // A contact without a UID gets one, if it changes anyway.
            after = keys == ContactKeySet() ? completed : completed.completed(by: card).contact
        }
    }

    /// Skips a card, and names it if it has values that the contact does not have.
    private mutating func skipSaying(_ card: Card, _ match: DuplicateIndex<Place>.Match) throws {
        skip(card, match.reference)
        let contact = card.contact
        let isCompared =
            match.isSameCard && contact.note.isEmpty && contact.imageData.isEmpty
            && contact.withoutUID.extraProperties.isEmpty
        if isCompared { return }
        var keys = match.differing
        var change = ""
        let twin = matches.contents[match.reference]
        if twin == card.content { return }
        if let there = try self.contact(at: match.reference) {
            let visible = if case .pending = match.reference { contact } else { readablePart(of: contact) }
            if twin != nil {
                // Both are in these files and differ, perhaps in what cannot be read back.
                keys = keys.union(contact.withoutUID.present.subtracting(visible.present))
            } else if visible != contact {
                report.unseen += 1
            }
            let new = Change(of: there, by: visible, isSameUID: match.evidence == .uid)
            keys = keys.union(new.keys).union(new.differing)
            if keys == ContactKeySet() { return }
            if new.isUpdate { change = "; --duplicates merge changes the contact" }
        }
        let more = keys == ContactKeySet() ? "" : ", also its \(Self.words(keys))"
        report.remark(
            card.place,
            "\(ContactCard.name(contact)) seems to be there already (\(match.evidence.reason)); skipped\(more)\(change)"
        )
    }

    private static func words(_ keys: ContactKeySet) -> String {
        keys.keys.map { LocalizedNames.inEnglish.key($0) }.joined(separator: ", ")
    }

    private mutating func skip(_ card: Card, _ reference: Place) {
        report.skipped += 1
        if matches.uids[reference] == nil { matches.uids[reference] = card.uid }
        switch reference {
        case .saved(let identifier): groups.join(card.membership, as: identifier)
        case .pending(let number): saves.joining[number, default: []].append(card.membership)
        }
    }

    private mutating func contact(at reference: Place) throws -> Contact? {
        switch reference {
        case .saved(let identifier): try contact(identifier)
        case .pending(let number): saves.unsaved(number)
        }
    }

    /// The contact, including the pending merges of this run.
    private mutating func contact(_ identifier: String) throws -> Contact? {
        if let known = saves.merged[identifier] { return known }
        // A pending merge may change the contact, so this waits for all pending saves.
        if saves.hasPendingMerge { try saves.settle() }
        return try known?.card(identifier, readable.subtracting(.images))?.contact
    }

    /// The part of a card that may be merged: the photo, and the keys that this program can read. The
    /// contact's current value of any other key is unknown.
    private func readablePart(of card: Contact) -> Contact {
        Contact().applying(card, keys: card.present.intersection(readable.union(ContactKeySet(.imageData))))
    }

    /// Shows both contacts and reads the person's choice.
    private mutating func ask(
        _ there: Contact, _ card: Contact, _ evidence: DuplicateEvidence, _ isUpdate: Bool
    ) throws -> DuplicateTreatment {
        Speech.say(
            "\n\(ContactCard.name(card)) seems to be there already: \(evidence.reason)\(isUpdate ? ", changed" : "").")
        for line in SideBySide.lines(("THERE", there), ("IN THE FILE", card)) { Speech.say(line) }
        let merge = isUpdate ? "take the changes" : "add what is missing"
        Speech.say("[s] skip it (Return)  [m] merge: \(merge)  [k] keep both  [q] stop here")
        let key = Speech.key("[S] [M] [K] the same for all that follow:", among: "smkSMKq") {
            interruption.hasNotCome(before: $0)
        }
        switch key {
        case "s": return .skip
        case "m": return .merge
        case "k": return .keep
        case "S": treatment = .skip
        case "M": treatment = .merge
        case "K": treatment = .keep
        case "q": throw Stopped()
        default: throw Interrupted()
        }
        return treatment
    }
}
