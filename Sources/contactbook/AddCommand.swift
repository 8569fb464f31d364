import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a contact.",
        discussion: """
            Phone numbers, e-mail addresses and web addresses may have a label: --phone mobile:+44 20 7946 0000
            Example: contactbook add --given Ada --family Lovelace --email home:ada@example.org
            """)

    @Option(help: "Given name.") var given: String?
    @Option(help: "Middle name.") var middle: String?
    @Option(help: "Family name.") var family: String?
    @Option(help: "Prefix, such as Dr.") var prefix: String?
    @Option(help: "Suffix, such as Jr.") var suffix: String?
    @Option(help: "Nickname.") var nickname: String?
    @Option(help: "Organization. Without any other name, the contact is that organization.") var organization: String?
    @Option(help: "Department.") var department: String?
    @Option(help: "Job title.") var title: String?
    @Option(help: "Phone number, with a label if you like. May be repeated.") var phone: [LabeledArgument] = []
    @Option(help: "E-mail address, with a label if you like. May be repeated.") var email: [LabeledArgument] = []
    @Option(help: "Web address, with a label if you like. May be repeated.") var url: [LabeledArgument] = []
    @Option(help: "Birthday: 1815-12-10, or --12-10 without a year (as --birthday=--12-10).") var birthday: String?
    @Option(help: "Note.") var note: String?
    @OptionGroup var undo: UndoOption

    func validate() throws {
        guard !contact.present.isEmpty else {
            throw ValidationError("a contact needs something to be called by: --given, --family, --organization…")
        }
        do throws(ContactError) {
            try contact.validate(writing: contact.present)
        } catch {
            throw ValidationError(ContactsFailure.reason(error))
        }
    }

    var contact: Contact {
        var contact = Contact()
        contact.givenName = given ?? ""
        contact.middleName = middle ?? ""
        contact.familyName = family ?? ""
        contact.namePrefix = prefix ?? ""
        contact.nameSuffix = suffix ?? ""
        contact.nickname = nickname ?? ""
        contact.organizationName = organization ?? ""
        contact.departmentName = department ?? ""
        contact.jobTitle = title ?? ""
        contact.phoneNumbers = phone.map(\.labeledString)
        contact.emailAddresses = email.map(\.labeledString)
        contact.urlAddresses = url.map(\.labeledString)
        contact.birthday = birthday ?? ""
        contact.note = note ?? ""
        let isUnnamed = [given, middle, family, nickname].allSatisfy { $0 ?? "" == "" }
        if isUnnamed, !contact.organizationName.isEmpty { contact.contactType = .organization }
        return contact
    }

    func run() throws {
        let task = "add the contact"
        let contact = contact
        let called = ContactCard.name(contact)
        let journal = undo.journal("add \(called)", to: task)
        let book = try AddressBook(to: task)
        let card = CNMutableContact(contact)
        try book.save(in: journal) { $0.add(card, toContainerWithIdentifier: nil) }
        print("added \(called)")
        try journal?.note([.added(identifier: card.identifier, name: called, digest: ContactDigest(contact))])
        print("identifier \(Speech.clean(card.identifier))")
    }
}
