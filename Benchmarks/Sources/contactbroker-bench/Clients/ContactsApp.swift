import BrokerJSON
import BrokerModel
import BrokerVarlinkClient
import Contacts
import Foundation

/// An app that uses the library `Contacts`, with the protocol of ``App``.
///
///     ask               asks for access
///     list COUNT        every contact with name, phone and e-mail keys; number of contacts, times
///     touch COUNT       like list, but also reads each contact's names, numbers and addresses
///     keep              lists once and keeps the contacts; number of contacts, growth of memory in bytes
///     fetch COUNT       one contact by the library and one by the bare call, alternately; both times
final class ContactsApp {
    private let door: String
    private let store: CNContactStore
    private var kept: [CNContact] = []
    private var identifiers: [String] = []

    init(door: String) {
        // The library finds the benchmark's broker through this variable.
        setenv("CONTACTBROKER_RUNTIME_DIR", door.split(separator: "/").dropLast(2).reduce("") { $0 + "/" + $1 }, 1)
        self.door = door
        store = CNContactStore()
    }

    func run() throws {
        while let line = readLine() {
            let words = line.split(separator: " ")
            let count = words.dropFirst().first.flatMap { Int($0) } ?? 0
            let numbers: [Int64]
            switch words.first {
            case "ask": numbers = [try ask()]
            case "list": numbers = try list(count, looking: false)
            case "touch": numbers = try list(count, looking: true)
            case "keep": numbers = try keep()
            case "fetch": numbers = try fetch(count)
            default: throw Failure("no such task: \(line)")
            }
            print(numbers.map(String.init).joined(separator: " "))
            fflush(nil)
        }
    }

    private func ask() throws -> Int64 {
        let ready = DispatchSemaphore(value: 0)
        store.requestAccess(for: .contacts) { _, _ in ready.signal() }
        ready.wait()
        guard CNContactStore.authorizationStatus(for: .contacts) == .authorized else {
            throw Failure("access was not given")
        }
        return 0
    }

    private static var keys: [any CNKeyDescriptor] {
        [
            CNContactFormatter.descriptorForRequiredKeys(for: .fullName), CNContactPhoneNumbersKey,
            CNContactEmailAddressesKey,
        ]
    }

    /// The same keys, as the bare call names them.
    private static let names = ContactKeySet.names.subtracting(ContactKeySet([.phoneticOrganizationName]))
        .union(ContactKeySet([.phoneNumbers, .emailAddresses])).keys.map(\.rawValue)

    private func all() throws -> [CNContact] {
        var contacts: [CNContact] = []
        try store.enumerateContacts(with: CNContactFetchRequest(keysToFetch: Self.keys)) { contact, _ in
            contacts.append(contact)
        }
        return contacts
    }

    private func list(_ count: Int, looking: Bool) throws -> [Int64] {
        var found = 0
        let times = try (0..<count).map { _ in
            let start = Clock.now()
            let contacts = try all()
            if looking {
                for contact in contacts {
                    found +=
                        contact.givenName.utf8.count + contact.familyName.utf8.count + contact.phoneNumbers.count
                        + contact.emailAddresses.count
                }
            }
            let time = Clock.now() - start
            found = contacts.count
            return time
        }
        return [Int64(found)] + times
    }

    private func keep() throws -> [Int64] {
        kept = []
        let before = try Memory(of: getpid()).resident
        kept = try all()
        return [Int64(kept.count), Int64(try Memory(of: getpid()).resident - before)]
    }

    /// Fetches each contact both ways, so that caches affect both. The two ways alternate in being first.
    private func fetch(_ count: Int) throws -> [Int64] {
        if identifiers.isEmpty { identifiers = try all().map(\.identifier).sorted() }
        let bare = try VarlinkClient(path: door, timeout: .seconds(30))
        var times: [Int64] = []
        for place in 0..<count {
            let identifier = identifiers[place % identifiers.count]
            let library = { () throws -> Int64 in
                let start = Clock.now()
                let contact = try self.store.unifiedContact(withIdentifier: identifier, keysToFetch: Self.keys)
                guard contact.identifier == identifier else { throw Failure("another contact came") }
                return Clock.now() - start
            }
            let call = { () throws -> Int64 in
                let start = Clock.now()
                let reply = try bare.call("io.contactbroker.Contacts.FetchContacts") {
                    $0.name("predicate")
                    $0.object { $0.member("identifiers", [identifier]) }
                    $0.member("keys", Self.names)
                }
                guard reply["contacts"]?.count == 1 else { throw Failure("no contact came") }
                return Clock.now() - start
            }
            if place.isMultiple(of: 2) {
                times += [try library(), try call()]
            } else {
                let first = try call()
                times += [try library(), first]
            }
        }
        return times
    }
}
