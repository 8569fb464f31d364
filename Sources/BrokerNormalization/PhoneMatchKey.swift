import CBrokerPhoneNumber

/// A phone number in the form for comparison. libphonenumber parses the number, and keys match as in its
/// function `IsNumberMatch`.
///
/// Two numbers match if all of these are true:
/// - Their country codes are equal, or one is unknown.
/// - Their extensions are equal, or one is absent.
/// - One national number equals the other or is its ending.
///
/// In the United Kingdom these match: `+44 20 7946 0018`, `020 7946 0018` and `7946 0018`.
/// `+1 20 7946 0018` matches none of them.
///
/// One rule is stricter: a number with fewer than ``shortest`` digits, or a service number (112, 116117),
/// does not count as the ending of another number. Otherwise it would match too many numbers.
public struct PhoneMatchKey: Hashable, Sendable {
    /// The minimum number of digits of a number that can be the ending of a longer one.
    public static let shortest = 5
    /// The minimum if the country is unknown. It is higher, because then service numbers cannot be
    /// recognised.
    static let shortestAnywhere = 7

    /// The national number's digits in reverse order. Numbers with the same ending are therefore adjacent in
    /// an index. ``wholeMark`` precedes a number that cannot be the ending of another one.
    public let national: String
    /// The calling code; 0 if unknown.
    public let country: Int32
    /// The extension's digits; empty for none.
    public let extensionDigits: String

    static let wholeMark: Character = "="

    /// Returns `nil` if there are no digits, or too many.
    public init?(_ number: String, _ normalizer: Normalizer) { self.init(number, region: normalizer.region) }

    /// Can be called from any thread.
    ///
    /// - Parameter region: a normalizer's region.
    public init?(_ number: String, region: String) {
        if let parsed = Self.parse(number, region), parsed.national > 0 {
            let digits = String(parsed.national)
            let isWhole = digits.utf8.count < Self.shortest || parsed.is_short == 1
            self.init(
                national: (isWhole ? String(Self.wholeMark) : "") + String(digits.reversed()),
                country: parsed.country, extensionDigits: Self.text(parsed))
        } else {
            // libphonenumber cannot parse the number, for example because its country is unknown or it has a
            // star. The key then consists of the number's digits.
            guard let digits = PhoneDigits(number)?.reversed else { return nil }
            let isWhole = digits.utf8.count < Self.shortestAnywhere
            self.init(
                national: (isWhole ? String(Self.wholeMark) : "") + digits, country: 0, extensionDigits: "")
        }
    }

    /// Creates a key from stored values.
    public init(national: String, country: Int32, extensionDigits: String) {
        self.national = national
        self.country = country
        self.extensionDigits = extensionDigits
    }

    /// Returns the region of a locale: `DE` for `de_DE.UTF-8@euro`; empty if the locale has none.
    public static func region(ofLocale locale: String) -> String {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        let region = name.split(separator: "_", omittingEmptySubsequences: false).dropFirst().first ?? ""
        let isRegion = region.utf8.count == 2 && region.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        return isRegion ? String(region) : ""
    }

    private static func parse(_ number: String, _ region: String) -> cphonenumber? {
        var parsed = cphonenumber()
        var number = Self.undecorated(number) ?? number
        let isOne = number.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) {
                cphonenumber_parse($0.baseAddress, $0.count, region, &parsed)
            }
        }
        return isOne == 1 ? parsed : nil
    }

    /// Returns the digits and any leading plus of a number that otherwise has only spaces, dots, hyphens and
    /// parentheses. Returns `nil` for any other number, and for a very short or very long one.
    ///
    /// libphonenumber also removes these characters, but first searches for an extension after each of them,
    /// which doubles the time. Very short numbers are left unchanged, because libphonenumber accepts a number
    /// of two digits only if nothing is between them.
    private static func undecorated(_ number: String) -> String? {
        guard number.utf8.count <= longestUndecorated else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(number.utf8.count)
        for byte in number.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): bytes.append(byte)
            case UInt8(ascii: "+") where bytes.isEmpty: bytes.append(byte)
            case UInt8(ascii: " "), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "("), UInt8(ascii: ")"): break
            default: return nil
            }
        }
        return bytes.count > 3 ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// The maximum size of a number for ``undecorated(_:)``, in bytes.
    private static let longestUndecorated = 64

    private static func text(_ parsed: cphonenumber) -> String {
        withUnsafeBytes(of: parsed.extension) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private var isWhole: Bool { Self.isWhole(national) }

    /// Whether a number cannot be the ending of another one, because it is a service number or has few
    /// digits.
    ///
    /// - Parameter national: a key's ``national``.
    public static func isWhole(_ national: String) -> Bool { national.first == wholeMark }

    /// Every national number, in its stored form, that equals this one or can be its ending.
    public var endings: [String] {
        let count = national.utf8.count
        guard !isWhole, count > Self.shortest else { return [national] }
        return (Self.shortest...count).map { String(national.prefix($0)) }
    }

    /// The prefix of the stored (reversed) national numbers that end with this one; `nil` if this one cannot
    /// be an ending.
    public var beginning: String? { isWhole ? nil : national }

    public func matches(_ other: PhoneMatchKey) -> Bool {
        guard country == other.country || country == 0 || other.country == 0 else { return false }
        guard
            extensionDigits == other.extensionDigits || extensionDigits.isEmpty || other.extensionDigits.isEmpty
        else { return false }
        if national == other.national { return true }
        return !isWhole && !other.isWhole
            && (national.hasPrefix(other.national) || other.national.hasPrefix(national))
    }
}
