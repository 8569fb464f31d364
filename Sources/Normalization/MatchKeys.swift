import ContactsModel

/// An e-mail address in the form in which it is compared: letter case and width do not count.
public struct EmailMatchKey: Hashable, Sendable {
    /// Longest address compared, in bytes (RFC 5321 §4.5.3.1 allows 320); a longer one matches nothing.
    public static let maximumSize = 512

    public let text: String

    /// `nil` for what is no address to compare: empty or too long.
    public init?(_ address: String, _ normalizer: Normalizer) {
        guard address.utf8.count <= Self.maximumSize else { return nil }
        var text = Substring(normalizer.caseFolded(address))
        while text.unicodeScalars.first?.properties.isWhitespace == true { text.unicodeScalars.removeFirst() }
        while text.unicodeScalars.last?.properties.isWhitespace == true { text.unicodeScalars.removeLast() }
        guard !text.isEmpty, text.utf8.count <= Self.maximumSize else { return nil }
        self.text = String(text)
    }
}

/// A phone number by its digits, without what is dialled before it.
///
/// Two numbers match if their digits are equal, or the shorter one has at least ``shortest`` digits and the longer one
/// ends with it: `+44 20 7946 0018`, `020 7946 0018` and `7946 0018` are one. Zeros in front are dialled (`0` within the
/// country, `00` out of it) and do not count, nor does `(0)` within. This is a rule over digits alone: it can take
/// numbers of two countries for one where only one of them is written with its country.
public struct PhoneDigits: Hashable, Sendable {
    /// Fewest digits that may be the end of a longer number; shorter ones (112) match only themselves.
    public static let shortest = 7
    /// Most digits kept (E.164 has 15, with room for what people dial around it); a longer one matches nothing.
    public static let longest = 32

    /// The digits from the last to the first: numbers with one ending stand together in an index.
    public let reversed: String

    /// `nil` for what has no digits, or too many.
    public init?(_ number: String) {
        let digits = Self.dialled(number).drop { $0 == UInt8(ascii: "0") }
        guard !digits.isEmpty, digits.count <= Self.longest else { return nil }
        reversed = String(decoding: digits.reversed(), as: UTF8.self)
    }

    /// Takes digits that were stored.
    public init(reversed: String) {
        self.reversed = reversed
    }

    /// The digits up to what is dialled once the call is answered (`;ext=7`, `x7`, `,,7`), and without the zero of
    /// `+44 (0)20`, which is for callers within the country.
    private static func dialled(_ number: String) -> [UInt8] {
        let text = number.utf8.allSatisfy { $0 < 0x80 } ? Array(number.utf8) : number.unicodeScalars.map(ascii)
        var digits: [UInt8] = []
        var index = 0
        while index < text.count {
            let byte = text[index]
            if (0x30...0x39).contains(byte) {
                digits.append(byte)
            } else if !digits.isEmpty {
                if endsNumber(byte) { break }
                if byte == UInt8(ascii: "("), text[index...].starts(with: [0x28, 0x30, 0x29]) { index += 2 }
            }
            index += 1
        }
        return digits
    }

    private static func endsNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: "#"), UInt8(ascii: "x"), UInt8(ascii: "X"),
            UInt8(ascii: "w"), UInt8(ascii: "W"), UInt8(ascii: "p"), UInt8(ascii: "P"):
            true
        default: false
        }
    }

    /// A digit of any script as ASCII; what else is not ASCII is a space.
    private static func ascii(_ scalar: Unicode.Scalar) -> UInt8 {
        if scalar.isASCII { return UInt8(scalar.value) }
        guard scalar.properties.generalCategory == .decimalNumber, let value = scalar.properties.numericValue else {
            return UInt8(ascii: " ")
        }
        return 0x30 + UInt8(value)
    }

    /// The decimal digits of a text, of whatever script, as ASCII.
    public static func digits(in text: String) -> [UInt8] {
        text.unicodeScalars.map(ascii).filter { (0x30...0x39).contains($0) }
    }

    /// Whole stored numbers that are this one, or an ending of it.
    public var endings: [String] {
        let count = reversed.utf8.count
        return (min(Self.shortest, count)...count).map { String(reversed.prefix($0)) }
            .filter { $0 == reversed || $0.utf8.count >= Self.shortest }
    }

    /// What stored numbers begin with (they are stored reversed) that end with this one; `nil` for a short one.
    public var beginning: String? { reversed.utf8.count >= Self.shortest ? reversed : nil }

    public func matches(_ other: PhoneDigits) -> Bool {
        let (short, long) = reversed.utf8.count < other.reversed.utf8.count ? (self, other) : (other, self)
        return short.reversed == long.reversed
            || short.reversed.utf8.count >= Self.shortest && long.reversed.hasPrefix(short.reversed)
    }
}
