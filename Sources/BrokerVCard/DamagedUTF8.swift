/// A text that is UTF-8 but for a few damaged characters, or that has surrogate pairs in it (CESU-8, Unicode Technical
/// Report #26), as Java writes characters beyond the Basic Multilingual Plane.
public struct DamagedUTF8 {
    /// The text, with U+FFFD for each damaged character.
    public let text: String
    /// The numbers of characters that are not ASCII.
    private let valid: Int
    private let damaged: Int

    public init(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        var scalars = String.UnicodeScalarView()
        var (valid, damaged, index) = (0, 0, 0)
        while index < bytes.count {
            let (scalar, length) = Self.next(bytes, index)
            scalars.append(scalar ?? "\u{FFFD}")
            if scalar == nil { damaged += 1 } else if length > 1 { valid += 1 }
            index += length
        }
        (text, self.valid, self.damaged) = (String(scalars), valid, damaged)
    }

    /// Whether no character is damaged.
    public var isWhole: Bool { damaged == 0 }

    /// Whether the text can be nothing but UTF-8: it has several characters that are, and few that are not. In
    /// Windows-1252 two letters in a row rarely are one character of UTF-8.
    public var isCertain: Bool { isWhole || valid > 1 && damaged * 2 <= valid }

    /// The names of UTF-8 (WHATWG Encoding).
    static func isName(_ charset: String) -> Bool {
        ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8", "cesu-8", "cesu8"]
            .contains { ASCII.equal($0, charset) }
    }

    /// Decodes one character.
    ///
    /// - Returns: the character, or `nil` if it is damaged; and its length, or that of the damaged part (Unicode Standard,
    ///   3.9, Substitution of Maximal Subparts; a surrogate is one part).
    private static func next(_ bytes: [UInt8], _ index: Int) -> (Unicode.Scalar?, Int) {
        let (value, length) = unit(bytes, index)
        guard let value else { return (nil, length) }
        if let scalar = Unicode.Scalar(value) { return (scalar, length) }
        let (second, secondLength) = unit(bytes, index + length)
        guard (0xD800...0xDBFF).contains(value), let second, (0xDC00...0xDFFF).contains(second) else {
            return (nil, length)
        }
        return (Unicode.Scalar(0x10000 + (value - 0xD800) << 10 + (second - 0xDC00)), length + secondLength)
    }

    /// Decodes one code point, which can be a surrogate.
    private static func unit(_ bytes: [UInt8], _ index: Int) -> (UInt32?, Int) {
        guard index < bytes.count else { return (nil, 0) }
        let lead = bytes[index]
        let length: Int
        switch lead {
        case ..<0x80: return (UInt32(lead), 1)
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF: length = 3
        case 0xF0...0xF4: length = 4
        default: return (nil, 1)
        }
        var value = UInt32(lead) & (0x7F >> UInt32(length))
        for place in 1..<length {
            guard index + place < bytes.count else { return (nil, place) }
            let byte = bytes[index + place]
            let lowest: UInt8 = place > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80
            guard (lowest...(place == 1 && lead == 0xF4 ? 0x8F : 0xBF)).contains(byte) else { return (nil, place) }
            value = value << 6 | UInt32(byte & 0x3F)
        }
        return (value, length)
    }
}
