import BrokerFormatting
import BrokerModel
import Foundation

/// Names in the person's language: `LC_ALL`, `LC_MESSAGES` or `LANG` of the process, as it was when they were first asked for.
enum Languages {
    static let tags = PreferredLanguages.tags { ProcessInfo.processInfo.environment[$0] }
    static let names = LocalizedNames(languages: tags)
    /// BCP 47, for what depends on who reads.
    static var reader: String { tags.first ?? LocalizedNames.english }

    static func label(_ stored: String) -> String { names.label(stored) }

    static func service(_ stored: String) -> String { names.service(stored) }

    /// A key of a contact, or of a field of one of its values; what is neither as it is.
    static func key(_ key: String) -> String {
        if let key = ContactKey(rawValue: key) { return names.key(key) }
        return names.field(key) ?? key
    }
}
