import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

struct SearchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find contacts by the beginnings of the words of their names, in any order.")

    @Argument(help: "Beginnings of the name's words.") var words: [String]
    @Flag(help: "Print JSON, without notes and photos.") var json = false
    @Flag(help: "Include identifiers.") var identifiers = false

    func run() throws {
        let task = "search the contacts"
        let query = words.joined(separator: " ")
        let book = try AddressBook(to: task)
        let contacts = try book.contacts(
            json ? AddressBook.cardKeys : AddressBook.listKeys, CNContact.predicateForContacts(matchingName: query))
        if json { print(JSONList.contacts(contacts)) }
        guard !contacts.isEmpty else {
            throw CommandFailure("no contact that this program may see matches \(Speech.clean(query))", .refused)
        }
        if json { return }
        for line in ContactCard.table(contacts, withIdentifiers: identifiers) { print(line) }
    }
}
