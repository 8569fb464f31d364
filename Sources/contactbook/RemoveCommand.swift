import ArgumentParser
import BrokerCommandOutput
import BrokerModel
import Contacts

struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove one contact, including all its linked cards.",
        discussion: """
            contactbook undo restores it, with its groups, and with all that contactbook may read of it; what it may not read, \
            such as the note, is named before. To other apps it is then a new contact: apps that you had shared only this \
            contact with have to ask for it again.
            """)

    @Argument(help: "The contact's name, beginnings of its words, or identifier.", completion: .nothing) var name:
        [String]
    @Flag(help: "Do not ask for confirmation.") var yes = false
    @OptionGroup var undo: UndoOption

    func run() throws {
        let task = "remove the contact"
        let book = try AddressBook(to: task)
        let found = try book.contact(named: name.joined(separator: " "), AddressBook.listKeys)
        guard let identifier = found.identifier else {
            throw CommandFailure("could not \(task): it has no identifier", .notTried)
        }
        let called = ContactCard.name(found.contact)
        let journal = undo.journal("remove \(called)", to: task)
        let cards = try book.cards(of: identifier)
        let removal = journal == nil ? nil : try Removal(book)
        if !yes {
            let address = (found.contact.phoneNumbers + found.contact.emailAddresses).first?.value
            let detail = address.map { " (\(Speech.clean($0)))" } ?? ""
            let linked = cards.count > 1 ? ", all \(cards.count) linked cards" : ""
            if let lost = Self.lost(removal) { Speech.say(lost) }
            guard let agreed = Speech.confirm("Remove \(called)\(detail)\(linked)?") else {
                throw CommandFailure("could not \(task): there is no terminal to ask on", try: "add --yes", .notTried)
            }
            guard agreed else { throw CommandFailure("\(called) stays", .refused) }
        }
        // The cards are read before they are deleted, so that undo can restore them.
        let steps = try removal?.steps(cards) ?? []
        try book.save(noting: steps, in: journal) { for card in cards { $0.deleteContact(withIdentifier: card) } }
        print("removed \(called)")
        if yes, let lost = Self.lost(removal, isDone: true) { Speech.say(lost) }
    }

    /// Explains what undo cannot restore; `nil` if it can restore everything.
    private static func lost(_ removal: Removal?, isDone: Bool = false) -> String? {
        guard let removal else { return "this cannot be undone" }
        guard !removal.unread.isEmpty else { return nil }
        let words = Removal.words(removal.unread)
        guard !isDone else { return "lost for good, if it had them, because contactbook may not read them: \(words)" }
        let allowing = removal.unread.contains(.note) ? "; to allow the note: contactbook show --note NAME" : ""
        return "undo could not bring back these, because contactbook may not read them: \(words)\(allowing)"
    }
}
