import BrokerInterface
import BrokerModel

/// Whether a contact is a person or an organization.
public enum CNContactType: Int, Hashable, Sendable {
    /// A human being.
    case person = 0
    /// A company, a club, an authority: listed by its organization’s name.
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

/// What an app may ask access for: there is one kind.
public enum CNEntityType: Int, Hashable, Sendable {
    /// The address book: contacts, groups and containers.
    case contacts = 0
}

/// What the person, or the administrator, has decided for this app.
public enum CNAuthorizationStatus: Int, Hashable, Sendable {
    /// Nothing yet: the first call that needs contacts asks the person, and waits for the answer.
    case notDetermined = 0
    /// The administrator’s policy does not let the app, and the person cannot change that.
    case restricted = 1
    /// The person does not let the app.
    case denied = 2
    /// The app sees all contacts.
    case authorized = 3
    /// The app sees the contacts that the person chose, and those that it made itself.
    case limited = 4
}

/// In which order contacts come.
public enum CNContactSortOrder: Int, Hashable, Sendable {
    /// In no order that means anything.
    case none = 0
    /// As the person prefers.
    case userDefault = 1
    /// By the given name.
    case givenName = 2
    /// By the family name.
    case familyName = 3

    /// The interface’s word for it.
    var order: SortOrder {
        switch self {
        case .none: .none
        case .userDefault: .userDefault
        case .givenName: .givenName
        case .familyName: .familyName
        }
    }
}

/// Which name stands first where a name is shown.
public enum CNContactDisplayNameOrder: Int, Hashable, Sendable {
    /// As the person prefers.
    case userDefault = 0
    /// Ada Lovelace.
    case givenNameFirst = 1
    /// Lovelace Ada.
    case familyNameFirst = 2
}

/// Where the contacts of a container come from.
public enum CNContainerType: Int, Hashable, Sendable {
    /// From a source that this version does not know.
    case unassigned = 0
    /// This machine’s own.
    case local = 1
    /// An Exchange server’s.
    case exchange = 2
    /// A CardDAV server’s.
    case cardDAV = 3
}
