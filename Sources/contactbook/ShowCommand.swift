import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show one contact.")

    @Argument(help: "The contact's name, beginnings of its words, or identifier.", completion: .nothing) var name:
        [String]
    @Flag(help: "Include the note. You are asked separately for notes.") var note = false
    @Flag(help: "Show each card of a contact that consists of linked cards.") var cards = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let keys = note ? AddressBook.cardKeys.union(ContactKeySet([.note])) : AddressBook.cardKeys
        let book = try AddressBook(to: "show the contact", reading: keys)
        let contact = try book.contact(named: name.joined(separator: " "), keys)
        var shown = [contact]
        if cards, let identifier = contact.identifier {
            shown = []
            try book.fetch(cards: try book.cards(of: identifier), keys) { shown.append($0) }
        }
        if json { return print(Speech.visible(json: JSONList.contacts(shown))) }
        for (place, card) in shown.enumerated() {
            if place > 0 { print("") }
            for line in ContactCard.lines(card) { print(line) }
        }
    }
}
