import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation
import Synchronization

extension CNContactStore {
    /// Saves all that a request holds, or nothing of it.
    ///
    /// Where two saves change the same property, the last one counts. When this returns the save is on the disk, and what was
    /// added has its identifier.
    ///
    /// A request holds 2,000 steps and 16 MiB at most, pictures included, and is about 10,000 cards, where a unified contact counts
    /// by its cards; more is ``CNError/Code/policyViolation``, and nothing is saved. Apple's systems have no such bound. The library
    /// does not cut a request into several saves: one of them could fail, and the others would be made. An app that does not need
    /// all or nothing executes several requests.
    ///
    /// - Throws: ``CNError``; of one step that is refused it names the record. `communicationError` where the broker went away
    ///   meanwhile: then nobody knows whether the save was made.
    public func execute(_ saveRequest: CNSaveRequest) throws {
        try WaitBudget.forOneCall { try beginExecuting(saveRequest).finish() }
    }

    /// Whether a save has more steps than can be made as a whole.
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
                "a save has \(bound) at most, since it is made as a whole, and this one \(size): save in several requests",
            details: details)
    }

    /// The save of these steps is made.
    func saved(_ steps: [CNSaveRequest.Step], as identifiers: [String], _ undoing: UndoPlan?, refetching: Bool) {
        // Where this one cannot be taken back, the one before it cannot be either: it is not the last any more.
        undo.withLock { $0.plan = $0.keeps ? undoing?.completed(identifiers) : nil }
        Self.take(identifiers, steps)
        // That its values' identifiers could not be fetched makes it no failure.
        if refetching { try? refetch(steps) }
    }

    /// What the broker takes in one call, in bytes, less what stands around the steps.
    static let largestSave = 16 * 1_048_576 - 4_096

    /// - Returns: for each step the identifier of what it added, or an empty text.
    func save(_ steps: [CNSaveRequest.Step], author: String?) throws(CNError) -> [String] {
        let call = try Self.begin(Self.written(steps), author: author)
        do throws(CallFailure) {
            return try Self.identifiers(call.answer(within: BrokerCalls.bound))
        } catch {
            throw error.asError(saving: steps)
        }
    }

    /// What the broker answered: for each step the identifier of what it added, or an empty text.
    static func identifiers(_ answer: JSONValue) -> [String] {
        answer["identifiers"]?.elements?.map { $0.string ?? "" } ?? []
    }

    /// Gives what was saved its identifiers, and forgets what was changed of it.
    private static func take(_ identifiers: [String], _ steps: [CNSaveRequest.Step]) {
        for (step, identifier) in zip(steps, identifiers) {
            switch step {
            case .add(let contact, _): contact.wasSaved(as: identifier)
            case .update(let contact): contact.wasSaved(as: "")
            case .addGroup(let group, _): if !identifier.isEmpty { group.wasSaved(as: identifier) }
            case .delete, .updateGroup, .deleteGroup, .member, .subgroup, .link, .addContainer, .deleteContainer,
                .setMe:
                break
            }
        }
    }

    /// Fetches the identifiers of the values of what was saved, where it has any that could have new ones.
    private func refetch(_ steps: [CNSaveRequest.Step]) throws {
        let lists = ContactKeySet(ContactKey.allCases.filter(\.hasSeveralValues))
        var contacts: [String: CNMutableContact] = [:]
        var keys = ContactKeySet()
        for step in steps {
            let saved: CNMutableContact
            switch step {
            case .add(let contact, _): saved = contact
            case .update(let contact): saved = contact
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
    /// Takes over the lists of these keys.
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
