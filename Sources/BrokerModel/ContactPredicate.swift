/// Which contacts are wanted.
public enum ContactPredicate: Hashable, Sendable {
    /// Every word of the text begins a word of the contact's names, nickname or organisation, in any order. A text
    /// without words matches nobody.
    case name(String)
    /// One of the contact's e-mail addresses is this one, apart from letter case.
    case emailAddress(String)
    /// One of the contact's phone numbers is this one, written in whatever way.
    case phoneNumber(String)
    case records([RecordNumber])
    /// The contact is kept in this container; `nil` is the one that every book has.
    case container(RecordNumber?)
}

/// In which order contacts are wanted.
public enum ContactOrder: UInt8, CaseIterable, Hashable, Sendable {
    /// As they came into the book.
    case none = 0
    /// By the name, given name first.
    case givenName = 1
    /// By the name, family name first.
    case familyName = 2
}
