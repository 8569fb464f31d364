import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerFormatting
import BrokerModel
import Contacts

struct DuplicatesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicates", abstract: "Find contacts that seem to be one person, and link or merge them.",
        discussion: """
            Contacts seem to be one person if they have the same UID, the same name and a common e-mail address or phone \
            number, or the same contents. They are shown side by side, and one key decides. Linked, both cards stay and are \
            shown as one contact. Merged, the first card gets what only the second has, and the second is removed. \
            contactbook undo reverts each decision; apps that you had shared only a removed card with have to ask again.
            """)

    @Flag(help: "Only list them, also without a terminal.") var list = false
    @Flag(help: "With notes, which a merge would otherwise lose. You are asked separately for notes.") var notes = false

    private static let task = "look for duplicates"

    private struct Pair {
        let one: String
        let other: String
        let evidence: DuplicateEvidence
    }

    private enum Choice { case leave, link, merge, stop }

    func run() throws {
        let keys = ContactKeySet.all.subtracting(notes ? [] : .named)
        let book = try AddressBook(to: Self.task, reading: keys)
        let pairs = try pairs(book)
        guard !pairs.isEmpty else { throw CommandFailure("no contacts seem to be one person", .refused) }
        if list { return try show(pairs, book) }
        guard Speech.canAsk else {
            throw CommandFailure(
                "could not \(Self.task): there is no terminal to ask on",
                try: "list them: contactbook duplicates --list",
                .notTried)
        }
        let readable = try book.readableKeys()
        let interruption = Interruption()
        var (linked, merged) = (0, 0)
        for (place, pair) in pairs.enumerated() {
            guard let both = try Both(pair.one, pair.other, book, readable) else { continue }
            switch try ask(both, pair, "\(place + 1) of \(pairs.count)", interruption) {
            case .leave: break
            case .link:
                try book.doing("link two cards of \(both.called)")
                    .link(both.cards[0][0], with: [both.cards[1][0]])
                linked += 1
            case .merge:
                if try both.merge() {
                    merged += 1
                } else {
                    Speech.say("one of them was removed meanwhile; nothing is merged")
                }
            case .stop: return report(linked, merged)
            }
        }
        report(linked, merged)
    }

    private func report(_ linked: Int, _ merged: Int) {
        print("\(linked) linked, \(merged) merged" + (linked + merged > 0 ? "; to revert: contactbook undo" : ""))
    }

    /// Pairs each contact with the first one that it seems to duplicate.
    private func pairs(_ book: AddressBook) throws -> [Pair] {
        var index = DuplicateIndex<String>()
        var pairs: [Pair] = []
        Speech.progress("looking at the contacts…")
        defer { Speech.endProgress() }
        try book.fetch(DuplicateIndex<String>.keys.intersection(book.fetchableKeys())) { wire in
            guard let identifier = wire.identifier else { return }
            let fingerprint = DuplicateFingerprint(wire.contact)
            if let match = index.match(fingerprint), !match.hasOtherBirthday {
                pairs.append(Pair(one: match.reference, other: identifier, evidence: match.evidence))
            }
            index.insert(fingerprint, as: identifier)
        }
        return pairs
    }

    private func show(_ pairs: [Pair], _ book: AddressBook) throws {
        for pair in pairs {
            let predicate = CNContact.predicateForContacts(withIdentifiers: [pair.one, pair.other])
            let contacts = try book.contacts(AddressBook.listKeys, predicate)
            guard contacts.count > 1 else { continue }
            print("\(ContactCard.name(contacts[0].contact)): \(pair.evidence.reason)")
            for line in ContactCard.table(contacts, withIdentifiers: true).dropFirst() { print("  \(line)") }
        }
    }

    private func ask(_ both: Both, _ pair: Pair, _ place: String, _ interruption: Interruption) throws -> Choice {
        Speech.say("\n\(place): \(both.called) seems to be there twice: \(pair.evidence.reason).")
        for line in SideBySide.lines(("FIRST", both.contacts[0]), ("SECOND", both.contacts[1])) { Speech.say(line) }
        let obstacle = both.obstacle
        if let obstacle {
            Speech.say("They cannot be merged: \(obstacle).")
        } else if let lost = both.lost {
            Speech.say("A merge keeps the first one's values, and loses of the second: \(lost).")
        }
        Speech.say("[s] leave them as they are (Return)  [l] link: two cards, shown as one contact  [q] stop")
        let question = obstacle == nil ? "[m] merge: one card stays" : "s, l or q"
        switch Speech.key("\(question):", among: obstacle == nil ? "slmq" : "slq", waiting: interruption.hasNotCome) {
        case "l": return .link
        case "m": return .merge
        case "s": return .leave
        default: return .stop
        }
    }
}

/// Two contacts that seem to be one person, as they are now.
private struct Both {
    private let book: AddressBook
    private let readable: ContactKeySet
    let contacts: [Contact]
    /// The identifiers of the cards of each contact.
    let cards: [[String]]

    /// Returns `nil` if one of the contacts is gone, or if they are one contact by now.
    init?(_ one: String, _ other: String, _ book: AddressBook, _ readable: ContactKeySet) throws {
        (self.book, self.readable) = (book, readable)
        var found: [(contact: Contact, cards: [String])] = []
        for identifier in [one, other] {
            let predicate = CNContact.predicateForContacts(withIdentifiers: [identifier])
            let keys = readable.subtracting(.images).union(ContactKeySet(.imageDataAvailable))
            guard let wire = try book.contacts(keys, predicate).first, let shown = wire.identifier else { return nil }
            found.append((wire.contact, try book.cards(of: shown)))
        }
        // A merge removes the second card, which should not be the person's own.
        if let me = try? book.store.unifiedMeContactWithKeys(toFetch: []).identifier, found[1].cards.contains(me) {
            found.reverse()
        }
        guard found[0].cards != found[1].cards else { return nil }
        contacts = found.map(\.contact)
        cards = found.map(\.cards)
    }

    var called: String { ContactCard.name(contacts[0]) }

    /// Why the contacts cannot be merged; `nil` if they can.
    var obstacle: String? {
        if cards.contains(where: { $0.count > 1 }) { return "one of them consists of linked cards" }
        return readable.isSuperset(of: .named)
            ? nil : "contactbook may not see notes, which would be lost; with them: contactbook duplicates --notes"
    }

    /// The values of the second contact that a merge loses, in words; `nil` if it loses none.
    var lost: String? {
        let completed = contacts[0].completed(by: contacts[1]).contact
        var keys = ContactKey.allCases.filter { key in
            guard key != .note, !ContactKeySet.ofBroker.contains(key), let text = contacts[1].text(of: key) else {
                return false
            }
            return !text.isEmpty && text != completed.text(of: key)
        }
        if contacts[0].imageDataAvailable, contacts[1].imageDataAvailable { keys.append(.imageData) }
        return keys.isEmpty ? nil : keys.map { PersonLocale.names.key($0) }.joined(separator: ", ")
    }

    /// Adds to the first card what only the second has, and removes the second, in one save.
    ///
    /// - Returns: false if one of the cards is gone.
    func merge() throws -> Bool {
        let (first, second) = (cards[0][0], cards[1][0])
        let keys = readable.subtracting(ContactKeySet(.thumbnailImageData))
        guard let there = try book.card(first, keys)?.contact, let card = try book.card(second, keys)?.contact else {
            return false
        }
        let (after, changed) = there.completed(by: card)
        let members = try book.members(of: try book.groups())
        let groups = members.filter { $0.value.contains(second) && !$0.value.contains(first) }.keys
        try book.doing("merge two cards of \(called)").save { request in
            if changed != ContactKeySet() {
                request.update(CNMutableContact(withIdentifier: first, after, writing: changed))
            }
            for group in groups { request.addMember(withIdentifier: first, toGroupWithIdentifier: group) }
            request.deleteContact(withIdentifier: second)
        }
        return true
    }
}
