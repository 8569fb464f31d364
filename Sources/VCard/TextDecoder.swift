/// Turns the bytes of a line into text: UTF-8, and where they are not, Windows-1252.
enum TextDecoder {
    /// Control characters but tab are left out: contacts have none, and terminals obey them.
    ///
    /// - Returns: the text, and whether the bytes were UTF-8.
    static func decode(_ bytes: [UInt8]) -> (text: String, isUTF8: Bool) {
        if let text = String(validating: bytes, as: UTF8.self) {
            guard text.unicodeScalars.contains(where: isControl) else { return (text, true) }
            var kept = String.UnicodeScalarView()
            for scalar in text.unicodeScalars where !isControl(scalar) { kept.append(scalar) }
            return (String(kept), true)
        }
        var text = String.UnicodeScalarView()
        for scalar in bytes.lazy.map(windows1252) where !isControl(scalar) { text.append(scalar) }
        return (String(text), false)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 && scalar != "\t" || (0x7F...0x9F).contains(scalar.value)
    }

    /// Windows-1252 as browsers read it: it has a character for every byte (WHATWG Encoding, windows-1252).
    private static func windows1252(_ byte: UInt8) -> Unicode.Scalar {
        guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
        return Unicode.Scalar(high[Int(byte) - 0x80]) ?? Unicode.Scalar(byte)
    }

    private static let high: [UInt16] = [
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D,
        0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x009D, 0x017E, 0x0178,
    ]
}
