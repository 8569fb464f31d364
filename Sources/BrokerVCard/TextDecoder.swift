import CBrokerICU

/// Decodes the bytes of a line: as UTF-8 if valid, else in the character set that the line names, else as damaged UTF-8 if
/// the bytes can be nothing else, else as Windows-1252.
enum TextDecoder {
    /// Decodes bytes, and removes control characters except tab, because terminals interpret them.
    ///
    /// - Parameter charset: the CHARSET parameter. It is ignored for valid UTF-8, because text in other
    ///   character sets is rarely valid UTF-8.
    /// - Parameter isUTF8: whether a byte order mark declares UTF-8.
    /// - Returns: the text, and whether its characters are certain.
    static func decode(
        _ bytes: [UInt8], charset: String? = nil, isUTF8: Bool = false
    ) -> (text: String, isCertain: Bool) {
        if let text = String(validating: bytes, as: UTF8.self) { return (withoutControls(text), true) }
        let damaged = DamagedUTF8(bytes)
        if charset.map(DamagedUTF8.isName) ?? (isUTF8 || damaged.isCertain) || damaged.isWhole {
            return (withoutControls(damaged.text), damaged.isWhole)
        }
        let name = charset.flatMap(canonicalName)
        if let name, !western.contains(name), let text = convert(bytes, name) {
            return (withoutControls(text), !text.unicodeScalars.contains("\u{FFFD}"))
        }
        return (withoutControls(Windows1252.decode(bytes)), name.map(western.contains) ?? false)
    }

    private static func withoutControls(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !isControl(scalar) { kept.append(scalar) }
        return String(kept)
    }

    /// ICU's names of Windows-1252, and of the character sets that browsers read as Windows-1252 (WHATWG Encoding).
    private static let western: Set<String> = ["ibm-5348_P100-1997", "ISO-8859-1", "US-ASCII"]

    /// Returns ICU's name of a character set that contains ASCII; `nil` for any other. Character sets with states are not
    /// accepted, because some have a second encoding of the colon.
    static func canonicalName(_ charset: String) -> String? {
        guard charset.utf8.count <= 64, charset.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        let capacity = 64
        var size = 0
        let name = [UInt8](unsafeUninitializedCapacity: capacity) { out, count in
            // ICU writes at most `capacity` bytes; `count` is the number written.
            size = out.withMemoryRebound(to: CChar.self) { cicu_charset(charset, $0.baseAddress, capacity) }
            count = (0...capacity).contains(size) ? size : 0
        }
        return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }

    /// Converts with ICU. Invalid bytes become U+FFFD; `nil` if ICU lacks the character set.
    static func convert(_ bytes: [UInt8], _ charset: String) -> String? {
        bytes.withUnsafeBytes { raw in
            raw.withMemoryRebound(to: CChar.self) { characters in
                // In all these character sets, a character takes at most three bytes of UTF-8 for each of its own
                // bytes.
                let capacity = characters.count * 3
                var size = 0
                // ICU writes at most `capacity` bytes; `count` is the number written.
                let text = [UInt8](unsafeUninitializedCapacity: capacity) { out, count in
                    size = out.withMemoryRebound(to: CChar.self) {
                        cicu_decode(charset, characters.baseAddress, characters.count, $0.baseAddress, capacity)
                    }
                    count = min(max(size, 0), capacity)
                }
                return (0...capacity).contains(size) ? String(validating: text, as: UTF8.self) : nil
            }
        }
    }

    /// Whether the scalar is a control character other than tab.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 && scalar != "\t" || (0x7F...0x9F).contains(scalar.value)
    }
}

/// Shift JIS, in which Japanese versions of Windows write files.
public enum ShiftJIS {
    /// Invalid bytes become U+FFFD; `nil` if ICU lacks the character set.
    public static func decode(_ bytes: [UInt8]) -> String? { TextDecoder.convert(bytes, "shift_jis") }
}

/// Windows-1252 as browsers read it, with a character for every byte (WHATWG Encoding, windows-1252).
public enum Windows1252 {
    public static func decode(_ bytes: [UInt8]) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(character(byte)) }
        return String(text)
    }

    private static func character(_ byte: UInt8) -> Unicode.Scalar {
        guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
        return Unicode.Scalar(high[Int(byte) - 0x80]) ?? Unicode.Scalar(byte)
    }

    private static let high: [UInt16] = [
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D,
        0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x009D, 0x017E, 0x0178,
    ]
}
