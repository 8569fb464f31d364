import ArgumentParser
import CommandOutput
import ContactsModel

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

    func validate() throws {
        guard !contact.present.isEmpty else {
            throw ValidationError("a contact needs something to be called by: --given, --family, --organization…")
        }
        do throws(ContactError) {
            try contact.validate(writing: contact.present)
        } catch {
            switch error {
            case .invalidContact(let key, let reason): throw ValidationError("\(key): \(reason)")
            case .limitExceeded(let limit, let maximum): throw ValidationError("more than \(maximum) for \(limit)")
            case .invalidParameter(let name): throw ValidationError("\(name) is not taken")
            }
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
        let identifiers: [String]
        do {
            identifiers = try AddressBook(to: task).save([.add(contact)])
        } catch let refused as SaveFailure {
            throw CommandFailure("could not \(task): \(refused.reason)", .notTried)
        }
        print("added \(ContactCard.name(contact))")
        if let identifier = identifiers.first { print("identifier \(Speech.clean(identifier))") }
    }
}
