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
        let why =
            switch evidence {
            case .uid: "the same UID"
            case .nameAndEmail: "the same name and a common e-mail address"
            case .nameAndPhone: "the same name and a common phone number"
            case .sameCard: "the same card"
            }
        Speech.say("\n\(ContactCard.name(card)) seems to be there already: \(why).")
        for line in SideBySide.lines(there, card, columns: Speech.columns) { Speech.say(line) }
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

/// Shows two contacts side by side in columns.
enum SideBySide {
    static func lines(_ there: Contact, _ card: Contact, columns: Int) -> [String] {
        let left = ContactCard.lines(WireContact(contact: there, keys: .all))
        let right = ContactCard.lines(WireContact(contact: card, keys: .all))
        let width = max(20, (min(columns, 160) - 3) / 2)
        func row(_ one: String, _ other: String) -> String {
            var line = DisplayText.line(one).isEmpty ? String(repeating: " ", count: width) : cell(one, width)
            line += " │ " + cut(other, width)
            while line.last == " " { line.removeLast() }
            return line
        }
        var lines = [row("THERE", "IN THE FILE")]
        for place in 0..<max(left.count, right.count) {
            lines.append(row(place < left.count ? left[place] : "", place < right.count ? right[place] : ""))
        }
        return lines
    }

    /// Truncates a line but keeps its indentation, which shows the structure.
    private static func cut(_ line: String, _ width: Int) -> String {
        let indent = line.prefix { $0 == " " }
        let words = line.dropFirst(indent.count).split(separator: "  ", omittingEmptySubsequences: true)
        let text = words.map { DisplayText.line(String($0)) }.joined(separator: "  ")
        return indent + DisplayText.line(text, columns: width - indent.count)
    }

    private static func cell(_ line: String, _ width: Int) -> String {
        let text = cut(line, width)
        return text + String(repeating: " ", count: max(0, width - DisplayText.columns(of: text)))
    }
}
