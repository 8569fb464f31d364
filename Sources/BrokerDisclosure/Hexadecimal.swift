/// Converts bytes to lower-case hexadecimal digits and back.
public enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func digits(of bytes: some Sequence<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return text
    }

    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        // The loop over a buffer is specialized; one over any sequence would call the sequence for each byte.
        String(decoding: bytes.withContiguousStorageIfAvailable { digits(of: $0) } ?? digits(of: bytes), as: UTF8.self)
    }

    /// Returns `nil` unless the text is an even number of lower-case hexadecimal digits. If upper-case digits
    /// were accepted, a record would have more than one identifier.
    public static func bytes(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { text in
            guard text.count.isMultiple(of: 2) else { return nil }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(text.count / 2)
            for index in stride(from: 0, to: text.count, by: 2) {
                guard let high = value(of: text[index]), let low = value(of: text[index + 1]) else { return nil }
                bytes.append(high << 4 | low)
            }
            return bytes
        }
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
