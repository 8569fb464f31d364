import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

struct LinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Link contacts of one person: they are shown as one contact, and remain separate cards.",
        discussion: "Example: contactbook link \"Ada Lovelace\" \"Countess of Lovelace\"")

    @Argument(help: "Their names, each in quotes, or identifiers.", completion: .nothing) var names: [String]

    func validate() throws {
        guard names.count > 1 else { throw ValidationError("name two contacts at least, each in quotes") }
    }

    func run() throws {
        let task = "link the contacts"
        let book = try AddressBook(to: task)
        let found = try names.map { try book.contact(named: $0, AddressBook.listKeys) }
        let called = found.map { ContactCard.name($0.contact) }
        var sets: [[String]] = []
        for contact in found {
            let cards = try book.cards(of: contact.identifier ?? "")
            if !sets.contains(cards) { sets.append(cards) }
        }
        guard let first = sets.first?.first, sets.count > 1 else {
            throw CommandFailure("\(called.joined(separator: " and ")) are one contact already", .refused)
        }
        try book.doing("link \(called.joined(separator: ", "))").link(first, with: sets.dropFirst().map { $0[0] })
        print("linked \(called.joined(separator: " and "))")
    }
}

struct UnlinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlink", abstract: "Unlink cards of different people.",
        discussion: "contactbook show --cards NAME shows the cards of a contact, with their identifiers.")

    @Argument(help: "The contact's name or identifier.", completion: .nothing) var name: [String]
    @Option(help: "Unlink only this card, by its identifier. Default: all cards.", completion: .nothing) var card:
        String?

    func run() throws {
        let task = "unlink the contact"
        let book = try AddressBook(to: task)
        let found = try book.contact(named: name.joined(separator: " "), AddressBook.listKeys)
        let called = ContactCard.name(found.contact)
        let cards = try book.cards(of: found.identifier ?? "")
        guard cards.count > 1 else { throw CommandFailure("\(called) is one card, and not linked", .refused) }
        if let card, !cards.contains(card) {
            throw CommandFailure(
                "could not \(task): \(called) has no such card",
                try: "see them: contactbook show --cards \(ShellWord.quoted(found.identifier ?? ""))", .refused)
        }
        let leaving = card.map { [$0] } ?? Array(cards.dropFirst())
        let staying = cards.first { !leaving.contains($0) } ?? cards[0]
        try book.doing("unlink \(called)").save { request in
            for card in leaving { request.unlink(contactWithIdentifier: staying, fromContactWithIdentifier: card) }
        }
        print(card == nil ? "\(called) is \(cards.count) contacts now" : "took one card out of \(called)")
    }
}
