import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `PickContacts`.
package struct PickContactsParameters: Sendable {
    package enum Selection: String, Sendable { case contact, property }

    /// The keys to show and return; `nil` for ``Grant/ordinaryKeys``.
    package let keys: ContactKeySet?
    package let enabling: PickerRule?
    package let returningContact: PickerRule?
    package let returningProperty: PickerRule?
    package let multiple: Bool
    /// The most contacts and values together that can be picked; at least 1, `nil` for no limit.
    package let limit: Int?
    package let select: Selection
    package let purpose: String?

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        keys = try reader["keys"]?.keys()
        enabling = try PickerRule(reader["enabling"])
        returningContact = try PickerRule(reader["returningContact"])
        returningProperty = try PickerRule(reader["returningProperty"])
        multiple = try reader.flag("multiple")
        limit = try reader["limit"]?.integer(in: 1...Int64.max)
        select = try reader["select"]?.one(of: Selection.self) ?? .contact
        purpose = try reader["purpose"]?.text(maximum: ParameterLimits.purpose)
        try reader.finish()
        // Without `multiple` the limit is 1, whatever the caller meant.
        if limit != nil, !multiple { throw .invalidParameter("limit") }
        // Only a rule about values can name the key of a value.
        if enabling?.key != nil { throw .invalidParameter("enabling") }
        if returningContact?.key != nil { throw .invalidParameter("returningContact") }
    }

    /// Every key that the call names, either to return its value or in a rule.
    package var namedKeys: ContactKeySet {
        [enabling, returningContact, returningProperty].reduce(keys ?? []) { $0.union($1?.keys ?? []) }
    }
}

/// The interface's `PickerRule`. It matches a contact if all given conditions are met.
package struct PickerRule: Hashable, Sendable {
    /// Keys that must have a value.
    package let hasKeys: ContactKeySet
    package let minimumCount: [ContactKey: Int]
    package let maximumCount: [ContactKey: Int]
    package let familyNames: Set<String>?
    /// The identifiers as the app sent them, not resolved yet.
    package let excludedIdentifiers: [String]
    /// The key that a picked value must have; present only in rules about values.
    package let key: ContactKey?

    /// Reads a rule; `nil` if the field is absent.
    package init?(_ field: Parameter?) throws(VarlinkError) {
        guard let field else { return nil }
        var reader = try ParameterReader(field.value, in: field.name)
        hasKeys = try reader["hasKeys"]?.keys() ?? []
        minimumCount = try reader["minimumCount"]?.counts() ?? [:]
        maximumCount = try reader["maximumCount"]?.counts() ?? [:]
        let names = try reader["familyNames"]?
            .texts(maximum: ParameterLimits.familyNames, length: ParameterLimits.familyName)
        familyNames = names.map(Set.init)
        excludedIdentifiers = try reader["excludedIdentifiers"]?.identifiers() ?? []
        key = try reader["key"]?.one(of: ContactKey.self)
        try reader.finish()
    }

    /// Every key that the rule names.
    package var keys: ContactKeySet {
        hasKeys.union(ContactKeySet(minimumCount.keys)).union(ContactKeySet(maximumCount.keys))
            .union(ContactKeySet([key].compactMap { $0 }))
    }
}

extension Parameter {
    /// An object that has a number for each key.
    fileprivate func counts() throws(VarlinkError) -> [ContactKey: Int] {
        guard let members = value.members, value.count <= ParameterLimits.keys else { throw invalid }
        var counts: [ContactKey: Int] = [:]
        for (member, count) in members {
            let key = try Parameter(value: member, name: name, outermost: outermost).one(of: ContactKey.self)
            counts[key] = try Parameter(value: count, name: name, outermost: outermost).integer()
        }
        return counts
    }
}
