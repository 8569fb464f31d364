import BrokerModel

/// Reads photos that are embedded in the card. A photo behind a URL is never fetched.
public enum PhotoValue {
    enum Photo: Hashable {
        /// Padded base64 (RFC 4648 §4).
        case picture(String)
        /// A URI.
        case address
        case damaged
    }

    static func read(_ line: ContentLine) -> Photo {
        var value = ASCII.trimmed(line.storage[line.value])
        let head = value.prefix(16)
        if head.count > 5, ASCII.equal(head.prefix(5), "data:") {
            guard let comma = value.prefix(256).firstIndex(of: UInt8(ascii: ",")),
                ASCII.lowercased(String(decoding: value[..<comma], as: UTF8.self)).contains("base64")
            else { return .damaged }
            value = value[(comma + 1)...]
        } else if line.valueType == "uri" || line.valueType == "url" || head.contains(UInt8(ascii: ":")) {
            return .address
        }
        return canonical(value).map(Photo.picture) ?? .damaged
    }

    /// Returns canonical base64; `nil` if the text is not base64 of a known image format. The format is
    /// detected from the content, because writers often declare the wrong type.
    public static func canonical(_ text: ArraySlice<UInt8>) -> String? {
        var digits: [UInt8] = []
        digits.reserveCapacity(text.count + 4)
        var padding = 0
        for byte in text {
            if Base64.values[Int(byte)] < 64 {
                guard padding == 0 else { return nil }
                digits.append(byte)
            } else if byte == UInt8(ascii: "=") {
                padding += 1
            } else if byte != 0x20, byte != 0x09, byte != UInt8(ascii: "\\") {
                return nil
            }
        }
        guard digits.count % 4 != 1, padding <= 2 + (digits.count % 4 == 0 ? 0 : 1), type(of: digits[...]) != nil
        else { return nil }
        // The unused bits of the last digit are zero in canonical form (RFC 4648 §3.5).
        let spare = [0, 0, 4, 2][digits.count % 4]
        if let last = digits.last {
            digits[digits.count - 1] = Base64.digits[Int((Base64.values[Int(last)] >> spare) << spare)]
        }
        digits += [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
        return String(decoding: digits, as: UTF8.self)
    }

    /// Whether canonical base64 is a picture in JPEG.
    public static func isJPEG(_ digits: some Collection<UInt8>) -> Bool {
        type(of: Array(digits.prefix(16))[...]) == "JPEG"
    }

    /// Returns the image format of base64 data, as a TYPE value (RFC 2426 §3.1.4); `nil` if it is unknown.
    static func type(of digits: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var bits = 0
        for (place, digit) in digits.prefix(16).enumerated() {
            bits = (bits << 6 | Int(Base64.values[Int(digit)] & 63)) & 0xFFFF
            if place % 4 != 0 { bytes.append(UInt8(truncatingIfNeeded: bits >> (6 - 2 * (place % 4)))) }
        }
        for (magic, type) in types where bytes.starts(with: magic) { return type }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return "WEBP" }
        return bytes.dropFirst(4).starts(with: "ftyp".utf8) ? "HEIC" : nil
    }

    private static let types: [(magic: [UInt8], type: String)] = [
        ([0xFF, 0xD8, 0xFF], "JPEG"), ([0x89, 0x50, 0x4E, 0x47], "PNG"), (Array("GIF8".utf8), "GIF"),
        (Array("BM".utf8), "BMP"), ([0x49, 0x49, 0x2A, 0x00], "TIFF"), ([0x4D, 0x4D, 0x00, 0x2A], "TIFF"),
    ]

    static func isBase64(_ byte: UInt8) -> Bool { Base64.values[Int(byte)] < 64 }
}
