import BrokerFormatting
import BrokerModel
import Foundation

/// Names in the person's language. The language comes from the environment variables `LANGUAGE`, `LC_ALL`,
/// `LC_MESSAGES` and `LANG`, which are read at the first use.
enum Languages {
    static let tags = PreferredLanguages.tags { ProcessInfo.processInfo.environment[$0] }
    static let names = LocalizedNames(languages: tags)
    /// The person's first language as a BCP 47 tag, for formats that depend on the reader's language.
    static var reader: String { tags.first ?? LocalizedNames.english }

    static func label(_ stored: String) -> String { names.label(stored) }

    static func service(_ stored: String) -> String { names.service(stored) }

    /// Returns the translated name of a contact's property or of a value's field; an unknown key is returned
    /// unchanged.
    static func key(_ key: String) -> String {
        if let key = ContactKey(rawValue: key) { return names.key(key) }
        return names.field(key) ?? key
    }
}

extension Locale {
    /// The person's region from the environment variables, which `Locale.current` ignores on Linux.
    static var region: String? {
        PreferredLanguages.region(ofCategory: "LC_ADDRESS") { ProcessInfo.processInfo.environment[$0] }
    }
}
