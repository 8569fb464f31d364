import BrokerFormatting
import Glibc

/// What the person's environment says of their language and country.
public enum PersonLocale {
    /// Names of keys and labels, and words, in their language.
    public static let names = LocalizedNames(languages: PreferredLanguages.tags(variable))

    /// Where they dial from and where their letters come from; `nil` where nobody said so.
    public static let phoneRegion = PreferredLanguages.region(ofCategory: "LC_TELEPHONE", variable)
    public static let addressRegion = PreferredLanguages.region(ofCategory: "LC_ADDRESS", variable)

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
