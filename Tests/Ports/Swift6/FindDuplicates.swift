import Contacts
import Foundation

/// Finds people with the same name, and cards without any way to reach the person.
actor ContactAudit {
    struct Report: Sendable {
        var duplicates: [String: Int] = [:]
        var unreachable: [String] = []
    }

    private let store: CNContactStore

    init(store: CNContactStore = CNContactStore()) {
        self.store = store
    }

    func run() async throws -> Report {
        guard try await store.requestAccess(for: .contacts) else { throw CNError(.authorizationDenied) }
        let contacts = try await withThrowingTaskGroup(of: [CNContact].self) { group in
            for container in try store.containers(matching: nil) {
                let identifier = container.identifier
                group.addTask { [store] in try Self.contacts(of: identifier, in: store) }
            }
            var contacts: [CNContact] = []
            for try await found in group { contacts += found }
            return contacts
        }
        var report = Report()
        for contact in contacts {
            let name = CNContactFormatter.string(from: contact, style: .fullName) ?? ""
            report.duplicates[name, default: 0] += 1
            if contact.phoneNumbers.isEmpty && contact.emailAddresses.isEmpty { report.unreachable.append(name) }
        }
        report.duplicates = report.duplicates.filter { $0.value > 1 }
        return report
    }

    private static func contacts(of container: String, in store: CNContactStore) throws -> [CNContact] {
        let keys: [any CNKeyDescriptor] = [
            CNContactFormatter.descriptorForRequiredKeys(for: .fullName),
            CNContactPhoneNumbersKey as any CNKeyDescriptor, CNContactEmailAddressesKey as any CNKeyDescriptor,
        ]
        let request = CNContactFetchRequest(keysToFetch: keys)
        request.predicate = CNContact.predicateForContactsInContainer(withIdentifier: container)
        var contacts: [CNContact] = []
        try store.enumerateContacts(with: request) { contact, _ in contacts.append(contact) }
        return contacts
    }
}

@MainActor
final class AuditViewModel {
    private(set) var lines: [String] = []
    private var token: (any NSObjectProtocol)?

    func load() async {
        token = NotificationCenter.default.addObserver(forName: .CNContactStoreDidChange, object: nil, queue: .main) {
            [weak self] _ in
            Task { await self?.load() }
        }
        defer { if let token { NotificationCenter.default.removeObserver(token) } }
        do {
            let report = try await ContactAudit().run()
            lines = report.duplicates.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value) cards" }
            lines += report.unreachable.sorted().map { "\($0): no number and no address" }
        } catch {
            lines = ["failed: \((error as NSError).code)"]
        }
    }
}
