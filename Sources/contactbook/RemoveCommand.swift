import ArgumentParser
import BrokerCommandOutput
import BrokerModel
import Contacts

struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove one contact, including all its linked cards.",
        discussion: """
            contactbook undo brings it back with all that it had, also what contactbook may not see, such as the note.
            """)

    @Argument(help: "The contact's name, beginnings of its words, or identifier.", completion: .nothing) var name:
        [String]
    @Flag(help: "Do not ask for confirmation.") var yes = false

    func run() throws {
        let task = "remove the contact"
        let book = try AddressBook(to: task)
        let found = try book.contact(named: name.joined(separator: " "), AddressBook.listKeys)
        guard let identifier = found.identifier else {
            throw CommandFailure("could not \(task): it has no identifier", .notTried)
        }
        let called = ContactCard.name(found.contact)
        let cards = try book.cards(of: identifier)
        if !yes {
            let address = (found.contact.phoneNumbers + found.contact.emailAddresses).first?.value
            let detail = address.map { " (\(Speech.clean($0)))" } ?? ""
            let linked = cards.count > 1 ? ", all \(cards.count) linked cards" : ""
            Speech.say(try book.wayBack())
            guard let agreed = Speech.confirm("Remove \(called)\(detail)\(linked)?") else {
                throw CommandFailure("could not \(task): there is no terminal to ask on", try: "add --yes", .notTried)
            }
            guard agreed else { throw CommandFailure("\(called) stays", .refused) }
        }
        try book.doing("remove \(called)").save { for card in cards { $0.deleteContact(withIdentifier: card) } }
        print("removed \(called)")
    }
}
