import BrokerCommandOutput
import BrokerModel
import Contacts
import Dispatch
import Foundation
import Synchronization

/// The person's contacts, as far as this program may see them: a store, with the manners of a program at a terminal.
struct AddressBook {
    /// What the command is about, to stand after `could not`.
    let task: String
    /// A command does one thing and ends: it need not hear of changes.
    let store = CNContactStore(observingChanges: false)

    /// Contacts fetched at a time.
    static let pageSize = 200
    /// How long an answer may take before one says what is being waited for.
    private static let patience = DispatchTimeInterval.seconds(1)
    /// How long a save that is under way may take to be answered when the person wants no more, in seconds.
    private static let patienceAtTheEnd = 5.0

    /// What one needs to tell contacts apart in a list.
    static let listKeys = ContactKeySet.names.union(ContactKeySet([.phoneNumbers, .emailAddresses]))
    /// All but what must be asked for by name, and images.
    static let cardKeys = ContactKeySet.all.subtracting(.named).subtracting(.images)

    /// Has the person asked where they have not said yet what this program may see.
    ///
    /// - Parameter keys: what is to be read; notes, and groups of others, are offered only where they are named.
    init(to task: String, reading keys: ContactKeySet = listKeys) throws {
        self.task = task
        CNContactStore.usageDescription = "to \(task)"
        try askForAccess(keys)
    }

    /// Only where this program may see contacts already: asks nobody.
    init?(ifOpenTo task: String) {
        guard [.authorized, .limited].contains(CNContactStore.authorizationStatus(for: .contacts)) else { return nil }
        self.task = task
    }

    /// Does something with the store, and says what went wrong in the program's words.
    func trying<Result>(_ body: (CNContactStore) throws -> Result) throws -> Result {
        do {
            return try body(store)
        } catch let error as CNError {
            throw ContactsFailure.describe(error, could: task)
        }
    }

    // MARK: Reading

    /// The contacts that match, page by page, in the person's order.
    ///
    /// - Parameters:
    ///   - predicate: one of `CNContact`'s; `nil` for all.
    ///   - unify: whether linked cards are one contact; else each card is one.
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

    /// The contacts that match, all of them.
    func contacts(
        _ keys: ContactKeySet, _ predicate: NSPredicate? = nil, unify: Bool = true
    ) throws -> [WireContact] {
        var found: [WireContact] = []
        try fetch(keys, predicate, unify: unify) { found.append($0) }
        return found
    }

    /// The one card of an identifier, whatever it is linked with.
    func card(_ identifier: String, _ keys: ContactKeySet) throws -> WireContact? {
        try contacts(keys, CNContact.predicateForContacts(withIdentifiers: [identifier]), unify: false).first
    }

    /// These cards, in pages, whatever their number. What is gone is left out.
    func fetch(cards identifiers: [String], _ keys: ContactKeySet, each: (WireContact) throws -> Void) throws {
        let page = keys.contains(.imageData) ? 20 : Self.pageSize
        for start in stride(from: 0, to: identifiers.count, by: page) {
            let some = Array(identifiers[start..<min(start + page, identifiers.count)])
            let predicate = CNContact.predicateForContacts(withIdentifiers: some)
            try fetch(keys, predicate, unify: false, page: page, each: each)
        }
    }

    /// The cards of which a contact is made: itself, where it is not linked.
    func cards(of identifier: String) throws -> [String] {
        let cards = try trying { try $0.linkedContactIdentifiers(ofContactWithIdentifier: identifier) }
        return cards.isEmpty ? [identifier] : cards
    }

    /// The keys that may be read now. Notes are among them only where the person said so.
    func readableKeys() throws -> ContactKeySet {
        guard let keys = try trying({ try $0.authorizedKeys() }) else { return ContactKeySet.all.subtracting(.named) }
        return ContactKeySet(keys.compactMap(ContactKey.init(rawValue:)))
    }

    /// The one contact of this identifier or name.
    ///
    /// - Throws: ``CommandFailure`` where there is none, or several, which are then listed.
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

    /// Saves what is put into a request; all steps or none.
    ///
    /// - Throws: ``SaveFailure`` where one step is not taken; ``CommandFailure`` for everything else.
    func save(_ fill: (CNSaveRequest) -> Void) throws {
        let request = Self.request(fill)
        try saving { try store.execute(request) }
    }

    /// Makes a save ready, which ``begin(_:)`` sends, and whose answer ``end(_:until:)`` waits for.
    func prepare(_ fill: (CNSaveRequest) -> Void) throws -> CNPendingSave {
        let request = Self.request(fill)
        return try saving { try store.prepare(request) }
    }

    func begin(_ save: CNPendingSave) throws { try saving { try save.begin() } }

    private static func request(_ fill: (CNSaveRequest) -> Void) -> CNSaveRequest {
        let request = CNSaveRequest()
        // What was saved is not looked at any more.
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

    /// Waits for the answer to a save that was begun; once the person wants no more, only a little longer.
    ///
    /// - Returns: whether it was answered. Where it was not, nobody knows whether it is made.
    /// - Throws: as ``save(_:)``; ``Unanswered`` where the broker went away.
    func end(_ save: CNPendingSave, until interruption: Interruption) throws -> Bool {
        do {
            // What has come while a long save was sent is in no socket any more.
            if save.isAnswered || interruption.hasNotCome(before: save.fileDescriptor) {
                try save.finish()
                return true
            }
            if try save.finish(within: Self.patienceAtTheEnd) { return true }
            save.abandon()
            return false
        } catch let error as CNError {
            guard error.code == .communicationError, error.brokerError == nil else { throw saveFailure(error) }
            throw Unanswered(failure: saveFailure(error))
        }
    }

    /// The broker went away while a save was with it: nobody knows whether it is made.
    struct Unanswered: Error {
        let failure: any Error
    }

    private func saveFailure(_ error: CNError) -> any Error {
        SaveFailure(error) ?? ContactsFailure.describe(error, could: task)
    }

    // MARK: Asking

    /// Has the person asked whether this program may see contacts, if they have not said yet. Any call would have them
    /// asked; this one says meanwhile what is being waited for.
    private func askForAccess(_ keys: ContactKeySet) throws {
        guard CNContactStore.authorizationStatus(for: .contacts) == .notDetermined else { return }
        let answer = Answer()
        store.requestAccess(for: .contacts, keysToOffer: keys.intersection(.byName).descriptors) { answer.come($1) }
        if !answer.wait(until: .now() + Self.patience) {
            Speech.say("waiting for your answer in contact-agent…")
            _ = answer.wait(until: .distantFuture)
        }
        if let error = answer.error {
            throw ContactsFailure.describe(error as? CNError ?? CNError(.communicationError), could: task)
        }
    }

    /// The person's, from the thread that brings it.
    private final class Answer: Sendable {
        private let failure = Mutex<(any Error)?>(nil)
        private let isThere = DispatchSemaphore(value: 0)

        var error: (any Error)? { failure.withLock { $0 } }

        func come(_ error: (any Error)?) {
            failure.withLock { $0 = error }
            isThere.signal()
        }

        func wait(until time: DispatchTime) -> Bool { isThere.wait(timeout: time) == .success }
    }
}

extension ContactKeySet {
    /// As the library takes them.
    var descriptors: [any CNKeyDescriptor] { grantNames }
}
