import CBrokerPhoneNumber

/// A phone number in the form in which it is compared: as libphonenumber reads it, and matched as its `IsNumberMatch` does.
///
/// Two numbers match if their countries do not differ (one may be unknown), their extensions do not (one may be absent), and
/// one's national number is the other's or the end of it. So `+44 20 7946 0018`, and in the United Kingdom `020 7946 0018` and
/// `7946 0018`, are one; `+1 20 7946 0018` is another.
///
/// In one thing this is stricter: a number of fewer than ``shortest`` digits, or that a service has (112, 116117), is the
/// end of none. Everybody's number ends with one or two of the digits.
public struct PhoneMatchKey: Hashable, Sendable {
    /// Fewest digits that may be the end of a longer number.
    public static let shortest = 5
    /// The same where the country is not known, so that nobody can tell whether it is a service's.
    static let shortestAnywhere = 7

    /// The national number's digits from the last to the first, so that numbers with one ending stand together in an
    /// index. ``wholeMark`` stands before those that are the end of none.
    public let national: String
    /// Calling code; 0 where it is not known.
    public let country: Int32
    /// Digits; empty for none.
    public let extensionDigits: String

    static let wholeMark: Character = "="

    /// `nil` for what has no digits, or too many.
    public init?(_ number: String, _ normalizer: Normalizer) { self.init(number, region: normalizer.region) }

    /// From any thread.
    ///
    /// - Parameter region: a normalizer's.
    public init?(_ number: String, region: String) {
        if let parsed = Self.parse(number, region), parsed.national > 0 {
            let digits = String(parsed.national)
            let isWhole = digits.utf8.count < Self.shortest || parsed.is_short == 1
            self.init(
                national: (isWhole ? String(Self.wholeMark) : "") + String(digits.reversed()),
                country: parsed.country, extensionDigits: Self.text(parsed))
        } else {
            // A number without a country, which nobody can guess, or with a star: its digits as they are.
            guard let digits = PhoneDigits(number)?.reversed else { return nil }
            let isWhole = digits.utf8.count < Self.shortestAnywhere
            self.init(
                national: (isWhole ? String(Self.wholeMark) : "") + digits, country: 0, extensionDigits: "")
        }
    }

    /// Takes what was stored.
    public init(national: String, country: Int32, extensionDigits: String) {
        self.national = national
        self.country = country
        self.extensionDigits = extensionDigits
    }

    /// Where who speaks so dials: `DE` of `de_DE.UTF-8@euro`; empty where the locale names no country.
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

    /// The digits, and the plus in front of them, where the number is these with spaces, dots, hyphens and parentheses
    /// around them; `nil` for any other.
    ///
    /// libphonenumber leaves those out itself, after it has looked behind each of them for an extension, which takes as long
    /// as everything else. Three digits at least: of two it wants to see that nothing stands between them.
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

    /// In bytes. Far below the length at which the library reads no number any more.
    private static let longestUndecorated = 64

    private static func text(_ parsed: cphonenumber) -> String {
        withUnsafeBytes(of: parsed.extension) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private var isWhole: Bool { Self.isWhole(national) }

    /// Whether a number is the end of no other: a service's, or one of few digits.
    ///
    /// - Parameter national: a key's.
    public static func isWhole(_ national: String) -> Bool { national.first == wholeMark }

    /// Whole stored national numbers that are this one, or an ending of it.
    public var endings: [String] {
        let count = national.utf8.count
        guard !isWhole, count > Self.shortest else { return [national] }
        return (Self.shortest...count).map { String(national.prefix($0)) }
    }

    /// What stored national numbers begin with (they are stored reversed) that end with this one; `nil` for one that is
    /// the end of none.
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
