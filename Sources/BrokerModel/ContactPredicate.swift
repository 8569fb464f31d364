/// Selects contacts.
public enum ContactPredicate: Hashable, Sendable {
    /// Every word of the text begins a word of the contact's names, nickname or organisation, in any order. A text
    /// without words matches no contact.
    case name(String)
    /// One of the contact's e-mail addresses equals this one, ignoring case.
    case emailAddress(String)
    /// One of the contact's phone numbers matches this one, in any notation.
    case phoneNumber(String)
    case records([RecordNumber])
    /// The contact is in this container; `nil` is the default container, which every book has.
    case container(RecordNumber?)
}

/// The order of contacts.
public enum ContactOrder: UInt8, CaseIterable, Hashable, Sendable {
    /// The order in which the contacts were added to the book.
    case none = 0
    /// By name, given name first.
    case givenName = 1
    /// By name, family name first.
    case familyName = 2
}
