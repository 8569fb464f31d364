import BrokerModel

/// Formats a contact's name for a list. If the contact has no name, uses another value by which people
/// recognise it.
///
/// The result is the contact's own text: pass it through ``DisplayText`` before writing it to a terminal.
public struct NameFormatter: Hashable, Sendable {
    private let formatter: ContactNameFormatter
    private let noName: String

    /// - Parameter names: texts in the reader's language, and the order that the person prefers.
    public init(names: LocalizedNames = .inEnglish) {
        formatter = ContactNameFormatter(userOrder: names.nameOrder, language: names.reader)
        noName = names.text(.noName)
    }

    /// Returns the first of these that the contact has: name, organization, nickname, e-mail address, phone
    /// number. The result is never empty.
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
