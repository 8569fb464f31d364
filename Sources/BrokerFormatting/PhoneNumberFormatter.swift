import CBrokerPhoneNumber

/// Writes phone numbers as libphonenumber does.
///
/// A service's short number (112, 116117), a number in words and what no numbering plan has stay as they were typed: nobody
/// knows where their digits part.
public struct PhoneNumberFormatter: Hashable, Sendable {
    /// Where numbers without a country are dialled: two capital letters, or `ZZ` for nobody knows where.
    public let region: String

    public init(region: String?) {
        let region = (region ?? "").uppercased()
        let isRegion = region.utf8.count == 2 && region.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        self.region = isRegion ? region : "ZZ"
    }

    /// `+442079460018` (ITU-T E.164); `nil` for what has no such form, such as 112, and for what no plan
    /// has.
    public func e164(_ number: String) -> String? { format(number, CPHONENUMBER_E164) }

    /// With the country: `+44 20 7946 0018`.
    public func international(_ number: String) -> String { format(number, CPHONENUMBER_INTERNATIONAL) ?? number }

    /// As it is dialled within its own country: `020 7946 0018`.
    public func national(_ number: String) -> String { format(number, CPHONENUMBER_WITHIN_COUNTRY) ?? number }

    /// As who dials from the region needs it: within it national, from elsewhere international.
    public func string(_ number: String) -> String { format(number, CPHONENUMBER_FROM_REGION) ?? number }

    /// Longest text that can be a number: libphonenumber reads no longer one.
    private static let longest = 250

    private func format(_ number: String, _ format: cphonenumber_format) -> String? {
        guard number.utf8.count <= Self.longest else { return nil }
        return CText.read { out, capacity in
            var number = number
            return number.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) {
                    cphonenumber_format($0.baseAddress, $0.count, region, format, out, capacity)
                }
            }
        }
    }
}
