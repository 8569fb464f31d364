import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

struct EditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change a contact in your editor ($VISUAL or $EDITOR).",
        discussion: """
            The contact is shown as lines of NAME: VALUE. Save the file and close the editor to save your changes; to stop, \
            change nothing or empty the file. If a line is invalid, the editor opens again with the reason above the line.
            """)

    @Argument(help: "The contact's name, beginnings of its words, or identifier.", completion: .nothing) var name:
        [String]
    @Flag(help: "Include the note. You are asked separately for notes.") var note = false

    private static let task = "edit the contact"

    func run() throws {
        let task = Self.task
        let keys = ContactForm.keys.subtracting(note ? [] : .named).union(ContactKeySet(.imageDataAvailable))
        let book = try AddressBook(to: task, reading: keys)
        let card = try card(book, keys)
        guard let identifier = card.identifier else {
            throw CommandFailure("could not \(task): it has no identifier", .notTried)
        }
        let called = ContactCard.name(card.contact)
        let editor = try Editor(to: task)
        let editable = keys.intersection(ContactForm.keys)
        var before = card.contact
        var interruption: Interruption?
        var text = ContactForm.text(of: before, keys: editable, heading: heading(called, before))
        while true {
            let edited = try editor.form(text, editable)
            guard let form = edited?.form, let typed = edited?.text else {
                throw CommandFailure("nothing is saved: the file was emptied", .refused)
            }
            let after = form.identified(from: before)
            let changed = after.keys(differingFrom: before, of: editable)
            guard changed != ContactKeySet() else {
                print("\(called) stays as it was")
                return
            }
            // The contact or the grant may have changed while the editor was open, so both are checked again.
            let book = try AddressBook(to: task, reading: keys)
            guard let now = try book.card(identifier, keys)?.contact else {
                throw CommandFailure(
                    "could not \(task): it was removed while you edited it",
                    try: "what you typed is kept in \(editor.keep())", .refused)
            }
            let meanwhile = now.keys(differingFrom: before, of: changed)
            if meanwhile != ContactKeySet() {
                switch overtaken(meanwhile, &interruption) {
                case .overwrite: break
                case .editAgain:
                    // The comments show the other program's changes; the form keeps the person's text.
                    text = again(typed, now: now, keys: meanwhile)
                    before = now
                    continue
                case .giveUp:
                    throw CommandFailure(
                        "could not \(task): it was changed while you edited it",
                        try: "what you typed is kept in \(editor.keep())", .refused)
                }
            }
            return try save(book, identifier, now, after, changed, editor)
        }
    }

    /// Returns the card to edit. If the contact has several cards and the person did not name one by its
    /// identifier, this lists the cards and throws.
    private func card(_ book: AddressBook, _ keys: ContactKeySet) throws -> WireContact {
        let found = try book.contact(named: name.joined(separator: " "), keys)
        let cards = try book.cards(of: found.identifier ?? "")
        // An identifier selects exactly one card.
        let wanted = name.count == 1 && cards.contains(name[0]) ? [name[0]] : cards
        if wanted.count > 1 {
            var shown: [WireContact] = []
            try book.fetch(cards: cards, AddressBook.listKeys) { shown.append($0) }
            for line in ContactCard.table(shown, withIdentifiers: true) { Speech.say(line) }
            throw CommandFailure(
                "could not \(Self.task): \(ContactCard.name(found.contact)) is \(cards.count) linked cards",
                try: "name one by its identifier, as above", .refused)
        }
        guard let card = try book.card(wanted[0], keys) else {
            throw CommandFailure("could not \(Self.task): it is gone", .refused)
        }
        return card
    }

    private func heading(_ called: String, _ contact: Contact) -> [String] {
        [
            called, "Change what stands behind the colons, save, and close the editor. To stop: change nothing.",
            "A phone number and the like: one line each, LABEL: VALUE, two spaces in; the label may be missing.",
            "A text of several lines: | behind the colon, then its lines, further in. # begins a comment.",
        ] + (contact.imageDataAvailable ? ["It has a picture, which stays as it is."] : [])
            + (note ? [] : ["Its note is not shown; contactbook edit --note shows it."])
    }

    // MARK: Changed meanwhile

    private enum Overtaken { case overwrite, editAgain, giveUp }

    private func overtaken(_ keys: ContactKeySet, _ known: inout Interruption?) -> Overtaken {
        let fields = ContactForm.fields(of: keys).joined(separator: ", ")
        Speech.say("It was changed meanwhile, where you changed it too: \(fields).")
        // ^C must not leave the terminal without echo.
        let interruption = known ?? Interruption()
        known = interruption
        let question = "[d] discard yours (Return)  [e] edit again  [o] overwrite with yours:"
        switch Speech.key(question, among: "deo", waiting: { interruption.hasNotCome(before: $0) }) {
        case "e": return .editAgain
        case "o": return .overwrite
        default: return .giveUp
        }
    }

    private func again(_ typed: String, now: Contact, keys: ContactKeySet) -> String {
        let theirs = ContactForm.text(of: now, keys: keys).split(separator: "\n", omittingEmptySubsequences: true)
        let remarks = ["\(Editor.mark)Changed meanwhile. What stands there now:"] + theirs.map { "\(Editor.mark)\($0)" }
        let lines = typed.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix(Editor.mark) }
        return (remarks + lines.map(String.init)).joined(separator: "\n")
    }

    private func save(
        _ book: AddressBook, _ identifier: String, _ now: Contact, _ after: Contact, _ changed: ContactKeySet,
        _ editor: Editor
    ) throws {
        let called = ContactCard.name(now.applying(after, keys: changed))
        try editor.keepingText {
            try book.doing("edit \(called)").save {
                $0.update(CNMutableContact(withIdentifier: identifier, after, writing: changed))
            }
        }
        print("changed \(called): \(ContactForm.fields(of: changed).joined(separator: ", "))")
    }
}
