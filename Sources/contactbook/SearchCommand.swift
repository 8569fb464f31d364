import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

struct SearchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find contacts by the beginnings of the words of their names, in any order.")

    @Argument(help: "Beginnings of the name's words.", completion: .nothing) var words: [String]
    @Flag(help: "Print JSON, without notes and photos.") var json = false
    @Flag(help: "Include identifiers.") var identifiers = false

    func run() throws {
        let task = "search the contacts"
        let query = words.joined(separator: " ")
        let book = try AddressBook(to: task)
        let contacts = try book.contacts(
            json ? AddressBook.cardKeys : AddressBook.listKeys, CNContact.predicateForContacts(matchingName: query))
        if json { print(Speech.visible(json: JSONList.contacts(contacts))) }
        guard !contacts.isEmpty else {
            throw CommandFailure(
                "no name or company that contactbook may see begins with \"\(Speech.clean(query))\"",
                try: "search does not look at numbers and addresses", .refused)
        }
        if json { return }
        for line in ContactCard.table(contacts, withIdentifiers: identifiers) { print(line) }
    }
}
