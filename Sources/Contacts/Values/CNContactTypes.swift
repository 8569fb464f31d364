import BrokerInterface
import BrokerModel

/// Whether a contact is a person or an organization.
public enum CNContactType: Int, Hashable, Sendable {
    /// A human being.
    case person = 0
    /// A company, a club or an authority, listed by its organization name.
    case organization = 1

    init(_ type: ContactType) {
        switch type {
        case .person: self = .person
        case .organization: self = .organization
        }
    }

    var model: ContactType {
        switch self {
        case .person: .person
        case .organization: .organization
        }
    }
}

/// The kinds of data that an app may request access to. There is only one kind.
public enum CNEntityType: Int, Hashable, Sendable {
    /// The address book: contacts, groups and containers.
    case contacts = 0
}

/// This app's authorization level, decided by the person, an administrator or policy.
public enum CNAuthorizationStatus: Int, Hashable, Sendable {
    /// Not decided: the first call that needs contacts prompts the person, and waits for the answer.
    case notDetermined = 0
    /// The administrator’s policy denies access, and the person cannot change that.
    case restricted = 1
    /// The person denied access.
    case denied = 2
    /// Full access: the app sees all contacts.
    case authorized = 3
    /// Limited access: the app sees the contacts that the person chose, and those that it added itself.
    case limited = 4
}

/// The sort order of contacts.
public enum CNContactSortOrder: Int, Hashable, Sendable {
    /// Unspecified order.
    case none = 0
    /// The person's preference.
    case userDefault = 1
    /// By given name.
    case givenName = 2
    /// By family name.
    case familyName = 3

    /// The value of the Varlink type `SortOrder`.
    var order: BrokerInterface.SortOrder {
        switch self {
        case .none: .none
        case .userDefault: .userDefault
        case .givenName: .givenName
        case .familyName: .familyName
        }
    }
}

/// The order of given and family name when a name is shown.
public enum CNContactDisplayNameOrder: Int, Hashable, Sendable {
    /// The person's preference.
    case userDefault = 0
    /// Ada Lovelace.
    case givenNameFirst = 1
    /// Lovelace Ada.
    case familyNameFirst = 2
}

/// The source of a container's contacts.
public enum CNContainerType: Int, Hashable, Sendable {
    /// A source that this version does not know.
    case unassigned = 0
    /// This machine.
    case local = 1
    /// An Exchange server.
    case exchange = 2
    /// A CardDAV server.
    case cardDAV = 3
}
