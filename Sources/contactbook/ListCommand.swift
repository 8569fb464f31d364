import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the contacts that this program may see, in your order.")

    @Flag(help: "Print JSON, without notes and photos.") var json = false
    @Flag(help: "Include identifiers.") var identifiers = false

    func run() throws {
        let book = try AddressBook(to: "list the contacts")
        let contacts = try book.contacts(json ? AddressBook.cardKeys : AddressBook.listKeys)
        if json { print(Speech.visible(json: JSONList.contacts(contacts))) }
        guard !contacts.isEmpty else {
            throw CommandFailure(
                CNContactStore.authorizationStatus(for: .contacts) == .limited
                    ? "you have not shared any contact with contactbook"
                    : "there are no contacts that contactbook may see",
                .refused)
        }
        if json { return }
        for line in ContactCard.table(contacts, withIdentifiers: identifiers) { print(line) }
    }
}
