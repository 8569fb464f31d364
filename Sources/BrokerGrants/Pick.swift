import BrokerAccessControl
import BrokerDisclosure
import BrokerInterface
import BrokerModel
import BrokerParameters

/// The request for a one-time pick. Its rules are ready to be evaluated for any contact.
///
/// Only the person sees the results of the rules. The app does not learn which rows can be chosen.
package struct Pick: Sendable {
    /// The keys that the app asked for. The reply contains each of them, even an empty one.
    package let keys: ContactKeySet
    /// The part of ``keys`` that the policy allows. Keys that the policy forbids count as empty, in the
    /// rules too.
    package let permitted: ContactKeySet
    package let multiple: Bool
    /// The most contacts and values together that can be picked; `nil` for no limit.
    package let limit: Int?
    let select: PickContactsParameters.Selection
    private let enabling: PickerCondition?
    private let returningContact: PickerCondition?
    private let returningProperty: PickerCondition?

    /// The actions that one row permits.
    package struct Choice: Hashable, Sendable {
        /// Whether choosing the row returns the contact. If not, the agent shows the contact's card.
        package var returns: Bool
        /// Why the row cannot be chosen; `nil` if it can be chosen.
        package var obstacle: Obstacle?
    }

    /// A condition that a contact does not meet.
    package struct Obstacle: Hashable, Sendable {
        package var problem: RowProblem
        /// The key that is missing, or has too few or too many values.
        package var key: ContactKey?
    }

    /// - Parameters:
    ///   - allowed: the keys that the policy allows.
    ///   - record: returns the contact that one of the app's identifiers names.
    package init(_ parameters: PickContactsParameters, allowed: ContactKeySet, record: (String) -> RecordNumber?) {
        keys = parameters.keys ?? Grant.ordinaryKeys
        permitted = keys.intersection(allowed)
        multiple = parameters.multiple
        limit = parameters.limit
        select = parameters.select
        enabling = parameters.enabling.map { PickerCondition($0, allowed: allowed, record: record) }
        returningContact = parameters.returningContact.map { PickerCondition($0, allowed: allowed, record: record) }
        returningProperty = parameters.returningProperty.map { PickerCondition($0, allowed: allowed, record: record) }
    }

    package func choice(_ record: RecordNumber, _ contact: StoredContact) -> Choice {
        Choice(returns: returns(record, contact), obstacle: enabling?.obstacle(for: record, contact))
    }

    private func returns(_ record: RecordNumber, _ contact: StoredContact) -> Bool {
        if let returningContact { return returningContact.obstacle(for: record, contact) == nil }
        return select == .contact
    }

    /// The keys whose values the person can choose on the contact's card.
    package func selectable(_ record: RecordNumber, _ contact: StoredContact) -> ContactKeySet {
        guard !returns(record, contact) else { return [] }
        let valued = permitted.intersection(contact.present).subtracting(Self.neverValues)
        guard let returningProperty else { return valued }
        guard returningProperty.obstacle(for: record, contact) == nil else { return [] }
        return returningProperty.key.map { valued.intersection(ContactKeySet([$0])) } ?? valued
    }

    /// Keys whose values cannot be chosen. Names accompany every picked value, the broker sets the dates, and
    /// images and extra properties have no single values.
    private static let neverValues: ContactKeySet = .names.union(.images).union(
        ContactKeySet([.creationDate, .modificationDate, .imageDataAvailable, .extraProperties]))
}

/// A rule with its identifiers resolved.
struct PickerCondition: Sendable {
    private let rule: PickerRule
    private let allowed: ContactKeySet
    private let excluded: Set<RecordNumber>

    var key: ContactKey? { rule.key }

    init(_ rule: PickerRule, allowed: ContactKeySet, record: (String) -> RecordNumber?) {
        self.rule = rule
        self.allowed = allowed
        excluded = Set(rule.excludedIdentifiers.compactMap(record))
    }

    /// Why the contact does not match the rule; `nil` if it matches.
    func obstacle(for record: RecordNumber, _ contact: StoredContact) -> Pick.Obstacle? {
        if excluded.contains(record) { return Pick.Obstacle(problem: .excluded) }
        for key in rule.hasKeys.keys where count(of: key, in: contact) == 0 {
            return Pick.Obstacle(problem: .lacksKey, key: key)
        }
        for (key, least) in rule.minimumCount where count(of: key, in: contact) < least {
            return Pick.Obstacle(problem: .tooFew, key: key)
        }
        for (key, most) in rule.maximumCount where count(of: key, in: contact) > most {
            return Pick.Obstacle(problem: .tooMany, key: key)
        }
        if let names = rule.familyNames,
            !names.contains(allowed.contains(.familyName) ? contact.familyName : "")
        {
            return Pick.Obstacle(problem: .otherFamilyName)
        }
        return nil
    }

    private func count(of key: ContactKey, in contact: StoredContact) -> Int {
        allowed.contains(key) ? contact.count(of: key) : 0
    }
}

/// The person's one-time pick, reduced to the parts that the app may get.
package struct Picked: Hashable {
    package var contacts: DisclosedContacts
    package var values: [DisclosedValue]

    package init(contacts: DisclosedContacts, values: [DisclosedValue]) {
        self.contacts = contacts
        self.values = values
    }

    /// The number of picked contacts and values, for the audit record.
    package var count: Int { contacts.records.count + values.count }
}
