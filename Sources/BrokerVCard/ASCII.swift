/// Compares bytes as vCard compares names: ignoring case, for ASCII only (RFC 6350 §3.3).
package enum ASCII {
    package static func equal(_ bytes: some Collection<UInt8>, _ text: String) -> Bool {
        bytes.count == text.utf8.count && zip(bytes, text.utf8).allSatisfy { upper($0) == upper($1) }
    }

    package static func equal(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { upper($0) == upper($1) }
    }

    package static func hasPrefix(_ text: some StringProtocol, _ prefix: String) -> Bool {
        text.utf8.count >= prefix.utf8.count && zip(text.utf8, prefix.utf8).allSatisfy { upper($0) == upper($1) }
    }

    static func upper(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "a") < 26 ? byte - 0x20 : byte }

    package static func lowercased(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return String(text) }
        return String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
    }

    static func uppercased(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(where: { (0x61...0x7A).contains($0) }) else { return String(text) }
        return String(decoding: text.utf8.map(upper), as: UTF8.self)
    }

    /// Returns the value of a hexadecimal digit; `nil` for any other byte.
    static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch upper(byte) {
        case 0x30...0x39: byte - 0x30
        case UInt8(ascii: "A")...UInt8(ascii: "F"): upper(byte) - 55
        default: nil
        }
    }

    /// Whether the byte is white space that is trimmed: space, tab, CR or LF. Other Unicode white space belongs to the
    /// text.
    package static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    package static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        var slice = bytes[...]
        while let first = slice.first, isSpace(first) { slice.removeFirst() }
        while let last = slice.last, isSpace(last) { slice.removeLast() }
        return slice
    }

    package static func trimmed(_ text: some StringProtocol) -> String {
        let bytes = Substring(text).utf8
        guard let first = bytes.first, let last = bytes.last else { return "" }
        guard isSpace(first) || isSpace(last) else { return String(text) }
        return String(decoding: trimmed(bytes), as: UTF8.self)
    }
}
