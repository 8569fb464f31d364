/// One value of a ``JSONDocument``. An accessor returns `nil` if the value is of a different kind.
public struct JSONValue: Sendable {
    let document: JSONDocument
    let node: Int

    public enum Kind: UInt8, Hashable, Sendable {
        case null, bool, integer, double, string, array, object
    }

    private var stored: JSONDocument.Node { document.nodes[node] }

    /// The memory that the whole document uses, in bytes. The document exists as long as any of its values.
    public var documentSize: Int {
        document.bytes.count + document.nodes.count * MemoryLayout<JSONDocument.Node>.stride
    }

    public var kind: Kind { stored.kind }
    public var isNull: Bool { stored.kind == .null }

    public var bool: Bool? {
        guard stored.kind == .bool else { return nil }
        return document.bytes[Int(stored.start)] == UInt8(ascii: "t")
    }

    /// A number without fraction or exponent; `nil` also if it does not fit into 64 bits.
    public var integer: Int64? {
        guard stored.kind == .integer else { return nil }
        var digits = text
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits = digits.dropFirst() }
        var value: Int64 = 0
        for digit in digits {
            // Accumulates negatively, because the negative range has one more number than the positive range.
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.subtractingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    public var double: Double? {
        guard stored.kind == .integer || stored.kind == .double else { return nil }
        return Double(String(decoding: text, as: UTF8.self))
    }

    public var string: String? {
        guard stored.kind == .string else { return nil }
        return JSONText.decode(document.bytes, stored)
    }

    /// The string, if it has at most this many bytes of UTF-8; `nil` for a longer one, of which nothing is read.
    public func string(ofAtMost maximum: Int) -> String? {
        guard stored.mayHave(atMost: maximum), let string, string.utf8.count <= maximum else { return nil }
        return string
    }

    /// Whether this is a string equal to `other` in UTF-8, compared without creating a string.
    public func says(_ other: String) -> Bool { document.says(other, at: node) }

    /// The value's JSON text, unchanged.
    public var text: ArraySlice<UInt8> { document.bytes[Int(stored.start)..<Int(stored.end)] }

    /// The number of elements of an array or members of an object; 0 for other kinds.
    public var count: Int { Int(stored.count) }

    /// The elements of an array.
    public var elements: Elements? { stored.kind == .array ? Elements(value: self) : nil }

    /// The members of an object, in text order.
    public var members: Members? { stored.kind == .object ? Members(value: self) : nil }

    /// The member with this name; `nil` also if this is not an object.
    public subscript(name: String) -> JSONValue? { member(name)?.value }

    /// The member with this name, and its index in text order; `nil` also if this is not an object.
    public func member(_ name: String) -> (index: Int, value: JSONValue)? {
        guard stored.kind == .object else { return nil }
        var (node, index) = (node + 1, 0)
        let end = Int(stored.next)
        // Each name's node is followed by its value, then by the next name.
        while node < end {
            let value = Int(document.nodes[node].next)
            if document.says(name, at: node) { return (index, JSONValue(document: document, node: value)) }
            node = Int(document.nodes[value].next)
            index += 1
        }
        return nil
    }

    public struct Elements: Sequence, IteratorProtocol, Sendable {
        private let document: JSONDocument
        private var node: Int
        private let end: Int

        init(value: JSONValue) {
            document = value.document
            node = value.node + 1
            end = Int(value.stored.next)
        }

        public mutating func next() -> JSONValue? {
            guard node < end else { return nil }
            defer { node = Int(document.nodes[node].next) }
            return JSONValue(document: document, node: node)
        }
    }

    public struct Members: Sequence, IteratorProtocol, Sendable {
        /// Each name's node is followed by its value, then by the next name.
        private var nodes: Elements

        init(value: JSONValue) { nodes = Elements(value: value) }

        public mutating func next() -> (name: JSONValue, value: JSONValue)? {
            guard let name = nodes.next(), let value = nodes.next() else { return nil }
            return (name, value)
        }
    }
}
