import BrokerCommandOutput
import BrokerModel
import Contacts
import Dispatch
import Foundation
import Synchronization

/// The part of the address book that this program may see: a contact store, with error texts for a
/// terminal.
struct AddressBook {
    /// The command's task: the verb phrase that follows `could not` in an error.
    let task: String
    /// A command is short-lived, so it does not observe changes.
    let store = CNContactStore(observingChanges: false)
    /// The group that saves are in; `nil` if nothing is saved.
    var group: CNSaveGroup?

    /// The number of contacts to fetch at a time.
    static let pageSize = 200
    /// The maximum wait for the broker's reply to a pending save after an interruption, in seconds.
    private static let patienceAtTheEnd = 5.0

    /// The keys that distinguish contacts in a list.
    static let listKeys = ContactKeySet.names.union(ContactKeySet([.phoneNumbers, .emailAddresses]))
    /// All keys except images and the keys that must be granted by name.
    static let cardKeys = ContactKeySet.all.subtracting(.named).subtracting(.images)

    /// Opens the store. Prompts the person for access if they have not decided on it.
    ///
    /// - Parameter keys: the keys to read. The prompt offers notes and other programs' groups only if `keys`
    ///   contains them.
    init(to task: String, reading keys: ContactKeySet = listKeys) throws {
        self.task = task
        CNContactStore.usageDescription = "to \(task)"
        try askForAccess(keys)
    }

    /// Opens the store without a prompt; `nil` if this program may not see contacts yet.
    init?(ifOpenTo task: String) {
        guard [.authorized, .limited].contains(CNContactStore.authorizationStatus(for: .contacts)) else { return nil }
        self.task = task
    }

    /// Calls the body with the store, and converts the store's errors to this program's messages.
    func trying<Result>(_ body: (CNContactStore) throws -> Result) throws -> Result {
        do {
            return try body(store)
        } catch let error as CNError {
            throw ContactsFailure.describe(error, could: task)
        }
    }

    // MARK: Reading

    /// Passes the matching contacts to `each`, page by page, in the person's sort order.
    ///
    /// - Parameters:
    ///   - predicate: a predicate from a method of `CNContact`; `nil` for all contacts.
    ///   - unify: whether linked cards are unified into one contact.
    func fetch(
        _ keys: ContactKeySet, _ predicate: NSPredicate? = nil, unify: Bool = true, page: Int = pageSize,
        each: (WireContact) throws -> Void
    ) throws {
        let request = CNContactFetchRequest(keysToFetch: keys.descriptors)
        request.predicate = predicate
        request.unifyResults = unify
        request.sortOrder = .userDefault
        try trying { try $0.forEachContact(with: request, pageSize: page) { try each($0.wire) } }
    }

    /// Returns all contacts that match.
    func contacts(
        _ keys: ContactKeySet, _ predicate: NSPredicate? = nil, unify: Bool = true
    ) throws -> [WireContact] {
        var found: [WireContact] = []
        try fetch(keys, predicate, unify: unify) { found.append($0) }
        return found
    }

    /// Returns the card with this identifier, without its linked cards; `nil` if this program cannot see it.
    func card(_ identifier: String, _ keys: ContactKeySet) throws -> WireContact? {
        try contacts(keys, CNContact.predicateForContacts(withIdentifiers: [identifier]), unify: false).first
    }

    /// Passes these cards to `each`, page by page. Cards that do not exist are skipped.
    func fetch(cards identifiers: [String], _ keys: ContactKeySet, each: (WireContact) throws -> Void) throws {
        let page = keys.contains(.imageData) ? 20 : Self.pageSize
        for start in stride(from: 0, to: identifiers.count, by: page) {
            let some = Array(identifiers[start..<min(start + page, identifiers.count)])
            let predicate = CNContact.predicateForContacts(withIdentifiers: some)
            try fetch(keys, predicate, unify: false, page: page, each: each)
        }
    }

    /// Returns the identifiers of a contact's linked cards; for a contact without links, only its own
    /// identifier.
    func cards(of identifier: String) throws -> [String] {
        let cards = try trying { try $0.linkedContactIdentifiers(ofContactWithIdentifier: identifier) }
        return cards.isEmpty ? [identifier] : cards
    }

    /// The keys that this program may read. They include notes only if the person granted notes.
    func readableKeys() throws -> ContactKeySet {
        guard let keys = try trying({ try $0.authorizedKeys() }) else { return ContactKeySet.all.subtracting(.named) }
        return ContactKeySet(keys.compactMap(ContactKey.init(rawValue:)))
    }

    /// The keys that this program may fetch. If it may read whole cards, they include extra properties, of which it then
    /// gets the UIDs.
    func fetchableKeys() throws -> ContactKeySet {
        let readable = try readableKeys()
        let hasWholeCards = readable.isSuperset(of: ContactKeySet.all.subtracting(.named))
        return hasWholeCards ? readable.union(ContactKeySet(.extraProperties)) : readable
    }

    /// Returns the contact with this identifier or name. If several contacts match but only one has exactly
    /// this name (ignoring case), returns that one.
    ///
    /// - Throws: ``CommandFailure`` if no contact matches, or several do. If several match, this lists them
    ///   before it throws.
    func contact(named word: String, _ keys: ContactKeySet) throws -> WireContact {
        let isIdentifier = !word.contains(where: \.isWhitespace)
        if isIdentifier,
            let contact = try contacts(keys, CNContact.predicateForContacts(withIdentifiers: [word])).first
        {
            return contact
        }
        let found = try contacts(keys.union(Self.listKeys), CNContact.predicateForContacts(matchingName: word))
        let exact = found.filter { ContactCard.name($0.contact).lowercased() == word.lowercased() }
        if let contact = exact.count == 1 ? exact.first : found.count == 1 ? found.first : nil { return contact }
        let shown = Speech.clean(word)
        guard !found.isEmpty else {
            throw CommandFailure(
                "could not \(task): no contact that this program may see is called \(shown)",
                try: "see them all: contactbook list", .refused)
        }
        for line in ContactCard.table(found, withIdentifiers: true) { Speech.say(line) }
        throw CommandFailure(
            "could not \(task): \(shown) can mean \(found.count) contacts", try: "name one by its identifier, as above",
            .refused)
    }

    // MARK: Saving

    /// Saves a request: all steps or none.
    ///
    /// - Throws: ``CommandFailure``.
    func save(_ fill: (CNSaveRequest) -> Void) throws {
        do {
            try send(fill)
        } catch {
            throw ContactsFailure.refused((error as? Unanswered)?.failure ?? error, could: task)
        }
    }

    /// Saves a request like ``save(_:)``.
    ///
    /// - Throws: ``SaveFailure`` if a value is invalid or a limit is exceeded; ``Unanswered`` if it is unknown whether the
    ///   changes were saved; ``CommandFailure`` for everything else.
    func send(_ fill: (CNSaveRequest) -> Void) throws {
        do {
            try store.execute(request(fill))
        } catch let error as CNError {
            throw unanswered(error)
        }
    }

    /// Prepares a save. ``begin(_:)`` sends it, and ``end(_:until:)`` waits for the broker's reply.
    func prepare(_ fill: (CNSaveRequest) -> Void) throws -> CNPendingSave {
        let request = request(fill)
        return try saving { try store.prepare(request) }
    }

    func begin(_ save: CNPendingSave) throws { try saving { try save.begin() } }

    private func request(_ fill: (CNSaveRequest) -> Void) -> CNSaveRequest {
        let request = CNSaveRequest()
        request.saveGroup = group
        // No command uses the identifiers of the saved values.
        request.shouldRefetchContacts = false
        fill(request)
        return request
    }

    private func saving<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as CNError {
            throw saveFailure(error)
        }
    }

    /// Waits for the broker's reply to a pending save; after an interruption, for at most five seconds.
    ///
    /// - Returns: whether the broker replied. If not, it is unknown whether the changes were saved.
    /// - Throws: the same errors as ``save(_:)``; ``Unanswered`` if the connection failed or the reply was
    ///   invalid.
    func end(_ save: CNPendingSave, until interruption: Interruption) throws -> Bool {
        do {
            // If the reply arrived while the save was being sent, it was already read from the socket. In
            // this case the descriptor does not become readable, so do not wait for it.
            if save.isAnswered || interruption.hasNotCome(before: save.fileDescriptor) {
                try save.finish()
                return true
            }
            if try save.finish(within: Self.patienceAtTheEnd) { return true }
            save.abandon()
            return false
        } catch let error as CNError {
            throw unanswered(error)
        }
    }

    /// No valid reply to a save arrived. It is unknown whether the changes were saved.
    struct Unanswered: Error {
        let failure: any Error
    }

    private func unanswered(_ error: CNError) -> any Error {
        let failure = saveFailure(error)
        return error.code == .communicationError && error.brokerError == nil ? Unanswered(failure: failure) : failure
    }

    private func saveFailure(_ error: CNError) -> any Error {
        SaveFailure(error) ?? ContactsFailure.describe(error, could: task)
    }

    // MARK: Asking

    /// Prompts the person for access if they have not decided on it, or for notes if this program may not read
    /// them. On a terminal, the library says that the program is waiting.
    private func askForAccess(_ keys: ContactKeySet) throws {
        var wanted = keys.intersection(.byName)
        // Who manages their contacts with this program is asked once, and not again at the first change.
        var changes = CNContactChangeRight.own
        switch CNContactStore.authorizationStatus(for: .contacts) {
        case .notDetermined: changes = .all
        case .authorized, .limited:
            // Other programs' groups are only offered with the first prompt: no option asks for them.
            wanted = wanted.intersection(.named)
            if !wanted.isEmpty { wanted.subtract(try readableKeys()) }
            guard !wanted.isEmpty else { return }
        case .denied, .restricted: return
        }
        let failure = Mutex<(any Error)?>(nil)
        let isAnswered = DispatchSemaphore(value: 0)
        store.requestAccess(for: .contacts, keysToOffer: wanted.descriptors, changes: changes) { _, error in
            failure.withLock { $0 = error }
            isAnswered.signal()
        }
        isAnswered.wait()
        if let error = failure.withLock({ $0 }) {
            throw ContactsFailure.describe(error as? CNError ?? CNError(.communicationError), could: task)
        }
    }
}

extension ContactKeySet {
    /// The keys in the library's form.
    var descriptors: [any CNKeyDescriptor] { grantNames }
}
