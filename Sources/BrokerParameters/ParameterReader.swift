import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Reads the fields of a call's parameters, or of a struct in them, by their names. It reads strictly: an unknown field,
/// or a value of the wrong type, causes the error `InvalidParameter` with the field's name. A field that is `null`
/// counts as absent.
///
/// The values are untrusted and up to 16 MiB long, and they are read on the event loop. So each list and each text is
/// compared with its bound before any of it is read.
package struct ParameterReader {
    private let object: JSONValue
    /// The parameter that contains the struct being read; `nil` for the parameters themselves. Errors name
    /// this parameter instead of the struct's field.
    private let outermost: String?
    /// The indexes of the members that were read, as bits.
    private var found: UInt64 = 0

    /// - Parameter outermost: the parameter that contains the struct; `nil` for the parameters themselves.
    package init(_ object: JSONValue, in outermost: String? = nil) throws(VarlinkError) {
        // Each member has a bit of ``found``.
        guard object.kind == .object, object.count <= min(ParameterLimits.members, UInt64.bitWidth) else {
            throw .invalidParameter(outermost ?? "parameters")
        }
        self.object = object
        self.outermost = outermost
    }

    /// A field; `nil` if it is absent.
    package subscript(name: String) -> Parameter? {
        mutating get {
            guard let (index, value) = object.member(name), !value.isNull else { return nil }
            found |= 1 << UInt64(index)
            return Parameter(value: value, name: name, outermost: outermost)
        }
    }

    /// A field that must be present.
    package mutating func required(_ name: String) throws(VarlinkError) -> Parameter {
        guard let field = self[name] else { throw .invalidParameter(outermost ?? name) }
        return field
    }

    /// A field that is `false` if it is absent.
    package mutating func flag(_ name: String) throws(VarlinkError) -> Bool { try self[name]?.bool() ?? false }

    /// Throws if there is a field that was not read. Call this last.
    package func finish() throws(VarlinkError) {
        guard found.nonzeroBitCount < object.count, let members = object.members else { return }
        var bit: UInt64 = 1
        for (member, value) in members {
            if found & bit == 0, !value.isNull {
                throw .invalidParameter(outermost ?? member.string(ofAtMost: ParameterLimits.name) ?? "")
            }
            bit <<= 1
        }
    }
}

/// The value of a field, or an element of a list in it.
package struct Parameter {
    package let value: JSONValue
    package let name: String
    /// As in ``ParameterReader``.
    package let outermost: String?

    package init(value: JSONValue, name: String, outermost: String?) {
        self.value = value
        self.name = name
        self.outermost = outermost
    }

    package var invalid: VarlinkError { .invalidParameter(outermost ?? name) }

    /// An identifier, a token or a cookie.
    package func identifier(maximum: Int = ParameterLimits.identifier) throws(VarlinkError) -> String {
        guard let identifier = value.identifier(ofAtMost: maximum) else { throw invalid }
        return identifier
    }

    package func bool() throws(VarlinkError) -> Bool {
        guard let bool = value.bool else { throw invalid }
        return bool
    }

    package func integer(in range: ClosedRange<Int64> = 0...Int64.max) throws(VarlinkError) -> Int {
        guard let integer = value.integer, range.contains(integer) else { throw invalid }
        return Int(integer)
    }

    package func uid() throws(VarlinkError) -> UInt32 { UInt32(try integer(in: 0...Int64(UInt32.max))) }

    package func identifiers() throws(VarlinkError) -> [String] {
        try list(maximum: ParameterLimits.identifiers) { (element) throws(VarlinkError) in try element.identifier() }
    }

    /// - Parameters:
    ///   - maximum: the maximum number of texts.
    ///   - length: the maximum length of each, in bytes of UTF-8.
    package func texts(maximum: Int, length: Int) throws(VarlinkError) -> [String] {
        try list(maximum: maximum) { (element) throws(VarlinkError) in try element.text(maximum: length) }
    }

    package func list<Element>(
        maximum: Int, _ read: (Parameter) throws(VarlinkError) -> Element
    ) throws(VarlinkError) -> [Element] {
        guard let elements = value.elements else { throw invalid }
        guard value.count <= maximum else { throw ContactsError.limitExceeded(name, maximum: maximum) }
        var list: [Element] = []
        list.reserveCapacity(value.count)
        for element in elements { list.append(try read(Parameter(value: element, name: name, outermost: outermost))) }
        return list
    }

    /// A value of one of the interface's enumerations.
    package func one<Value: RawRepresentable>(
        of type: Value.Type
    ) throws(VarlinkError) -> Value where Value.RawValue == String {
        guard let word = value.string(ofAtMost: ParameterLimits.name), let one = Value(rawValue: word) else {
            throw invalid
        }
        return one
    }

    /// Names of keys. `identifier` is accepted but not added to the set, because every contact has its
    /// identifier anyway.
    package func keys() throws(VarlinkError) -> ContactKeySet {
        let elements = try elementsOfKeys()
        var keys = ContactKeySet()
        // Fetches often name all keys, mostly in the order of their declaration. The search therefore
        // continues after the last match.
        var next = 0
        for element in elements {
            func isNamed(_ key: String) -> Bool { element.says(key) }
            if let place = Self.keys[next...].firstIndex(where: isNamed) ?? Self.keys.firstIndex(where: isNamed) {
                keys.formUnion(ContactKeySet(rawValue: 1 << UInt64(place)))
                next = place + 1
            } else if !isNamed("identifier") {
                throw invalid
            }
        }
        return keys
    }

    /// The keys' names, each at the index of its bit.
    private static let keys = ContactKey.allCases.map(\.rawValue)

    /// Names of keys that a grant can contain.
    func grantKeys() throws(VarlinkError) -> ContactKeySet {
        var keys = ContactKeySet()
        for element in try elementsOfKeys() where !element.says("identifier") {
            keys.formUnion(try Parameter(value: element, name: name, outermost: outermost).one(of: GrantKey.self).set)
        }
        return keys
    }

    private func elementsOfKeys() throws(VarlinkError) -> JSONValue.Elements {
        guard let elements = value.elements else { throw invalid }
        guard value.count <= ParameterLimits.keys else {
            throw ContactsError.limitExceeded(name, maximum: ParameterLimits.keys)
        }
        return elements
    }

    /// A text of at most `maximum` bytes of UTF-8.
    ///
    /// - Parameter limit: the name for `LimitExceeded`; `nil` for the field's.
    package func text(maximum: Int, limit: String? = nil) throws(VarlinkError) -> String {
        guard value.kind == .string else { throw invalid }
        guard let text = value.string(ofAtMost: maximum) else {
            throw ContactsError.limitExceeded(limit ?? name, maximum: maximum)
        }
        return text
    }
}

extension JSONValue {
    /// The identifier, token or cookie; `nil` if this is not a string. One that is longer than any that the broker
    /// issues reads as an empty one, which names nothing either.
    package func identifier(ofAtMost maximum: Int = ParameterLimits.identifier) -> String? {
        kind == .string ? string(ofAtMost: maximum) ?? "" : nil
    }

    /// The identifier of this contact, group or value, as ``identifier(ofAtMost:)``.
    package var ownIdentifier: String? { self["identifier"]?.identifier() }
}
