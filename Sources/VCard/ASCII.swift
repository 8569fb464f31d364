/// Comparing bytes as vCard compares names: without regard to case, in ASCII alone (RFC 6350 §3.3).
enum ASCII {
    static func equal(_ bytes: some Collection<UInt8>, _ text: String) -> Bool {
        bytes.count == text.utf8.count && zip(bytes, text.utf8).allSatisfy { upper($0) == upper($1) }
    }

    static func equal(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { upper($0) == upper($1) }
    }

    static func hasPrefix(_ text: some StringProtocol, _ prefix: String) -> Bool {
        equal(text.utf8.prefix(prefix.utf8.count).map { $0 }, prefix)
    }

    static func upper(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 0x20 : byte
    }

    static func lowercased(_ text: some StringProtocol) -> String {
        String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
    }

    static func uppercased(_ text: some StringProtocol) -> String {
        String(decoding: text.utf8.map(upper), as: UTF8.self)
    }

    /// The value of a hexadecimal digit.
    static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch upper(byte) {
        case 0x30...0x39: byte - 0x30
        case UInt8(ascii: "A")...UInt8(ascii: "F"): upper(byte) - 55
        default: nil
        }
    }

    static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        var slice = bytes[...]
        while let first = slice.first, first == 0x20 || first == 0x09 { slice.removeFirst() }
        while let last = slice.last, last == 0x20 || last == 0x09 { slice.removeLast() }
        return slice
    }

    /// Without the white space around it, newlines included.
    static func trimmed(_ text: some StringProtocol) -> String {
        var slice = Substring(text)
        while let first = slice.first, first.isWhitespace { slice.removeFirst() }
        while let last = slice.last, last.isWhitespace { slice.removeLast() }
        return String(slice)
    }
}
