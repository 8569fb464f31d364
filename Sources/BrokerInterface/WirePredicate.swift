/// `SortOrder` of the interface.
public enum SortOrder: String, CaseIterable, Sendable {
    case none, userDefault, givenName, familyName
}

/// `Predicate` of the interface, with its identifiers as the caller sent them.
public enum WirePredicate: Hashable, Sendable {
    case name(String)
    case emailAddress(String)
    case phoneNumber(String)
    case identifiers([String])
    case group(String)
    case container(String)
    case me
}
