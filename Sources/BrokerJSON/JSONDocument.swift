/// One JSON text (RFC 8259), read and checked whole, its values addressable without being copied.
///
/// The text comes from strangers. Reading it takes time and memory in proportion to its length, never
/// recursion; whatever is not JSON, goes too deep or names a member twice is an error before anyone sees a value.
///
/// A class, since every value holds its document, and a call has dozens of values.
public final class JSONDocument: Sendable {
    let bytes: [UInt8]
    let nodes: [Node]

    /// What one value is and where it stands.
    struct Node: Sendable {
        var kind: JSONValue.Kind
        /// A string that must be decoded before it can be compared.
        var hasEscapes = false
        /// First byte of the value's text, and the byte after its last one.
        var start: UInt32
        var end: UInt32
        /// The node after this value and everything in it.
        var next: UInt32
        /// Elements of an array, members of an object.
        var count: UInt32 = 0
    }

    /// Reads one JSON text with nothing but white space around it.
    ///
    /// - Throws: ``JSONError``; the text is then of no use at all.
    public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        var parser = JSONParser(bytes: bytes, limits: limits)
        self.bytes = bytes
        nodes = try parser.parse()
    }

    private init(bytes: [UInt8], nodes: [Node]) {
        self.bytes = bytes
        self.nodes = nodes
    }

    /// `{}`: what absent parameters count as.
    public static let emptyObject = JSONDocument(
        bytes: [0x7B, 0x7D], nodes: [Node(kind: .object, start: 0, end: 2, next: 1)])

    public var root: JSONValue { JSONValue(document: self, node: 0) }
}

/// How much of a text we are willing to read. Every bound has its place here.
public struct JSONLimits: Hashable, Sendable {
    /// Arrays and objects within one another.
    public var depth = 64
    /// Values in one text, member names included: each costs 24 bytes while the text is held.
    public var values = 2_000_000

    public init(depth: Int = 64, values: Int = 2_000_000) {
        self.depth = depth
        self.values = values
    }
}

/// Why a text is not JSON that we read. Offsets count bytes from the start of the text.
public enum JSONError: Error, Hashable, Sendable {
    case syntax(offset: Int)
    case invalidUTF8(offset: Int)
    case duplicateMember(offset: Int)
    case tooDeep(maximum: Int)
    case tooManyValues(maximum: Int)
    /// Offsets are kept in 32 bits.
    case tooLong
}

extension JSONError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .syntax(let offset): "no JSON at byte \(offset)"
        case .invalidUTF8(let offset): "no UTF-8 at byte \(offset)"
        case .duplicateMember(let offset): "a member named twice at byte \(offset)"
        case .tooDeep(let maximum): "more than \(maximum) arrays and objects within one another"
        case .tooManyValues(let maximum): "more than \(maximum) values"
        case .tooLong: "more than 4 GiB"
        }
    }
}
