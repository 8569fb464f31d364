/// Parses a text into nodes, with an explicit stack instead of recursion.
struct JSONParser {
    private let bytes: [UInt8]
    private let limits: JSONLimits
    private var position = 0
    private var nodes: [JSONDocument.Node] = []
    /// Indexes of the arrays and objects that are still open.
    private var open: [Int] = []

    init(bytes: [UInt8], limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
        // One value per twelve bytes is typical. If there are more values, the array grows.
        nodes.reserveCapacity(min(max(16, bytes.count / 12), 4_096))
    }

    mutating func parse() throws(JSONError) -> [JSONDocument.Node] {
        guard bytes.count < Int(UInt32.max) else { throw .tooLong }
        try checkUTF8()
        skipWhiteSpace()
        try value()
        while let container = open.last {
            try nextItem(of: container)
        }
        skipWhiteSpace()
        guard position == bytes.count else { throw .syntax(offset: position) }
        return nodes
    }

    private func checkUTF8() throws(JSONError) {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw .invalidUTF8(offset: error.byteOffsets.lowerBound)
        }
    }

    /// Reads one value. For an array or object it reads only the opening bracket; ``nextItem(of:)`` reads the
    /// items.
    private mutating func value() throws(JSONError) {
        guard position < bytes.count else { throw .syntax(offset: position) }
        switch bytes[position] {
        case UInt8(ascii: "{"): try openContainer(.object)
        case UInt8(ascii: "["): try openContainer(.array)
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try literal("true", .bool)
        case UInt8(ascii: "f"): try literal("false", .bool)
        case UInt8(ascii: "n"): try literal("null", .null)
        default: try number()
        }
    }

    /// Reads the next item of an open array or object, or the closing bracket.
    private mutating func nextItem(of container: Int) throws(JSONError) {
        let isObject = nodes[container].kind == .object
        let end = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        skipWhiteSpace()
        guard position < bytes.count else { throw .syntax(offset: position) }
        if bytes[position] == end {
            position += 1
            try close(container)
            return
        }
        if nodes[container].count > 0 {
            guard bytes[position] == UInt8(ascii: ",") else { throw .syntax(offset: position) }
            position += 1
            skipWhiteSpace()
        }
        if !isObject, position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
            let before = nodes.count
            try plainStrings(in: container)
            guard nodes.count == before else { return }
        }
        nodes[container].count += 1
        if isObject {
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                throw .syntax(offset: position)
            }
            try string()
            skipWhiteSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else {
                throw .syntax(offset: position)
            }
            position += 1
            skipWhiteSpace()
        }
        try value()
    }

    private mutating func openContainer(_ kind: JSONValue.Kind) throws(JSONError) {
        guard open.count < limits.depth else { throw .tooDeep(maximum: limits.depth) }
        open.append(nodes.count)
        try append(kind, from: position, to: position)
        position += 1
    }

    private mutating func close(_ container: Int) throws(JSONError) {
        nodes[container].end = UInt32(position)
        nodes[container].next = UInt32(nodes.count)
        open.removeLast()
        if nodes[container].kind == .object { try refuseDuplicates(in: container) }
    }

    /// Rejects duplicate member names, because two readers could otherwise use different members.
    ///
    /// Names are compared by their bytes after unescaping: RFC 8259 §8.3 defines no other equality. Swift's
    /// equality would treat two encodings of é as equal.
    private func refuseDuplicates(in object: Int) throws(JSONError) {
        let count = Int(nodes[object].count)
        guard count > 1 else { return }
        guard count <= 16 else { return try refuseDuplicatesAmongMany(in: object) }
        var name = object + 1
        for place in 0..<count {
            var earlier = object + 1
            for _ in 0..<place {
                guard !saySame(earlier, name) else { throw .duplicateMember(offset: Int(nodes[name].start)) }
                earlier = Int(nodes[earlier + 1].next)
            }
            name = Int(nodes[name + 1].next)
        }
    }

    private func refuseDuplicatesAmongMany(in object: Int) throws(JSONError) {
        var seen: Set<[UInt8]> = []
        var name = object + 1
        for _ in 0..<nodes[object].count {
            let text = Array(JSONText.decode(bytes, nodes[name]).utf8)
            guard seen.insert(text).inserted else { throw .duplicateMember(offset: Int(nodes[name].start)) }
            name = Int(nodes[name + 1].next)
        }
    }

    private func saySame(_ left: Int, _ right: Int) -> Bool {
        let (a, b) = (nodes[left], nodes[right])
        if a.hasEscapes || b.hasEscapes {
            return JSONText.decode(bytes, a).utf8.elementsEqual(JSONText.decode(bytes, b).utf8)
        }
        guard a.end - a.start == b.end - b.start else { return false }
        return bytes[Int(a.start)..<Int(a.end)] == bytes[Int(b.start)..<Int(b.end)]
    }

    private mutating func string() throws(JSONError) {
        let start = position
        var hasEscapes = false
        position += 1
        while true {
            position = Self.plainEnd(in: bytes.span.bytes, from: position)
            guard position < bytes.count else { break }
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                try append(.string, from: start, to: position, hasEscapes: hasEscapes)
                return
            }
            guard byte >= 0x20 else { throw .syntax(offset: position) }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                try escape()
            } else {
                position += 1
            }
        }
        throw .syntax(offset: start)
    }

    /// Reads consecutive strings without escapes that are separated by commas only, and stops before anything
    /// else. Most of an app's request is such a list: the keys that it requests.
    private mutating func plainStrings(in array: Int) throws(JSONError) {
        var start = position
        var count: UInt32 = 0
        while true {
            let end = Self.plainEnd(in: bytes.span.bytes, from: start + 1)
            guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { break }
            try append(.string, from: start, to: end + 1)
            count += 1
            position = end + 1
            guard end + 2 < bytes.count, bytes[end + 1] == UInt8(ascii: ","), bytes[end + 2] == UInt8(ascii: "\"")
            else { break }
            start = end + 2
        }
        nodes[array].count += count
    }

    /// Returns the index of the first byte from `start` that may end a string or be special in it. It checks
    /// eight bytes at a time. If fewer than eight bytes remain, it returns the first of them unchecked.
    private static func plainEnd(in raw: RawSpan, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var place = start
        while place + 8 <= raw.byteCount {
            // Sound: the loop condition keeps the eight bytes in bounds, and any eight bytes are a UInt64.
            let word = UInt64(littleEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self))
            let quotes = word ^ (ones &* 0x22)
            let escapes = word ^ (ones &* 0x5C)
            // A byte's high bit is set if the byte is below 0x20, a quote or a backslash. Borrows can add
            // false hits only above a true one, so the lowest hit is true.
            let hits =
                ((word &- (ones &* 0x20)) & ~word) | ((quotes &- ones) & ~quotes) | ((escapes &- ones) & ~escapes)
            guard hits & highs == 0 else { return place + (hits & highs).trailingZeroBitCount / 8 }
            place += 8
        }
        return place
    }

    /// Checks one escape. Surrogates must come in pairs; a lone surrogate is not valid Unicode.
    private mutating func escape() throws(JSONError) {
        let start = position
        position += 1
        guard position < bytes.count else { throw .syntax(offset: start) }
        switch bytes[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            guard let unit = JSONText.hexadecimal(bytes, at: position + 1) else { throw .syntax(offset: start) }
            position += 5
            guard !(0xDC00...0xDFFF).contains(unit) else { throw .syntax(offset: start) }
            guard (0xD800...0xDBFF).contains(unit) else { return }
            guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
                bytes[position + 1] == UInt8(ascii: "u"),
                let low = JSONText.hexadecimal(bytes, at: position + 2), (0xDC00...0xDFFF).contains(low)
            else { throw .syntax(offset: start) }
            position += 6
        default:
            throw .syntax(offset: start)
        }
    }

    private mutating func literal(_ text: StaticString, _ kind: JSONValue.Kind) throws(JSONError) {
        let start = position
        let end = start + text.utf8CodeUnitCount
        guard end <= bytes.count else { throw .syntax(offset: start) }
        for (offset, byte) in text.description.utf8.enumerated() where bytes[start + offset] != byte {
            throw .syntax(offset: start)
        }
        position = end
        try append(kind, from: start, to: end)
    }

    private mutating func number() throws(JSONError) {
        let start = position
        if position < bytes.count, bytes[position] == UInt8(ascii: "-") { position += 1 }
        let whole = position
        try digits()
        if bytes[whole] == UInt8(ascii: "0"), position - whole > 1 { throw .syntax(offset: start) }
        var kind = JSONValue.Kind.integer
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            kind = .double
            position += 1
            try digits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            kind = .double
            position += 1
            if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
                position += 1
            }
            try digits()
        }
        try append(kind, from: start, to: position)
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
            position += 1
        }
        guard position > start else { throw .syntax(offset: start) }
    }

    private mutating func skipWhiteSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func append(
        _ kind: JSONValue.Kind, from start: Int, to end: Int, hasEscapes: Bool = false
    ) throws(JSONError) {
        guard nodes.count < limits.values else { throw .tooManyValues(maximum: limits.values) }
        nodes.append(
            JSONDocument.Node(
                kind: kind, hasEscapes: hasEscapes, start: UInt32(start), end: UInt32(end),
                next: UInt32(nodes.count + 1)))
    }
}
