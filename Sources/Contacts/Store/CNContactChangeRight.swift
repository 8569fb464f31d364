/// What an app may change. Whatever the right, an app changes only what it sees, and only keys that it may read.
/// An extension of this library.
public enum CNContactChangeRight: String, CaseIterable, Sendable {
    /// Nothing: the app only reads.
    case none
    /// Adding contacts and groups, and changing and deleting those that the app added.
    case own
    /// Also changing contacts that the app sees, and the members of groups.
    case edit
    /// Also deleting and linking contacts, and changing containers, settings, groups of other apps, and the person's
    /// own card.
    case all
}
