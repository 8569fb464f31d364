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
        _ card: Card, _ fingerprint: DuplicateFingerprint, _ match: DuplicateIndex<Place>.Match, _ place: String,
        _ membership: ImportedGroups.Membership
    ) throws {
        let different = keepsDifferent && match.evidence != .uid && !match.differing.isEmpty
        if different || treatment == .merge && match.hasOtherBirthday {
            report(
                place,
                "\(ContactCard.name(card.contact)) differs from the contact that is there in \(Self.words(match.differing));"
                    + " added as another one")
            return try add(card, place, membership)
        }
        if treatment == .skip { return try skipSaying(card, match, place, membership) }
        var reference = match.reference
        if case .pending = reference {
            // The matching contact is pending; it gets its identifier when it is saved.
            try save()
            try settle()
            reference = duplicate(by: fingerprint)?.reference ?? reference
        }
        guard case .saved(let identifier) = reference else { return skip(reference, membership) }
        guard let there = try contact(identifier) else {
            // The contact was deleted in the meantime, so the card is not a duplicate.
            return try add(card, place, membership)
        }
        let visible = readablePart(of: card.contact)
        let (after, keys) = there.completed(by: visible)
        if visible != card.contact { unseen += 1 }
        // A card without other values needs no question.
        guard treatment == .keep || keys != ContactKeySet() || !match.differing.isEmpty else {
            return skip(reference, membership)
        }
        let choice = treatment == .ask ? try ask(there, card.contact, match.evidence) : treatment
        switch choice {
        case .keep: try add(card, place, membership)
        case .merge:
            if !match.differing.isEmpty {
                report(
                    place,
                    "\(ContactCard.name(card.contact)): the contact that is there keeps its own "
                        + Self.words(match.differing))
            }
            guard keys != ContactKeySet() else { return skip(reference, membership) }
            try enqueue(
                Entry(
                    number: 0, contact: after, digest: nil,
                    merge: Entry.Merge(identifier: identifier, before: there, keys: keys), place: place,
                    memberships: membership))
            merged[identifier] = after
        case .skip, .ask: skip(reference, membership)
        }
    }

    /// Skips a card, and names it if it has values that the contact does not have.
    private mutating func skipSaying(
        _ card: Card, _ match: DuplicateIndex<Place>.Match, _ place: String, _ membership: ImportedGroups.Membership
    ) throws {
        skip(match.reference, membership)
        // The comparison of cards includes neither the note nor the photo.
        let isCompared = match.isSameCard && card.contact.note.isEmpty && card.contact.imageData.isEmpty
        guard !isCompared else { return }
        var keys = match.differing
        if case .saved(let identifier) = match.reference, let there = try contact(identifier) {
            let visible = readablePart(of: card.contact)
            if visible != card.contact { unseen += 1 }
            keys.formUnion(there.completed(by: visible).keys)
            if keys == ContactKeySet() { return }
        } else if match.isSameCard {
            return
        }
        let more = keys == ContactKeySet() ? "" : ", also its \(Self.words(keys))"
        report(
            place,
            "\(ContactCard.name(card.contact)) seems to be there already (\(match.evidence.reason)); skipped\(more)"
        )
    }

    private static func words(_ keys: ContactKeySet) -> String {
        keys.keys.map { LocalizedNames.inEnglish.key($0) }.joined(separator: ", ")
    }

    private mutating func skip(_ reference: Place, _ membership: ImportedGroups.Membership) {
        skipped += 1
        if case .saved(let identifier) = reference { groups.join(membership, as: identifier) }
    }

    /// The contact, including the pending merges of this run.
    private mutating func contact(_ identifier: String) throws -> Contact? {
        if let known = merged[identifier] { return known }
        // A pending merge may change the contact, so this waits for all pending saves.
        if hasPendingMerge { try settle() }
        return try known?.card(identifier, readable.subtracting(.images))?.contact
    }

    /// The part of a card that may be merged: the photo, and the keys that this program can read. The
    /// contact's current value of any other key is unknown.
    private func readablePart(of card: Contact) -> Contact {
        Contact().applying(card, keys: card.present.intersection(readable.union(ContactKeySet(.imageData))))
    }

    /// Shows both contacts and reads the person's choice.
    private mutating func ask(
        _ there: Contact, _ card: Contact, _ evidence: DuplicateEvidence
    ) throws -> DuplicateTreatment {
        Speech.endProgress()
        Speech.say("\n\(ContactCard.name(card)) seems to be there already: \(evidence.reason).")
        for line in SideBySide.lines(("THERE", there), ("IN THE FILE", card)) { Speech.say(line) }
        Speech.say("[s] skip it (Return)  [m] merge: add what is missing  [k] keep both  [q] stop here")
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
