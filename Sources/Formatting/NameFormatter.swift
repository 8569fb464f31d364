import ContactsModel

/// Writes a contact's name as people write it.
///
/// What comes out is the contact's own text: put it through ``DisplayText`` before a terminal sees it.
public struct NameFormatter: Hashable, Sendable {
    public enum Order: Hashable, Sendable {
        case givenNameFirst, familyNameFirst
    }

    public var order: Order

    public init(order: Order = .givenNameFirst) {
        self.order = order
    }

    /// What stands for a contact that has nothing to be called by.
    public static let noName = "No name"

    /// The contact's name, or what else one would recognise it by: its organisation, nickname, e-mail address or phone
    /// number. Never empty.
    public func string(from contact: Contact) -> String {
        let candidates = [
            contact.contactType == .organization ? contact.organizationName : "", fullName(of: contact),
            contact.organizationName, contact.nickname, contact.emailAddresses.first?.value ?? "",
            contact.phoneNumbers.first?.value ?? "",
        ]
        // A name of spaces or of characters that nobody sees names nobody.
        return candidates.first { !DisplayText.line($0).isEmpty } ?? Self.noName
    }

    /// The personal name alone; empty where there is none.
    public func fullName(of contact: Contact) -> String {
        if let written = eastAsianName(of: contact) { return written }
        let name =
            switch order {
            case .givenNameFirst: [contact.givenName, contact.middleName, contact.familyName]
            case .familyNameFirst: [contact.familyName, contact.givenName, contact.middleName]
            }
        return ([contact.namePrefix] + name + [contact.nameSuffix]).filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Chinese, Japanese and Korean names have the family name first, whatever the order, and no space; a title follows.
    private func eastAsianName(of contact: Contact) -> String? {
        let name = contact.familyName + contact.middleName + contact.givenName
        guard !name.isEmpty, name.unicodeScalars.allSatisfy(Self.isEastAsian) else { return nil }
        return ([name] + [contact.namePrefix, contact.nameSuffix].filter { !$0.isEmpty }).joined(separator: " ")
    }

    /// Han, Kana and Hangul, with the iteration and length marks that names have.
    private static func isEastAsian(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x3005...0x3007, 0x3041...0x3096, 0x309D...0x309F, 0x30A1...0x30FA, 0x30FC...0x30FF, 0x3400...0x4DBF,
            0x4E00...0x9FFF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
