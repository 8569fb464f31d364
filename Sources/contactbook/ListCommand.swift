import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the contacts that this program may see, in your order.")

    @Flag(help: "Print JSON, without notes and photos.") var json = false
    @Flag(help: "Include identifiers.") var identifiers = false

    func run() throws {
        let book = try AddressBook(to: "list the contacts")
        let contacts = try book.contacts(json ? AddressBook.cardKeys : AddressBook.listKeys)
        if json {
            print(JSONList.contacts(contacts))
        } else if contacts.isEmpty {
            Speech.say("there is no contact that this program may see")
        } else {
            for line in ContactCard.table(contacts, withIdentifiers: identifiers) { print(line) }
        }
    }
}
