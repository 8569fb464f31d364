/// One JSON text (RFC 8259), parsed and validated as a whole. Its values can be accessed without copying.
///
/// The text is untrusted. Parsing takes time and memory proportional to its length and does not recurse.
/// Invalid JSON, excessive nesting and duplicate members are errors before any value is accessible.
///
/// It is a class, because every value references its document and a call has dozens of values.
public final class JSONDocument: Sendable {
    let bytes: [UInt8]
    let nodes: [Node]

    /// The kind of one value and its range in the text.
    struct Node: Sendable {
        var kind: JSONValue.Kind
        /// Whether a string has escapes, and must be decoded before it can be compared.
        var hasEscapes = false
        /// The index of the first byte of the value's text, and of the byte after its last one.
        var start: UInt32
        var end: UInt32
        /// The node after this value and its descendants.
        var next: UInt32
        /// The number of elements of an array or members of an object.
        var count: UInt32 = 0

        /// Whether the text is short enough for a string of at most this many bytes. Escapes can make the text longer
        /// than the string: `\u0041` is one byte.
        func mayHave(atMost maximum: Int) -> Bool { (Int(end - start) - 2) / 6 <= maximum }
    }

    /// Parses one JSON text. Only white space may surround it.
    ///
    /// - Throws: ``JSONError``; no part of the text is then usable.
    public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        var parser = JSONParser(bytes: bytes, limits: limits)
        self.bytes = bytes
        nodes = try parser.parse()
    }

    private init(bytes: [UInt8], nodes: [Node]) {
        self.bytes = bytes
        self.nodes = nodes
    }

    /// The text `{}`, which replaces absent parameters.
    public static let emptyObject = JSONDocument(
        bytes: [0x7B, 0x7D], nodes: [Node(kind: .object, start: 0, end: 2, next: 1)])

    public var root: JSONValue { JSONValue(document: self, node: 0) }

    /// Whether the node is a string equal to `other` in UTF-8, compared without creating a string.
    func says(_ other: String, at node: Int) -> Bool {
        let stored = nodes[node]
        guard stored.kind == .string, stored.mayHave(atMost: other.utf8.count) else { return false }
        if stored.hasEscapes { return JSONText.decode(bytes, stored).utf8.elementsEqual(other.utf8) }
        let text = Int(stored.start) + 1..<Int(stored.end) - 1
        // Most names differ in length, so length is compared first.
        guard text.count == other.utf8.count else { return false }
        // The iterator of the UTF-8 view would decide for each byte how the string is stored.
        let name = other.utf8.span
        for place in name.indices where bytes[text.lowerBound + place] != name[place] { return false }
        return true
    }
}

/// Bounds on the JSON that is accepted.
public struct JSONLimits: Hashable, Sendable {
    /// The maximum nesting depth of arrays and objects.
    public var depth = 64
    /// The maximum number of values in one text, including member names. Each value takes at least 20 bytes
    /// while the document exists.
    public var values = 2_000_000

    public init(depth: Int = 64, values: Int = 2_000_000) {
        self.depth = depth
        self.values = values
    }
}

/// The reason why a text is rejected. Offsets are in bytes from the start of the text.
public enum JSONError: Error, Hashable, Sendable {
    case syntax(offset: Int)
    case invalidUTF8(offset: Int)
    case duplicateMember(offset: Int)
    case tooDeep(maximum: Int)
    case tooManyValues(maximum: Int)
    /// The text is too long for offsets of 32 bits.
    case tooLong
}

extension JSONError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .syntax(let offset): "invalid JSON at byte \(offset)"
        case .invalidUTF8(let offset): "invalid UTF-8 at byte \(offset)"
        case .duplicateMember(let offset): "duplicate member at byte \(offset)"
        case .tooDeep(let maximum): "arrays and objects nested more than \(maximum) deep"
        case .tooManyValues(let maximum): "more than \(maximum) values"
        case .tooLong: "more than 4 GiB"
        }
    }
}
