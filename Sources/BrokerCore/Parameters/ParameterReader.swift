import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Reads the parameters of a call strictly. An unknown field, or a value of the wrong type, causes the error
/// `InvalidParameter` with the field's name. A field that is `null` counts as absent.
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
        guard let members = object.members else { throw invalid("parameters") }
        var present = 0
        for (member, value) in members where !value.isNull {
            // An invalid name becomes an empty one, which the `default` case of `body` rejects like an
            // unknown name.
            let name = member.string ?? ""
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

    func string(_ value: JSONValue, _ name: String) throws(VarlinkError) -> String {
        guard let string = value.string else { throw invalid(name) }
        return string
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

    func strings(_ value: JSONValue, _ name: String, maximum: Int) throws(VarlinkError) -> [String] {
        try list(value, name, maximum: maximum) { (element) throws(VarlinkError) in try string(element, name) }
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
        guard let string = value.string, let one = Value(rawValue: string) else { throw invalid(name) }
        return one
    }

    /// Reads names of keys. `identifier` is accepted but not added to the set, because every contact has its
    /// identifier anyway.
    func keys(_ value: JSONValue, _ name: String) throws(VarlinkError) -> ContactKeySet {
        guard let elements = value.elements else { throw invalid(name) }
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
        guard let elements = value.elements else { throw invalid(name) }
        var keys = ContactKeySet()
        for element in elements where element.string != "identifier" {
            guard let key = element.string.flatMap(GrantKey.init) else { throw invalid(name) }
            keys.formUnion(key.set)
        }
        return keys
    }

    /// Reads a text of at most `maximum` bytes of UTF-8.
    func text(_ value: JSONValue, _ name: String, maximum: Int) throws(VarlinkError) -> String {
        let text = try string(value, name)
        guard text.utf8.count <= maximum else { throw ContactsError.limitExceeded(name, maximum: maximum) }
        return text
    }
}
