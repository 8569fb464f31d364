import BrokerNormalization
import Glibc

/// The locale's region, for phone numbers without a country code.
enum TelephoneRegion {
    /// Two capital letters, such as `DE`; empty if the locale names no country. The first of the three
    /// variables that is set and not empty decides (see locale(7)).
    static var ofThisProcess: String {
        for name in ["LC_ALL", "LC_TELEPHONE", "LANG"] {
            guard let value = getenv(name), value.pointee != 0 else { continue }
            return PhoneMatchKey.region(ofLocale: String(cString: value))
        }
        return ""
    }
}
