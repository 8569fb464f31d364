import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `PickContacts`.
struct PickContactsParameters: Sendable {
    enum Selection: String, Sendable { case contact, property }

    /// The keys to show and return; `nil` for ``Grant/ordinaryKeys``.
    var keys: ContactKeySet?
    var enabling: PickerRule?
    var returningContact: PickerRule?
    var returningProperty: PickerRule?
    var multiple = false
    /// The most contacts and values together that can be picked; at least 1, `nil` for no limit.
    var limit: Int?
    var select = Selection.contact

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "keys": keys = try reader.keys(value, name)
            case "enabling": enabling = try PickerRule(value, of: name)
            case "returningContact": returningContact = try PickerRule(value, of: name)
            case "returningProperty": returningProperty = try PickerRule(value, of: name)
            case "multiple": multiple = try reader.bool(value, name)
            case "limit": limit = try reader.integer(value, name, in: 1...Int64.max)
            case "select": select = try reader.one(of: Selection.self, value, name)
            default: throw reader.invalid(name)
            }
        }
        // Without `multiple` the limit is 1, whatever the caller meant.
        if limit != nil, !multiple { throw .invalidParameter("limit") }
        // Only a rule about values can name the key of a value.
        if enabling?.key != nil { throw .invalidParameter("enabling") }
        if returningContact?.key != nil { throw .invalidParameter("returningContact") }
    }

    /// Every key that the call names, either to return its value or in a rule.
    var namedKeys: ContactKeySet {
        [enabling, returningContact, returningProperty].reduce(keys ?? []) { $0.union($1?.keys ?? []) }
    }
}

/// The interface's `PickerRule`. It matches a contact if all given conditions are met.
struct PickerRule: Hashable, Sendable {
    /// Keys that must have a value.
    var hasKeys = ContactKeySet()
    var minimumCount: [ContactKey: Int] = [:]
    var maximumCount: [ContactKey: Int] = [:]
    var familyNames: Set<String>?
    /// The identifiers as the app sent them, not resolved yet.
    var excludedIdentifiers: [String] = []
    /// The key that a picked value must have; present only in rules about values.
    var key: ContactKey?

    init(_ object: JSONValue, of parameter: String) throws(VarlinkError) {
        let reader = ParameterReader(outermost: parameter)
        try reader.members(of: object) { (name, value) throws(VarlinkError) in
            switch name {
            case "hasKeys": hasKeys = try reader.keys(value, name)
            case "minimumCount": minimumCount = try reader.counts(value, name)
            case "maximumCount": maximumCount = try reader.counts(value, name)
            case "familyNames":
                familyNames = Set(
                    try reader.texts(
                        value, name, maximum: ParameterLimits.familyNames, length: ParameterLimits.familyName))
            case "excludedIdentifiers":
                excludedIdentifiers = try reader.identifiers(value, name)
            case "key": key = try reader.one(of: ContactKey.self, value, name)
            default: throw reader.invalid(name)
            }
        }
    }

    /// Every key that the rule names.
    var keys: ContactKeySet {
        hasKeys.union(ContactKeySet(minimumCount.keys)).union(ContactKeySet(maximumCount.keys))
            .union(ContactKeySet([key].compactMap { $0 }))
    }
}

extension ParameterReader {
    /// Reads an object that has a number for each key.
    func counts(_ value: JSONValue, _ name: String) throws(VarlinkError) -> [ContactKey: Int] {
        guard let members = value.members, value.count <= ParameterLimits.keys else { throw invalid(name) }
        var counts: [ContactKey: Int] = [:]
        for (key, count) in members { counts[try one(of: ContactKey.self, key, name)] = try integer(count, name) }
        return counts
    }
}
