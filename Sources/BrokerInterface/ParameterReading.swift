import BrokerJSON
import BrokerModel
import BrokerVarlink
import Glibc

/// Reads the parameters of a call strictly: a field that the interface does not have, or a value of another type,
/// is `InvalidParameter` with the field's name. `null` is the same as absent.
struct ParameterReader {
    /// The parameter that is being read; where a field of a struct is wrong, the parameter it belongs to is named.
    var outermost: String?

    func invalid(_ name: String) -> VarlinkError { .invalidParameter(outermost ?? name) }

    /// Hands out each member that is not null, by name.
    func members(
        of object: JSONValue, _ body: (_ name: String, _ value: JSONValue) throws(VarlinkError) -> Void
    ) throws(VarlinkError) {
        guard let members = object.members else { throw invalid("parameters") }
        for (name, value) in members {
            // Names are ours; one that is not text of ours falls to `body`'s default.
            let name = name.string ?? ""
            if value.isNull {
                continue
            }
            try body(name, value)
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
        guard let elements = value.elements else { throw invalid(name) }
        guard value.count <= maximum else { throw ContactsError.limitExceeded(name, maximum: maximum) }
        var strings: [String] = []
        strings.reserveCapacity(value.count)
        for element in elements { strings.append(try string(element, name)) }
        return strings
    }

    /// The name of one of our own cases.
    func one<Value: RawRepresentable>(
        of type: Value.Type, _ value: JSONValue, _ name: String
    ) throws(VarlinkError) -> Value where Value.RawValue == String {
        guard let string = value.string, let one = Value(rawValue: string) else { throw invalid(name) }
        return one
    }

    /// Names of keys. `identifier` is always told and may be named.
    func keys(_ value: JSONValue, _ name: String) throws(VarlinkError) -> ContactKeySet {
        if let keys = plainKeys(value) { return keys }
        guard let elements = value.elements else { throw invalid(name) }
        var keys = ContactKeySet()
        for element in elements {
            guard let string = element.string else { throw invalid(name) }
            if string == "identifier" { continue }
            guard let key = ContactKey(rawValue: string) else { throw invalid(name) }
            keys.formUnion(ContactKeySet([key]))
        }
        return keys
    }

    /// Names of what a grant can name.
    func grantKeys(_ value: JSONValue, _ name: String) throws(VarlinkError) -> ContactKeySet {
        guard let elements = value.elements else { throw invalid(name) }
        var keys = ContactKeySet()
        for element in elements where element.string != "identifier" {
            guard let key = element.string.flatMap(GrantKey.init) else { throw invalid(name) }
            keys.formUnion(key.set)
        }
        return keys
    }

    /// Names of keys, where they are written plainly; `nil` where something has to be looked at more closely. Every fetch
    /// names its keys, often all of them.
    private func plainKeys(_ value: JSONValue) -> ContactKeySet? {
        var bits: UInt64 = 0
        // Who asks for many mostly names them in our order.
        var expected = 0
        let names = Self.names
        let areKnown = names.text.withUnsafeBytes { known in
            value.plainStrings { text in
                for step in 0..<names.count {
                    let place = expected + step < names.count ? expected + step : expected + step - names.count
                    let start = names.starts[place]
                    // Sound: the name lies between its start and the next one's, and the text has as many bytes.
                    guard names.starts[place + 1] - start == text.count, let known = known.baseAddress,
                        let text = text.baseAddress, memcmp(known + start, text, names.starts[place + 1] - start) == 0
                    else { continue }
                    // The last name is the identifier's, which is no key.
                    if place < names.count - 1 { bits |= 1 << UInt64(place) }
                    expected = place + 1
                    return true
                }
                return false
            }
        }
        return areKnown ? ContactKeySet(rawValue: bits) : nil
    }

    /// The names of the keys, each at its place, and then `identifier`: one text, and where each name begins in it.
    private struct Names {
        let text: [UInt8]
        let starts: [Int]
        var count: Int { starts.count - 1 }
    }

    private static let names: Names = {
        var text: [UInt8] = []
        var starts = [0]
        for name in ContactKey.allCases.map(\.rawValue) + ["identifier"] {
            text += Array(name.utf8)
            starts.append(text.count)
        }
        return Names(text: text, starts: starts)
    }()

    /// Text of an app that people will read, or that is searched for.
    func text(_ value: JSONValue, _ name: String, maximum: Int) throws(VarlinkError) -> String {
        let text = try string(value, name)
        guard text.utf8.count <= maximum else { throw ContactsError.limitExceeded(name, maximum: maximum) }
        return text
    }
}

/// Bounds of what a caller may put into parameters. Lengths in bytes of UTF-8, numbers in elements.
public enum ParameterLimits {
    public static let purpose = 1_024
    public static let query = 256
    public static let author = 256
    public static let token = 2_048
    /// Identifiers in one predicate or answer; as many addresses to ignore.
    public static let identifiers = 10_000
    /// Family names of one rule of the one-time picker.
    public static let familyNames = 1_000
    /// Contacts or values picked at one prompt.
    public static let picked = 100
    /// Steps of one save. More at once cost less each, and keep others waiting longer.
    public static let changes = 2_000
    /// Contacts asked for in one call, or one page of it.
    public static let contacts = 1_000_000
}
