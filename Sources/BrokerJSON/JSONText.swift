/// Decodes the text of JSON strings.
enum JSONText {
    /// Returns the decoded text of a validated string node.
    static func decode(_ bytes: [UInt8], _ node: JSONDocument.Node) -> String {
        let inner = bytes[Int(node.start) + 1..<Int(node.end) - 1]
        guard node.hasEscapes else { return String(decoding: inner, as: UTF8.self) }
        var result: [UInt8] = []
        result.reserveCapacity(inner.count)
        var index = inner.startIndex
        while index < inner.endIndex {
            guard inner[index] == UInt8(ascii: "\\") else {
                result.append(inner[index])
                index += 1
                continue
            }
            index += 1
            switch inner[index] {
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"):
                var scalar = UInt32(hexadecimal(bytes, at: index + 1) ?? 0xFFFD)
                index += 4
                if (0xD800...0xDBFF).contains(scalar) {
                    let low = UInt32(hexadecimal(bytes, at: index + 3) ?? 0xDC00)
                    scalar = 0x10000 + ((scalar - 0xD800) << 10) + (low - 0xDC00)
                    index += 6
                }
                result.append(contentsOf: Unicode.UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? .init())
            default: result.append(inner[index])
            }
            index += 1
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the value of the four hexadecimal digits at `start`; `nil` if there are not four of them.
    static func hexadecimal(_ bytes: [UInt8], at start: Int) -> UInt16? {
        guard start + 4 <= bytes.count else { return nil }
        var value: UInt16 = 0
        for byte in bytes[start..<start + 4] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt16(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt16(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt16(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return value
    }
}
