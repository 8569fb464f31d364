/// The person's preferred languages for programs, as BCP 47 tags.
public enum PreferredLanguages {
    /// Reads the languages as gettext does: first `LANGUAGE`, then the first of `LC_ALL`, `LC_MESSAGES` and
    /// `LANG` that is set. Returns none if that locale is `C` or `POSIX`, or if none is set.
    ///
    /// - Parameter value: returns the value of an environment variable.
    public static func tags(_ value: (String) -> String?) -> [String] {
        guard let tag = tag(ofLocale: locale(ofCategory: "LC_MESSAGES", value)) else { return [] }
        let wanted = (value("LANGUAGE") ?? "").split(separator: ":").compactMap { Self.tag(ofLocale: String($0)) }
        return wanted + [tag]
    }

    /// Returns the country of a locale, such as `AT` for `de_AT.UTF-8`. The locale is the first of `LC_ALL`,
    /// the category's own variable and `LANG` that is set. Returns `nil` if the locale names no country.
    ///
    /// - Parameter value: returns the value of an environment variable.
    public static func region(ofCategory category: String, _ value: (String) -> String?) -> String? {
        let name = locale(ofCategory: category, value).prefix { $0 != "." && $0 != "@" }
        let region = name.split(separator: "_", omittingEmptySubsequences: false).dropFirst().first ?? ""
        let isRegion = region.utf8.count == 2 && region.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        return isRegion ? String(region) : nil
    }

    /// Returns the first of the three variables that is set; empty if none is set.
    private static func locale(ofCategory category: String, _ value: (String) -> String?) -> String {
        ["LC_ALL", category, "LANG"].lazy.compactMap(value).first { !$0.isEmpty } ?? ""
    }

    /// Returns the tag of a locale: `de-AT` for `de_AT.UTF-8@euro`, `sr-Latn-RS` for `sr_RS@latin`; `nil` for
    /// `C`.
    static func tag(ofLocale locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        guard !name.isEmpty, name != "C", name != "POSIX" else { return nil }
        var parts = name.split(separator: "_").map(String.init)
        switch locale.split(separator: "@").dropFirst().first {
        case "latin": parts.insert("Latn", at: 1)
        case "cyrillic": parts.insert("Cyrl", at: 1)
        default: break
        }
        return parts.joined(separator: "-")
    }
}
