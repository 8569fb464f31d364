/// Reads pictures that stand in the card itself. What stands elsewhere is never fetched.
enum PhotoValue {
    enum Reading: Hashable {
        /// In base64, padded (RFC 4648 §4).
        case picture(String)
        /// The address of one.
        case address
        case damaged
    }

    static func read(_ line: ContentLine) -> Reading {
        var value = line.value
        if ASCII.hasPrefix(value, "data:") {
            guard let comma = value.utf8.firstIndex(of: UInt8(ascii: ",")) else { return .damaged }
            guard ASCII.lowercased(value[..<comma]).contains("base64") else { return .damaged }
            value = value[value.utf8.index(after: comma)...]
        } else if line["VALUE"].map({ ASCII.equal($0, "uri") || ASCII.equal($0, "url") }) ?? false
            || value.utf8.prefix(12).contains(UInt8(ascii: ":"))
        {
            return .address
        }
        return base64(value).map(Reading.picture) ?? .damaged
    }

    /// The same base64 in its plain form, if it is that and begins as a picture does: writers name the wrong type
    /// too often to go by it.
    private static func base64(_ text: Substring) -> String? {
        var digits: [UInt8] = []
        digits.reserveCapacity(text.utf8.count)
        var padding = 0
        for byte in text.utf8 {
            switch byte {
            case 0x20, 0x09, UInt8(ascii: "\\"): continue
            case UInt8(ascii: "="): padding += 1
            default:
                guard padding == 0, value(byte) != nil else { return nil }
                digits.append(byte)
            }
        }
        guard digits.count % 4 != 1, padding <= 2 + (digits.count % 4 == 0 ? 0 : 1), isPicture(digits) else {
            return nil
        }
        // The last digit's bits past the last byte are zero in the plain form (RFC 4648 §3.5).
        let spare = [0: 0, 2: 4, 3: 2][digits.count % 4] ?? 0
        if let last = digits.last.flatMap(value) { digits[digits.count - 1] = alphabet[(last >> spare) << spare] }
        digits += [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
        return String(decoding: digits, as: UTF8.self)
    }

    private static func isPicture(_ digits: [UInt8]) -> Bool {
        var bytes: [UInt8] = []
        var bits = 0
        for (place, digit) in digits.prefix(16).enumerated() {
            bits = (bits << 6 | (value(digit) ?? 0)) & 0xFFFF
            if place % 4 != 0 { bytes.append(UInt8(truncatingIfNeeded: bits >> (6 - 2 * (place % 4)))) }
        }
        return magic.contains { bytes.starts(with: $0) }
            || bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
            || bytes.dropFirst(4).starts(with: "ftyp".utf8)
    }

    private static let magic: [[UInt8]] = [
        [0xFF, 0xD8, 0xFF], [0x89, 0x50, 0x4E, 0x47], Array("GIF8".utf8), Array("BM".utf8),
        [0x49, 0x49, 0x2A, 0x00], [0x4D, 0x4D, 0x00, 0x2A],
    ]

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func value(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(byte) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
