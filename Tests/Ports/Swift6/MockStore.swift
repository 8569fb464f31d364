import Contacts
import Foundation

/// A store for unit tests, without the person's contacts.
final class MockContactStore: CNContactStore, @unchecked Sendable {
    nonisolated(unsafe) static var status = CNAuthorizationStatus.notDetermined
    var people: [CNContact] = []
    private(set) var executed: [CNSaveRequest] = []

    override class func authorizationStatus(for entityType: CNEntityType) -> CNAuthorizationStatus { status }

    override func requestAccess(
        for entityType: CNEntityType, completionHandler: @escaping (Bool, (any Error)?) -> Void
    ) {
        Self.status = .authorized
        completionHandler(true, nil)
    }

    override func unifiedContacts(
        matching predicate: NSPredicate, keysToFetch keys: [any CNKeyDescriptor]
    ) throws -> [CNContact] {
        guard Self.authorizationStatus(for: .contacts) == .authorized else { throw CNError(.authorizationDenied) }
        return people
    }

    override func unifiedContact(
        withIdentifier identifier: String, keysToFetch keys: [any CNKeyDescriptor]
    ) throws -> CNContact {
        guard let found = people.first(where: { $0.identifier == identifier }) else {
            throw CNError(.recordDoesNotExist)
        }
        return found
    }

    override func enumerateContacts(
        with fetchRequest: CNContactFetchRequest,
        usingBlock block: (CNContact, UnsafeMutablePointer<ObjCBool>) -> Void
    ) throws {
        var stop: ObjCBool = false
        for contact in people where !stop.boolValue { block(contact, &stop) }
    }

    override func execute(_ saveRequest: CNSaveRequest) throws { executed.append(saveRequest) }
}

func useMock() async throws {
    let mock = MockContactStore()
    let ada = CNMutableContact()
    ada.givenName = "Ada"
    mock.people = [ada]
    let store: CNContactStore = mock
    print(type(of: store).authorizationStatus(for: .contacts) == .notDetermined)
    print(try await store.requestAccess(for: .contacts))
    let keys = [CNContactGivenNameKey as any CNKeyDescriptor]
    let predicate = CNContact.predicateForContacts(matchingName: "Nobody")
    print(try store.unifiedContacts(matching: predicate, keysToFetch: keys).map(\.givenName))
    print(try store.unifiedContact(withIdentifier: ada.identifier, keysToFetch: keys) === ada)
    try store.enumerateContacts(with: CNContactFetchRequest(keysToFetch: keys)) { contact, stop in
        print(contact.givenName)
        stop.pointee = true
    }
    let request = CNSaveRequest()
    request.add(CNMutableContact(), toContainerWithIdentifier: nil)
    try store.execute(request)
    print(mock.executed.count)
}
