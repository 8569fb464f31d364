import BrokerModel

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

/// The digits of a phone number as they are typed, for who searches by a part of them.
///
/// Zeros in front are dialled (`0` within the country, `00` out of it) and do not count, nor does `(0)` within.
public struct PhoneDigits: Hashable, Sendable {
    /// Most digits kept (E.164 has 15, with room for what people dial around it); of a longer one there are none.
    public static let longest = 32

    /// The digits from the last to the first.
    public let reversed: String

    /// `nil` for what has no digits, or too many.
    public init?(_ number: String) {
        let digits = Self.dialled(number).drop { $0 == UInt8(ascii: "0") }
        guard !digits.isEmpty, digits.count <= Self.longest else { return nil }
        reversed = String(decoding: digits.reversed(), as: UTF8.self)
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
}
