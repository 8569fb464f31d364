import BrokerConnection
import CommandOutput
import ContactsModel
import JSON
import VarlinkClient

/// The person's contacts, as far as this program may see them, through the door for apps.
struct AddressBook {
    /// What the command is about, to stand after `could not`.
    let task: String
    private let client: VarlinkClient

    /// Contacts fetched at a time.
    static let pageSize = 200
    /// How long an answer may take before one says what is being waited for.
    private static let patience = Duration.seconds(1)
    /// How long a save that is under way may take to be answered when the person wants no more.
    private static let patienceAtTheEnd = Duration.seconds(5)
    /// An answer that waits for nobody comes sooner than this; a person has two minutes.
    private static let timeout = Duration.seconds(300)

    /// What one needs to tell contacts apart in a list.
    static let listKeys = ContactKeySet.names.union(ContactKeySet([.phoneNumbers, .emailAddresses]))
    /// All but what must be asked for by name, and images.
    static let cardKeys = ContactKeySet.all.subtracting(.named).subtracting(.images)

    /// Opens the door, and has the person asked where they have not said yet what this program may see.
    init(to task: String, reading keys: ContactKeySet = listKeys) throws {
        self.task = task
        do {
            client = try BrokerConnection.connect(to: .apps, timeout: Self.timeout)
        } catch {
            throw CommandFailure(could: task, error)
        }
        try askForAccess(keys)
    }

    /// Opens the door only where this program may see contacts already: asks nobody.
    init?(ifOpenTo task: String) {
        guard let client = try? BrokerConnection.connect(to: .apps, timeout: Self.timeout),
            let known = try? client.call(ContactsFailure.prefix + "GetAuthorization"),
            let status = known["status"]?.string, ["full", "limited"].contains(status)
        else { return nil }
        self.task = task
        self.client = client
    }

    /// The contacts that match, page by page, in the person's order.
    ///
    /// - Parameter unify: whether linked cards are one contact; else each card is one.
    func fetch(
        _ keys: ContactKeySet, _ predicate: ContactSearch, unify: Bool = true, page: Int = pageSize,
        each: (WireContact) throws -> Void
    ) throws {
        var after: String?
        repeat {
            let page = try call("FetchContacts") { writer in
                predicate.write(to: &writer)
                writer.member("keys", keys.keys.map(\.rawValue))
                writer.member("sortOrder", "userDefault")
                writer.member("unify", unify ? nil : false)
                writer.member("limit", page)
                writer.member("after", after)
            }
            for json in page["contacts"]?.elements.map(Array.init) ?? [] {
                guard let contact = try? WireContact(json) else {
                    throw CommandFailure("could not \(task): the contact broker sent a contact that is none", .notTried)
                }
                try each(contact)
            }
            let next = page["next"]?.string
            // The same page again would never end.
            guard next != after else { return }
            after = next
        } while after != nil
    }

    /// The contacts that match, all of them.
    func contacts(_ keys: ContactKeySet, _ predicate: ContactSearch, unify: Bool = true) throws -> [WireContact] {
        var found: [WireContact] = []
        try fetch(keys, predicate, unify: unify) { found.append($0) }
        return found
    }

    /// These cards, in pages, whatever their number. What is gone is left out.
    func fetch(cards identifiers: [String], _ keys: ContactKeySet, each: (WireContact) throws -> Void) throws {
        let page = keys.contains(.imageData) ? 20 : Self.pageSize
        for start in stride(from: 0, to: identifiers.count, by: page) {
            let some = Array(identifiers[start..<min(start + page, identifiers.count)])
            try fetch(keys, .identifiers(some), unify: false, page: page, each: each)
        }
    }

    /// The cards of which a contact is made: itself, where it is not linked.
    func cards(of identifier: String) throws -> [String] {
        let reply = try call("ListLinkedContacts") { $0.member("identifier", identifier) }
        let cards = reply["identifiers"]?.elements?.compactMap(\.string) ?? []
        return cards.isEmpty ? [identifier] : cards
    }

    /// The keys that may be read now. Notes are among them only where the person said so.
    func readableKeys() throws -> ContactKeySet {
        let known = try call("GetAuthorization") { _ in }
        guard let keys = known["keys"]?.elements else { return ContactKeySet.all.subtracting(.named) }
        return ContactKeySet(keys.compactMap { $0.string.flatMap(ContactKey.init(rawValue:)) })
    }

    /// The one contact of this identifier or name.
    ///
    /// - Throws: ``CommandFailure`` where there is none, or several, which are then listed.
    func contact(named word: String, _ keys: ContactKeySet) throws -> WireContact {
        if !word.contains(where: \.isWhitespace), let contact = try contacts(keys, .identifiers([word])).first {
            return contact
        }
        let found = try contacts(keys.union(Self.listKeys), .name(word))
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

    /// Saves; all steps or none.
    ///
    /// - Throws: ``SaveFailure`` where one step is not taken; ``CommandFailure`` for everything else.
    func save(_ changes: [ContactChange]) throws -> [String] {
        let reply: JSONValue
        do {
            reply = try callForError("SaveContacts") { Self.write(changes, to: &$0) }
        } catch {
            throw saveFailure(error)
        }
        return Self.identifiers(reply)
    }

    private static func identifiers(_ reply: JSONValue) -> [String] {
        reply["identifiers"]?.elements?.map { $0.string ?? "" } ?? []
    }

    /// Begins a save, whose answer ``endSave(until:)`` waits for. Until then nothing else is asked.
    func beginSave(_ changes: [ContactChange]) throws {
        do {
            try client.begin(ContactsFailure.prefix + "SaveContacts") { Self.write(changes, to: &$0) }
        } catch {
            throw saveFailure(error)
        }
    }

    /// Waits for the answer to the save that was begun; once the person wants no more, only a little longer.
    ///
    /// - Returns: what ``save(_:)`` does; `nil` where it was not answered. Then nobody knows whether it is saved, and this is
    ///   no more of use.
    /// - Throws: as ``save(_:)``.
    func endSave(until interruption: Interruption) throws -> [String]? {
        do throws(VarlinkClientError) {
            // What has come while a long call was sent is in no socket any more.
            let isWanted = client.hasBufferedReply || interruption.hasNotCome(before: client.fileDescriptor)
            if let reply = try client.nextReply(timeout: isWanted ? Self.timeout : Self.patienceAtTheEnd) {
                return Self.identifiers(reply.parameters)
            }
            client.close()
            guard isWanted else { return nil }
            throw .timedOut
        } catch {
            throw saveFailure(error)
        }
    }

    private static func write(_ changes: [ContactChange], to writer: inout JSONWriter) {
        writer.name("changes")
        writer.array(changes) { $1.write(to: &$0) }
    }

    private func saveFailure(_ error: VarlinkClientError) -> any Error {
        SaveFailure(error) ?? ContactsFailure.describe(error, could: task)
    }

    func call(_ method: String, _ write: (inout JSONWriter) -> Void) throws -> JSONValue {
        do {
            return try callForError(method, write)
        } catch {
            throw ContactsFailure.describe(error, could: task)
        }
    }

    private func callForError(
        _ method: String, _ write: (inout JSONWriter) -> Void
    ) throws(VarlinkClientError) -> JSONValue {
        try client.call(ContactsFailure.prefix + method, write)
    }

    /// Has the person asked whether this program may see contacts, if they have not said yet. Any call would have them
    /// asked; this one tells them why.
    ///
    /// - Parameter keys: what is to be read; notes are offered only where they are named.
    private func askForAccess(_ keys: ContactKeySet) throws {
        do throws(VarlinkClientError) {
            let known = try client.call(ContactsFailure.prefix + "GetAuthorization")
            guard known["status"]?.says("notDetermined") == true else { return }
            try client.begin(ContactsFailure.prefix + "RequestAccess") {
                $0.member("purpose", "to \(task)")
                $0.member("keys", keys.contains(.note) ? keys.keys.map(\.rawValue) : nil)
            }
            var answer = try client.nextReply(timeout: Self.patience)
            if answer == nil {
                Speech.say("waiting for your answer in contact-agent…")
                answer = try client.nextReply(timeout: Self.timeout)
            }
            guard let answer else {
                client.close()
                throw .timedOut
            }
            guard answer.parameters["status"]?.says("notDetermined") == true else { return }
            throw .error(
                name: ContactsFailure.prefix + "AuthorizationNotDetermined", parameters: JSONDocument.emptyObject.root)
        } catch {
            throw ContactsFailure.describe(error, could: task)
        }
    }
}
