import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
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
        var reference = match.reference
        if treatment != .skip, case .pending = reference {
            // The matching contact is pending; it gets its identifier when it is saved.
            try save()
            try settle()
            reference = duplicate(by: fingerprint)?.reference ?? reference
        }
        guard treatment != .skip, case .saved(let identifier) = reference else {
            return skip(reference, membership)
        }
        guard let there = try contact(identifier) else {
            // The contact was deleted in the meantime, so the card is not a duplicate.
            return try add(card, place, membership)
        }
        let visible = readablePart(of: card.contact)
        let (after, keys) = there.completed(by: visible)
        if visible != card.contact { unseen += 1 }
        // A card without new values needs no question.
        guard treatment == .keep || keys != ContactKeySet() else { return skip(reference, membership) }
        let choice = treatment == .ask ? try ask(there, card.contact, match.evidence) : treatment
        switch choice {
        case .keep: try add(card, place, membership)
        case .merge:
            try enqueue(
                Entry(
                    number: 0, contact: after, digest: nil,
                    merge: Entry.Merge(identifier: identifier, before: there, keys: keys), place: place,
                    memberships: membership))
            merged[identifier] = after
        case .skip, .ask: skip(reference, membership)
        }
    }

    private mutating func skip(_ reference: Place, _ membership: ImportedGroups.Membership) {
        skipped += 1
        if case .saved(let identifier) = reference { groups.join(membership, as: identifier) }
    }

    /// The contact, including the pending merges of this run.
    private mutating func contact(_ identifier: String) throws -> Contact? {
        if let known = merged[identifier] { return known }
        // A pending save may change the contact, so this waits for all pending saves.
        try settle()
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
