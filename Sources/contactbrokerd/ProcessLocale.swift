import BrokerNormalization
import Glibc

/// The locale of the broker's environment.
enum ProcessLocale {
    /// The locale's region, for phone numbers without a country code: two capital letters, such as `DE`; empty if the
    /// locale names no country.
    static var telephoneRegion: String { PhoneMatchKey.region(ofLocale: name(of: "LC_TELEPHONE")) }

    /// The locale whose alphabet determines the order of names, such as `sv_SE.UTF-8`; empty if there is none.
    static var collation: String { name(of: "LC_COLLATE") }

    /// The first of the three variables that is set and not empty decides (see locale(7)).
    private static func name(of category: String) -> String {
        for name in ["LC_ALL", category, "LANG"] {
            guard let value = getenv(name), value.pointee != 0 else { continue }
            return String(cString: value)
        }
        return ""
    }
}
