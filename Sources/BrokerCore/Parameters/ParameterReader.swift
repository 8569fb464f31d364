import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Reads the parameters of a call strictly. An unknown field, or a value of the wrong type, causes the error
/// `InvalidParameter` with the field's name. A field that is `null` counts as absent.
///
/// The values are untrusted and up to 16 MiB long, and they are read on the event loop. So each list and each text is
/// compared with its bound before any of it is read.
struct ParameterReader {
    /// The parameter that contains the struct being read; `nil` for the parameters themselves. Errors name
    /// this parameter instead of the struct's field.
    var outermost: String?

    func invalid(_ name: String) -> VarlinkError { .invalidParameter(outermost ?? name) }

    /// Passes the name and value of each member that is not `null` to `body`.
    ///
    /// - Parameter required: members that must be present. If one is missing, the method throws after it has
    ///   read all members.
    func members(
        of object: JSONValue, requiring required: [String] = [],
        _ body: (_ name: String, _ value: JSONValue) throws(VarlinkError) -> Void
    ) throws(VarlinkError) {
        guard let members = object.members, object.count <= ParameterLimits.members else { throw invalid("parameters") }
        var present = 0
        for (member, value) in members where !value.isNull {
            // A name that is too long becomes an empty one, which the `default` case of `body` rejects like an
            // unknown name.
            let name = member.string(ofAtMost: ParameterLimits.name) ?? ""
            try body(name, value)
            if required.contains(name) { present += 1 }
        }
        // The JSON parser rejects two members with the same name, so the count shows whether a required one
        // is missing.
        guard present < required.count else { return }
        for name in required {
            guard let value = object[name], !value.isNull else { throw invalid(name) }
        }
    }

    /// Reads an identifier, a token or a cookie.
    func identifier(
        _ value: JSONValue, _ name: String, maximum: Int = ParameterLimits.identifier
    ) throws(VarlinkError) -> String {
        guard let identifier = value.identifier(ofAtMost: maximum) else { throw invalid(name) }
        return identifier
    }

    func bool(_ value: JSONValue, _ name: String) throws(VarlinkError) -> Bool {
        guard let bool = value.bool else { throw invalid(name) }
        return bool
    }

    func integer(
        _ value: JSONValue, _ name: String, in range: ClosedRange<Int64> = 0...Int64.max
    ) throws(VarlinkError) -> Int {
        guard let integer = value.integer, range.contains(integer) else { throw invalid(name) }
        return Int(integer)
    }

    func identifiers(_ value: JSONValue, _ name: String) throws(VarlinkError) -> [String] {
        try list(value, name, maximum: ParameterLimits.identifiers) { (element) throws(VarlinkError) in
            try identifier(element, name)
        }
    }

    /// - Parameters:
    ///   - maximum: the maximum number of texts.
    ///   - length: the maximum length of each, in bytes of UTF-8.
    func texts(_ value: JSONValue, _ name: String, maximum: Int, length: Int) throws(VarlinkError) -> [String] {
        try list(value, name, maximum: maximum) { (element) throws(VarlinkError) in
            try text(element, name, maximum: length)
        }
    }

    func list<Element>(
        _ value: JSONValue, _ name: String, maximum: Int, _ read: (JSONValue) throws(VarlinkError) -> Element
    ) throws(VarlinkError) -> [Element] {
        guard let elements = value.elements else { throw invalid(name) }
        guard value.count <= maximum else { throw ContactsError.limitExceeded(name, maximum: maximum) }
        var list: [Element] = []
        list.reserveCapacity(value.count)
        for element in elements { list.append(try read(element)) }
        return list
    }

    /// Reads a value of one of the interface's enumerations.
    func one<Value: RawRepresentable>(
        of type: Value.Type, _ value: JSONValue, _ name: String
    ) throws(VarlinkError) -> Value where Value.RawValue == String {
        guard let word = value.string(ofAtMost: ParameterLimits.name), let one = Value(rawValue: word) else {
            throw invalid(name)
        }
        return one
    }

    /// Reads names of keys. `identifier` is accepted but not added to the set, because every contact has its
    /// identifier anyway.
    func keys(_ value: JSONValue, _ name: String) throws(VarlinkError) -> ContactKeySet {
        let elements = try elements(ofKeys: value, name)
        var keys = ContactKeySet()
        // Fetches often name all keys, mostly in the order of their declaration. The search therefore
        // continues after the last match.
        var next = 0
        for element in elements where !element.says("identifier") {
            func isNamed(_ key: String) -> Bool { element.says(key) }
            guard let place = Self.keys[next...].firstIndex(where: isNamed) ?? Self.keys.firstIndex(where: isNamed)
            else { throw invalid(name) }
            keys.formUnion(ContactKeySet(rawValue: 1 << UInt64(place)))
            next = place + 1
        }
        return keys
    }

    /// The keys' names, each at the index of its bit.
    private static let keys = ContactKey.allCases.map(\.rawValue)

    /// Reads names of keys that a grant can contain.
    func grantKeys(_ value: JSONValue, _ name: String) throws(VarlinkError) -> ContactKeySet {
        var keys = ContactKeySet()
        for element in try elements(ofKeys: value, name) where !element.says("identifier") {
            keys.formUnion(try one(of: GrantKey.self, element, name).set)
        }
        return keys
    }

    private func elements(ofKeys value: JSONValue, _ name: String) throws(VarlinkError) -> JSONValue.Elements {
        guard let elements = value.elements else { throw invalid(name) }
        guard value.count <= ParameterLimits.keys else {
            throw ContactsError.limitExceeded(name, maximum: ParameterLimits.keys)
        }
        return elements
    }

    /// Reads a text of at most `maximum` bytes of UTF-8.
    func text(_ value: JSONValue, _ name: String, maximum: Int) throws(VarlinkError) -> String {
        guard value.kind == .string else { throw invalid(name) }
        guard let text = value.string(ofAtMost: maximum) else {
            throw ContactsError.limitExceeded(name, maximum: maximum)
        }
        return text
    }
}

extension JSONValue {
    /// The identifier, token or cookie; `nil` if this is not a string. One that is longer than any that the broker
    /// issues reads as an empty one, which names nothing either.
    func identifier(ofAtMost maximum: Int = ParameterLimits.identifier) -> String? {
        kind == .string ? string(ofAtMost: maximum) ?? "" : nil
    }

    /// The identifier of this contact, group or value, as ``identifier(ofAtMost:)``.
    var ownIdentifier: String? { self["identifier"]?.identifier() }
}
