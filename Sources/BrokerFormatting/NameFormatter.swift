import BrokerModel

/// What a contact is called in a list: its name, or what else one would recognise it by.
///
/// What comes out is the contact's own text: put it through ``DisplayText`` before a terminal sees it.
public struct NameFormatter: Hashable, Sendable {
    private let formatter: ContactNameFormatter
    private let noName: String

    /// - Parameter names: in the language of the person who reads.
    public init(names: LocalizedNames = .inEnglish) {
        formatter = ContactNameFormatter(language: names.language)
        noName = names.text(.noName)
    }

    /// The contact's name, its organization, nickname, e-mail address or phone number. Never empty.
    public func string(from contact: Contact) -> String {
        // A name of spaces or of characters that nobody sees names nobody.
        let name = formatter.runs(of: contact, withNickname: false).map(\.text).joined()
        if !DisplayText.line(name).isEmpty { return name }
        let candidates = [
            contact.organizationName, contact.nickname, contact.emailAddresses.first?.value ?? "",
            contact.phoneNumbers.first?.value ?? "",
        ]
        return candidates.first { !DisplayText.line($0).isEmpty } ?? noName
    }
}
