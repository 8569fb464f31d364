import ArgumentParser
import CommandOutput
import ContactsModel

struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove one contact.")

    @Argument(help: "Its name, or the beginnings of the name's words, or its identifier.") var name: [String]
    @Flag(help: "Do not ask.") var yes = false

    func run() throws {
        let task = "remove the contact"
        let book = try AddressBook(to: task)
        let found = try book.contact(named: name.joined(separator: " "), AddressBook.listKeys)
        guard let identifier = found.identifier else {
            throw CommandFailure("could not \(task): it has no identifier", .notTried)
        }
        let called = ContactCard.name(found.contact)
        if !yes {
            let address = (found.contact.phoneNumbers + found.contact.emailAddresses).first?.value
            let detail = address.map { " (\(Speech.clean($0)))" } ?? ""
            guard let agreed = Speech.confirm("Remove \(called)\(detail)?") else {
                throw CommandFailure("could not \(task): there is no terminal to ask on", try: "add --yes", .notTried)
            }
            guard agreed else { throw CommandFailure("\(called) stays", .refused) }
        }
        do {
            _ = try book.save([.delete(identifier: identifier)])
        } catch let refused as SaveFailure {
            throw CommandFailure("could not \(task): \(refused.reason)", .notTried)
        }
        print("removed \(called)")
    }
}
