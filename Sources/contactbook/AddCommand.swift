import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts
import Glibc

struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a contact.",
        discussion: """
            Phone numbers, e-mail addresses and web addresses may have a label: --phone mobile:+44 20 7946 0000
            Example: contactbook add --given Ada --family Lovelace --email home:ada@example.org
            Without options, your editor opens with an empty form; if standard input is no terminal, the form is read from it. \
            Other users of this machine can read options while the program runs (unless /proc is mounted with hidepid), but \
            neither the editor's file nor standard input.
            """)

    @Option(help: "Given name.", completion: .nothing) var given: String?
    @Option(help: "Middle name.", completion: .nothing) var middle: String?
    @Option(help: "Family name.", completion: .nothing) var family: String?
    @Option(help: "Prefix, such as Dr.", completion: .nothing) var prefix: String?
    @Option(help: "Suffix, such as Jr.", completion: .nothing) var suffix: String?
    @Option(help: "Nickname.", completion: .nothing) var nickname: String?
    @Option(help: "Organization. Without any other name, the contact is that organization.", completion: .nothing)
    var organization: String?
    @Option(help: "Department.", completion: .nothing) var department: String?
    @Option(help: "Job title.", completion: .nothing) var title: String?
    @Option(help: "Phone number, with a label if you like. May be repeated.", completion: .nothing) var phone:
        [LabeledArgument] = []
    @Option(help: "E-mail address, with a label if you like. May be repeated.", completion: .nothing) var email:
        [LabeledArgument] = []
    @Option(help: "Web address, with a label if you like. May be repeated.", completion: .nothing) var url:
        [LabeledArgument] = []
    @Option(help: "Birthday: 1815-12-10, or --12-10 without a year (as --birthday=--12-10).", completion: .nothing)
    var birthday: String?
    @Option(help: "Note.", completion: .nothing) var note: String?

    /// Whether the options specify a contact. If not, the contact comes from the editor or from standard
    /// input, which other users cannot read.
    private var isGiven: Bool { !contact.present.isEmpty }

    func validate() throws {
        guard isGiven else { return }
        do throws(ContactError) {
            try contact.validate(writing: contact.present)
        } catch {
            throw ValidationError(ContactsFailure.reason(error))
        }
    }

    private var contact: Contact {
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

    private static let task = "add the contact"

    func run() throws {
        guard !isGiven else { return try add(contact) }
        guard isatty(STDIN_FILENO) == 0 else {
            let editor = try Editor(to: Self.task)
            guard let form = try editor.form(Self.emptyForm, ContactForm.keys)?.form else {
                throw CommandFailure("nothing is added: the file was emptied", .refused)
            }
            return try editor.keepingText { try add(form.contact) }
        }
        let text = try Self.standardInput()
        let form: ContactForm
        do throws(ContactForm.Problem) {
            form = try ContactForm(reading: text, keys: ContactForm.keys)
        } catch {
            throw CommandFailure(
                "could not \(Self.task): standard input, line \(error.line): \(Speech.clean(error.reason))",
                try: "lines such as \"Given name: Ada\", as contactbook edit shows them", .notTried)
        }
        try add(form.contact)
    }

    private static var emptyForm: String {
        ContactForm.text(
            of: Contact(), keys: ContactForm.keys,
            heading: [
                "A new contact. Write values after the colons, save, and close the editor. To stop, change nothing.",
                "A phone number and the like: one line each, LABEL: VALUE, two spaces in; the label may be missing.",
            ])
    }

    private static func standardInput() throws -> String {
        let file = try ImportedFile("-")
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let piece = try file.read(into: &buffer)
            if piece.isEmpty { break }
            bytes += piece
            guard bytes.count <= 1_048_576 else {
                throw CommandFailure("could not \(task): standard input has more than 1 MB", .notTried)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure("could not \(task): standard input is not UTF-8", .notTried)
        }
        return text
    }

    private func add(_ contact: Contact) throws {
        let named = contact.present.subtracting(ContactKeySet(.contactType))
        guard !named.isEmpty else {
            throw CommandFailure(
                "could not \(Self.task): it is empty",
                try: "give a name: contactbook add (opens your editor), or contactbook add --given Ada", .notTried)
        }
        let called = ContactCard.name(contact)
        let book = try AddressBook(to: Self.task).doing("add \(called)")
        let card = CNMutableContact(contact)
        try book.save { $0.add(card, toContainerWithIdentifier: nil) }
        print("added \(called)")
        print("identifier \(Speech.clean(card.identifier))")
    }
}
