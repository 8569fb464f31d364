/// Converts bytes to lower-case hexadecimal digits and back.
public enum Hexadecimal {
    static func digits(of bytes: some Collection<UInt8>) -> [UInt8] {
        var text = [UInt8](repeating: 0, count: 2 * bytes.count)
        var digits = text.mutableSpan
        for (index, byte) in bytes.enumerated() {
            digits[2 * index] = digit(byte >> 4)
            digits[2 * index + 1] = digit(byte & 15)
        }
        return text
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }

    public static func text(_ bytes: some Collection<UInt8>) -> String {
        // The loop over a buffer is specialized; one over any collection would call the collection for each byte.
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
