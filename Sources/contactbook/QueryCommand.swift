import ArgumentParser
import BrokerCommandOutput
import BrokerModel
import Contacts

struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Find e-mail addresses for mutt and other mail programs.",
        discussion: """
            In muttrc: set query_command = "contactbook query '%s'"
            The first line is the number of addresses. Each further line is an address, a name and an organization, separated \
            by tabs. The words are beginnings of words of the name. If no name matches, they may be anywhere in an address.
            """)

    @Argument(help: "Beginnings of the name's words, or part of an address.", completion: .nothing) var words: [String]

    func run() throws {
        let book = try AddressBook(to: "look for addresses")
        let query = words.joined(separator: " ")
        var found = try book.contacts(AddressBook.listKeys, CNContact.predicateForContacts(matchingName: query))
        var wanted: (String) -> Bool = { _ in true }
        if found.isEmpty {
            let part = query.lowercased()
            wanted = { $0.lowercased().contains(part) }
            found = try book.contacts(AddressBook.listKeys).filter {
                $0.contact.emailAddresses.contains { wanted($0.value) }
            }
        }
        let lines = found.flatMap { wire in
            wire.contact.emailAddresses.filter { wanted($0.value) }.map { email in
                [email.value, ContactCard.name(wire.contact), wire.contact.organizationName]
                    .map(Speech.clean).joined(separator: "\t")
            }
        }
        print(lines.count == 1 ? "1 address" : "\(lines.count) addresses")
        for line in lines { print(line) }
        // mutt shows the first line even if there are no addresses.
        guard lines.isEmpty else { return }
        throw CommandFailure("no contact that this program may see has an address for \(Speech.clean(query))", .refused)
    }
}
