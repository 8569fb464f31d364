import Contacts

/// A friendlier face for `CNContactStore`.
public final class AddressBook {
    public enum Failure: Error {
        case accessDenied
        case notFound
    }

    private let store: CNContactStore
    private var observers: [NSObjectProtocol] = []

    public init(store: CNContactStore = CNContactStore()) {
        self.store = store
    }

    deinit {
        observers.forEach(NotificationCenter.default.removeObserver)
    }

    /// Calls the handler on the main queue after each change.
    public func observe(_ handler: @escaping () -> Void) {
        observers.append(
            NotificationCenter.default.addObserver(forName: .CNContactStoreDidChange, object: nil, queue: .main) { _ in
                handler()
            })
    }

    public func requestAccess(_ completion: @escaping (Result<Void, Error>) -> Void) {
        store.requestAccess(for: .contacts) { granted, error in
            DispatchQueue.global().async {
                completion(granted ? .success(()) : .failure(error ?? Failure.accessDenied))
            }
        }
    }

    public func contacts(
        matching predicate: NSPredicate? = nil,
        keys: [CNKeyDescriptor] = [CNContactVCardSerialization.descriptorForRequiredKeys()]
    ) throws -> [CNContact] {
        let request = CNContactFetchRequest(keysToFetch: keys)
        request.predicate = predicate
        request.sortOrder = .userDefault
        var contacts: [CNContact] = []
        try store.enumerateContacts(with: request) { contact, _ in contacts.append(contact) }
        return contacts
    }

    public func vCard(of name: String) throws -> Data {
        let found = try contacts(matching: CNContact.predicateForContacts(matchingName: name))
        guard !found.isEmpty else { throw Failure.notFound }
        return try CNContactVCardSerialization.data(with: found)
    }

    @discardableResult
    public func add(given: String, family: String, born: DateComponents? = nil) throws -> CNContact {
        let contact = CNMutableContact()
        contact.givenName = given
        contact.familyName = family
        contact.birthday = born
        let request = CNSaveRequest()
        request.add(contact, toContainerWithIdentifier: nil)
        try store.execute(request)
        return contact
    }
}

extension CNContact {
    public var displayName: String { CNContactFormatter.string(from: self, style: .fullName) ?? "" }

    public var age: Int? {
        guard let birthday, birthday.year != nil, let date = Calendar(identifier: .gregorian).date(from: birthday)
        else {
            return nil
        }
        return Calendar(identifier: .gregorian).dateComponents([.year], from: date, to: Date()).year
    }
}
