import BrokerModel

/// An e-mail address in the form for comparison, which ignores case and character width.
public struct EmailMatchKey: Hashable, Sendable {
    /// The maximum size of an address, in bytes (RFC 5321 §4.5.3.1 allows 320). A longer address matches
    /// nothing.
    public static let maximumSize = 512

    public let text: String

    /// Returns `nil` if the address is empty or too long.
    public init?(_ address: String, _ normalizer: Normalizer) {
        guard address.utf8.count <= Self.maximumSize else { return nil }
        var text = Substring(normalizer.caseFolded(address))
        while text.unicodeScalars.first?.properties.isWhitespace == true { text.unicodeScalars.removeFirst() }
        while text.unicodeScalars.last?.properties.isWhitespace == true { text.unicodeScalars.removeLast() }
        guard !text.isEmpty, text.utf8.count <= Self.maximumSize else { return nil }
        self.text = String(text)
    }
}

/// The digits of a phone number as typed, for searches by a part of the number.
///
/// Leading zeros are trunk or international prefixes (`0`, `00`) and are ignored, as is `(0)` inside the
/// number.
public struct PhoneDigits: Hashable, Sendable {
    /// The maximum number of digits. E.164 allows 15; the rest is for dialling prefixes. A longer number
    /// cannot be searched for.
    public static let longest = 32

    /// The digits in reverse order.
    public let reversed: String

    /// Returns `nil` if there are no digits, or too many.
    public init?(_ number: String) {
        let digits = Self.dialled(number).drop { $0 == UInt8(ascii: "0") }
        guard !digits.isEmpty, digits.count <= Self.longest else { return nil }
        reversed = String(decoding: digits.reversed(), as: UTF8.self)
    }

    /// Returns the digits before any extension (`;ext=7`, `x7`, `,,7`), without the zero of `+44 (0)20`,
    /// which is dialled only within the country.
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

    /// Returns a decimal digit of any script as ASCII, and any other non-ASCII character as a space.
    private static func ascii(_ scalar: Unicode.Scalar) -> UInt8 {
        if scalar.isASCII { return UInt8(scalar.value) }
        guard scalar.properties.generalCategory == .decimalNumber, let value = scalar.properties.numericValue else {
            return UInt8(ascii: " ")
        }
        return 0x30 + UInt8(value)
    }

    /// Returns the decimal digits of a text, in any script, as ASCII.
    public static func digits(in text: String) -> [UInt8] {
        text.unicodeScalars.map(ascii).filter { (0x30...0x39).contains($0) }
    }
}
