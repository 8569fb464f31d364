import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation
import Synchronization

extension CNContactStore {
    /// Throws if a save has more steps than the broker accepts in one call.
    static func require(bounded steps: [CNSaveRequest.Step]) throws(CNError) {
        guard steps.count > ParameterLimits.changes else { return }
        throw tooLarge("\(ParameterLimits.changes) steps", "has \(steps.count)", ParameterLimits.changes)
    }

    static func tooLarge(_ bound: String, _ size: String, _ maximum: Int) -> CNError {
        var details = CNError.Details(name: "LimitExceeded")
        (details.limit, details.maximum) = ("changes", maximum)
        return CNError(
            .policyViolation,
            reason:
                "a save can have at most \(bound), because it succeeds or fails as a whole, and this one \(size): save in several requests",
            details: details)
    }

    /// Notes the group of a save, and updates the saved records.
    func saved(_ steps: [CNSaveRequest.Step], as identifiers: [String], in group: CNSaveGroup?, refetching: Bool) {
        // Only the last save can be undone.
        undo.withLock { $0.last = $0.keeps ? group : nil }
        Self.take(identifiers, steps)
        // The save succeeded, even if the identifiers of its values cannot be fetched.
        if refetching { try? refetch(steps) }
    }

    /// The maximum size of a save's encoded steps: the broker's limit for a call, minus 4 KiB for the other
    /// parts of the call.
    static let largestSave = 16 * 1_048_576 - 4_096

    /// Decodes the reply: for each step, the identifier of the record it added, or an empty string.
    static func identifiers(_ answer: JSONValue) -> [String] {
        answer["identifiers"]?.elements?.map { $0.string ?? "" } ?? []
    }

    /// Sets the identifiers of added records, and marks saved contacts as unchanged.
    private static func take(_ identifiers: [String], _ steps: [CNSaveRequest.Step]) {
        for (step, identifier) in zip(steps, identifiers) {
            switch step {
            case .add(let contact, _): contact.wasSaved(as: identifier)
            case .update(let contact, _): contact.wasSaved(as: "")
            case .addGroup(let group, _): if !identifier.isEmpty { group.wasSaved(as: identifier) }
            case .delete, .updateGroup, .deleteGroup, .member, .subgroup, .link, .addContainer, .deleteContainer,
                .setMe:
                break
            }
        }
    }

    /// Fetches the saved contacts' lists of values, because the broker assigns identifiers to new values.
    private func refetch(_ steps: [CNSaveRequest.Step]) throws {
        let lists = ContactKeySet(ContactKey.allCases.filter(\.hasSeveralValues))
        var contacts: [String: CNMutableContact] = [:]
        var keys = ContactKeySet()
        for step in steps {
            let saved: CNMutableContact
            switch step {
            case .add(let contact, _): saved = contact
            case .update(let contact, _): saved = contact
            default: continue
            }
            let wanted = saved.changes.content.present.intersection(lists).intersection(saved.availableKeys)
            guard !wanted.isEmpty else { continue }
            contacts[saved.identifier] = saved
            keys.formUnion(wanted)
        }
        guard !contacts.isEmpty else { return }
        let request = CNContactFetchRequest(keysToFetch: [TaskKeys(keys: keys)])
        request.predicate = CNContact.predicateForContacts(withIdentifiers: Array(contacts.keys))
        _ = try fetch(request) { contact in
            guard let saved = contacts[contact.identifier] else { return true }
            let fetched = contact.values
            let own = keys.intersection(saved.availableKeys)
            saved.wasSaved { $0.take(fetched, own) }
            return true
        }
    }
}

extension ContactValues {
    /// Replaces the lists of values for these keys with those of another contact.
    mutating func take(_ other: ContactValues, _ keys: ContactKeySet) {
        if keys.contains(.phoneNumbers) { phoneNumbers = other.phoneNumbers }
        if keys.contains(.emailAddresses) { emailAddresses = other.emailAddresses }
        if keys.contains(.postalAddresses) { postalAddresses = other.postalAddresses }
        if keys.contains(.dates) { dates = other.dates }
        if keys.contains(.urlAddresses) { urlAddresses = other.urlAddresses }
        if keys.contains(.contactRelations) { contactRelations = other.contactRelations }
        if keys.contains(.socialProfiles) { socialProfiles = other.socialProfiles }
        if keys.contains(.instantMessageAddresses) { instantMessageAddresses = other.instantMessageAddresses }
    }
}
