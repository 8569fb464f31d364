import Contacts
import Foundation

/// Contacts, requests and formatters with a behaviour of their own, as unit tests make them.
class FakeContact: CNContact {
    private let name: String

    init(name: String) {
        self.name = name
        super.init()
    }

    required init?(coder: NSCoder) {
        self.name = ""
        super.init(coder: coder)
    }

    override var givenName: String { name }
    override var phoneNumbers: [CNLabeledValue<CNPhoneNumber>] {
        [CNLabeledValue(label: CNLabelHome, value: CNPhoneNumber(stringValue: "+1 555 0100"))]
    }
    override func isKeyAvailable(_ key: String) -> Bool { key != CNContactNoteKey }
}

class TaggedContact: CNMutableContact {
    var tags: [String] = []
    override var nickname: String {
        get { tags.joined(separator: " ") }
        set { tags = newValue.components(separatedBy: " ") }
    }
}

class RecordingRequest: CNSaveRequest {
    var added: [CNMutableContact] = []

    override func add(_ contact: CNMutableContact, toContainerWithIdentifier identifier: String?) {
        added.append(contact)
        super.add(contact, toContainerWithIdentifier: identifier)
    }
}

class FirstNameRequest: CNContactFetchRequest {
    convenience init() { self.init(keysToFetch: [CNContactGivenNameKey as CNKeyDescriptor]) }
    override var sortOrder: CNContactSortOrder {
        get { .givenName }
        set {}
    }
}

class ShoutingFormatter: CNContactFormatter {
    override func string(from contact: CNContact) -> String? { super.string(from: contact)?.uppercased() }
}

class OneLineFormatter: CNPostalAddressFormatter {
    override func string(from postalAddress: CNPostalAddress) -> String {
        super.string(from: postalAddress).replacingOccurrences(of: "\n", with: ", ")
    }
}

class DeniedStore: CNContactStore {
    var prompts = 0
    override func requestAccess(for entityType: CNEntityType, completionHandler: @escaping (Bool, Error?) -> Void) {
        prompts += 1
        completionHandler(false, CNError(.authorizationDenied))
    }
    override func groups(matching predicate: NSPredicate?) throws -> [CNGroup] { throw CNError(.authorizationDenied) }
    override func containers(matching predicate: NSPredicate?) throws -> [CNContainer] { [] }
    override func defaultContainerIdentifier() -> String { "local" }
    override var currentHistoryToken: Data? { nil }
}

func fakeContacts() throws {
    let fake = FakeContact(name: "Fake")
    print(fake.givenName, fake.phoneNumbers.count, fake.isKeyAvailable(CNContactNoteKey))

    let tagged = TaggedContact()
    tagged.nickname = "friend colleague"
    tagged.givenName = "Tagged"
    guard let copy = tagged.copy() as? CNContact else { return }
    tagged.givenName = "Changed"
    print(tagged.tags.count, copy is CNMutableContact, copy.givenName, ShoutingFormatter().string(from: tagged) ?? "")

    let address = CNMutablePostalAddress()
    address.street = "Storgatan 1"
    address.city = "Vemmenhög"
    print(OneLineFormatter().string(from: address))

    let denied = DeniedStore()
    denied.requestAccess(for: .contacts) { granted, error in
        print(granted, (error as? CNError)?.code == .authorizationDenied, denied.prompts)
    }
    print((try? denied.groups(matching: nil)) == nil, denied.defaultContainerIdentifier())
    print(try denied.containers(matching: nil).isEmpty, denied.currentHistoryToken == nil)

    // Requests with a behaviour of their own work with a real store.
    let store = CNContactStore()
    let request = RecordingRequest()
    request.add(tagged, toContainerWithIdentifier: nil)
    try store.execute(request)
    var names: [String] = []
    let fetch = FirstNameRequest()
    fetch.sortOrder = .none
    try store.enumerateContacts(with: fetch) { contact, _ in names.append(contact.givenName) }
    print(request.added.count, names.joined(separator: " "))
}
