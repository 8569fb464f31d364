/// What an app may change, as the interface names it: the third part of a grant, beside its contacts and keys. It only
/// narrows: what the level, the granted set or the keys refuse stays refused.
public enum ChangeRight: String, CaseIterable, Comparable, Sendable {
    /// Nothing: the app only reads.
    case none
    /// Add contacts and groups, and change and delete those that it added itself.
    case own
    /// Also change values of the contacts that it sees, and the members of groups.
    case edit
    /// Also delete and link contacts, set the person's own card, and change containers, settings and others' groups.
    case all

    public static func < (one: Self, other: Self) -> Bool { one.order < other.order }

    private var order: Int {
        switch self {
        case .none: 0
        case .own: 1
        case .edit: 2
        case .all: 3
        }
    }

    /// What an app with this right may do, as an English phrase after “may”.
    public var words: String {
        switch self {
        case .none: "change nothing"
        case .own: "add contacts, and change and delete those that it added"
        case .edit: "add contacts, and change those that it sees"
        case .all: "add contacts, and change and delete those that it sees"
        }
    }

    /// What the right adds to the access that an answer gives, in words for the password dialog.
    public var accessWords: String {
        switch self {
        case .none, .own: ""
        case .edit: "; and it may change them"
        case .all: "; and it may change and delete them"
        }
    }
}
