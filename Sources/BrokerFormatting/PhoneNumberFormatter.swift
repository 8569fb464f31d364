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

    /// Longest text that can be a number: libphonenumber reads no longer one.
    private static let longest = 250

    /// As who dials from the region needs it: within it national, as `020 7946 0018`, from elsewhere international, as
    /// `+44 20 7946 0018`.
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
