import BrokerModel

/// Formats what a contact is called in a list: its name, or a substitute by which people recognise it.
///
/// The result is the contact's own text: pass it through ``DisplayText`` before writing it to a terminal.
public struct NameFormatter: Hashable, Sendable {
    private let formatter: ContactNameFormatter
    private let noName: String

    /// - Parameter names: texts in the reader's language.
    public init(names: LocalizedNames = .inEnglish) {
        formatter = ContactNameFormatter(language: names.language)
        noName = names.text(.noName)
    }

    /// The contact's name, its organization, nickname, e-mail address or phone number. Never empty.
    public func string(from contact: Contact) -> String {
        // A name without visible characters does not count as a name.
        let name = formatter.runs(of: contact, withNickname: false).map(\.text).joined()
        if !DisplayText.line(name).isEmpty { return name }
        let candidates = [
            contact.organizationName, contact.nickname, contact.emailAddresses.first?.value ?? "",
            contact.phoneNumbers.first?.value ?? "",
        ]
        return candidates.first { !DisplayText.line($0).isEmpty } ?? noName
    }
}
