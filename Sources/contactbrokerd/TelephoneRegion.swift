import BrokerNormalization
import Glibc

/// Where phone numbers are dialled that are written without a country, by the locale.
enum TelephoneRegion {
    /// Two capital letters, as in `DE`; empty where the locale names no country. As for any category of a locale, the
    /// first of the three that is set counts (locale(7)).
    static var ofThisProcess: String {
        for name in ["LC_ALL", "LC_TELEPHONE", "LANG"] {
            guard let value = getenv(name), value.pointee != 0 else { continue }
            return PhoneMatchKey.region(ofLocale: String(cString: value))
        }
        return ""
    }
}
