/// The interface's `SortOrder`.
public enum SortOrder: String, CaseIterable, Sendable {
    case none, userDefault, givenName, familyName
}

/// The interface's `Predicate`, with the identifiers that the caller sent.
public enum WirePredicate: Hashable, Sendable {
    case name(String)
    case emailAddress(String)
    case phoneNumber(String)
    case identifiers([String])
    case group(String)
    case container(String)
    case me
}
