import CBrokerPhoneNumber

/// Formats phone numbers with libphonenumber.
///
/// Short numbers (112, 116117), numbers that spell words, and numbers outside any numbering plan stay as
/// typed, because their digit groups are unknown.
public struct PhoneNumberFormatter: Hashable, Sendable {
    /// The region for numbers without a country code: two capital letters, or `ZZ` if it is unknown.
    public let region: String

    public init(region: String?) {
        let region = (region ?? "").uppercased()
        let isRegion = region.utf8.count == 2 && region.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        self.region = isRegion ? region : "ZZ"
    }

    /// The maximum size of a text to parse, in bytes: libphonenumber's limit.
    private static let longest = 250

    /// Returns the number as dialled from the region: a number of the region in national form (`020 7946
    /// 0018`), any other in international form (`+44 20 7946 0018`).
    public func string(_ number: String) -> String {
        guard number.utf8.count <= Self.longest else { return number }
        let written = CText.read { out, capacity in
            var number = number
            return number.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) {
                    cphonenumber_format($0.baseAddress, $0.count, region, out, capacity)
                }
            }
        }
        return written ?? number
    }
}
