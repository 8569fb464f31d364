import BrokerModel

/// How far below a collection a request reaches (RFC 4918 §10.2).
public enum Depth: String, Hashable, Sendable {
    case zero = "0"
    case one = "1"
    case infinity

    /// - Parameter field: `nil` if the request has no `Depth`.
    /// - Parameter absent: what the method does without one: `infinity` for PROPFIND (RFC 4918 §9.1), `zero` for REPORT
    ///   (RFC 3253 §3.6).
    public init(_ field: String?, absent: Depth) throws(FieldError) {
        guard let field else {
            self = absent
            return
        }
        guard let depth = Depth(rawValue: FieldValue.trimmed(field).lowercased()) else { throw .malformed }
        self = depth
    }
}

/// What `Prefer` asks for (RFC 7240 §4.2, RFC 8144 §2).
public enum ReturnPreference: String, Hashable, Sendable {
    /// The response omits what the client does not need.
    case minimal
    case representation

    /// Returns the first known value of `return`; `nil` if there is none. What cannot be parsed is ignored (RFC 7240
    /// §2).
    ///
    /// - Parameter fields: the values of all `Prefer` fields.
    public init?(_ fields: [String]) {
        let items = (try? FieldValue.split(fields.joined(separator: ","), at: UInt8(ascii: ","))) ?? []
        for item in items {
            guard let first = try? FieldValue.split(item, at: UInt8(ascii: ";")).first,
                let (name, value) = try? FieldValue.parameter(first), name == "return",
                let preference = ReturnPreference(rawValue: value)
            else { continue }
            self = preference
            return
        }
        return nil
    }
}

/// A user name and a password (RFC 7617 §2).
///
/// The description has no password, so a log line cannot show it by mistake.
public struct BasicCredentials: Sendable, CustomStringConvertible {
    public let user: String
    /// In UTF-8. Compare it in constant time.
    public let password: [UInt8]

    public var description: String { "Basic credentials of \(user)" }

    /// Reads `Authorization`. Returns `nil` for another scheme, for more than ``DAVBounds/field`` bytes, and for
    /// anything that is not base64 of a user name, a colon and a password without control characters, in UTF-8. Answer
    /// with 401.
    public init?(authorization field: String) {
        guard field.utf8.count <= DAVBounds.field else { return nil }
        let parts = FieldValue.trimmed(field).split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic",
            let bytes = Self.decoded(FieldValue.trimmed(String(parts[1]))),
            !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            let text = String(validating: bytes, as: UTF8.self),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        user = String(text[..<colon])
        password = Array(text.utf8[colon...].dropFirst())
    }

    /// Returns the bytes of a base64 text with or without padding (RFC 4648 §4); `nil` for any other text.
    private static func decoded(_ text: String) -> [UInt8]? {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.utf8.dropFirst(digits.count)
        guard padding.count <= 2, padding.allSatisfy({ $0 == UInt8(ascii: "=") }), digits.count % 4 != 1,
            padding.isEmpty || (digits.count + padding.count) % 4 == 0
        else { return nil }
        var bytes: [UInt8] = []
        var bits = 0
        for (place, digit) in digits.enumerated() {
            let value = Base64.values[Int(digit)]
            guard value < 64 else { return nil }
            bits = (bits << 6 | Int(value)) & 0xFFFF
            if place % 4 != 0 { bytes.append(UInt8(truncatingIfNeeded: bits >> (6 - 2 * (place % 4)))) }
        }
        return bytes
    }
}
