import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `FetchContacts`.
public struct FetchContactsParameters: Sendable {
    public var predicate: WirePredicate?
    public var keys = ContactKeySet()
    public var sortOrder = SortOrder.none
    public var unify = true
    public var after: String?
    /// Contacts wanted; `nil` for all.
    public var limit: Int?
    public var purpose: String?

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        var hasKeys = false
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "predicate": predicate = try WirePredicate(value)
            case "keys":
                keys = try reader.keys(value, name)
                hasKeys = true
            case "sortOrder": sortOrder = try reader.one(of: SortOrder.self, value, name)
            case "unify": unify = try reader.bool(value, name)
            case "after": after = try reader.text(value, name, maximum: ParameterLimits.token)
            case "limit": limit = try reader.integer(value, name, in: 1...Int64(ParameterLimits.contacts))
            case "purpose": purpose = try reader.text(value, name, maximum: ParameterLimits.purpose)
            default: throw reader.invalid(name)
            }
        }
        guard hasKeys else { throw .invalidParameter("keys") }
    }
}

/// `SortOrder` of the interface.
public enum SortOrder: String, CaseIterable, Sendable {
    case none, userDefault, givenName, familyName
}

/// `Predicate` of the interface, its identifiers as the caller spelled them.
public enum WirePredicate: Hashable, Sendable {
    case name(String)
    case emailAddress(String)
    case phoneNumber(String)
    case identifiers([String])
    case group(String)
    case container(String)
    case me

    init(_ object: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader(outermost: "predicate")
        var found: [WirePredicate] = []
        try reader.members(of: object) { (name, value) throws(VarlinkError) in
            switch name {
            case "name": found.append(.name(try reader.text(value, name, maximum: ParameterLimits.query)))
            case "emailAddress":
                found.append(.emailAddress(try reader.text(value, name, maximum: ParameterLimits.query)))
            case "phoneNumber":
                found.append(.phoneNumber(try reader.text(value, name, maximum: ParameterLimits.query)))
            case "identifiers":
                found.append(
                    .identifiers(try reader.strings(value, "identifiers", maximum: ParameterLimits.identifiers)))
            case "group": found.append(.group(try reader.string(value, name)))
            case "container": found.append(.container(try reader.string(value, name)))
            case "me": if try reader.bool(value, name) { found.append(.me) }
            default: throw reader.invalid(name)
            }
        }
        guard let only = found.first, found.count == 1 else {
            throw ContactsError.invalidPredicate("exactly one field is given")
        }
        self = only
    }
}

/// Parameters of `RequestAccess`.
public struct RequestAccessParameters: Sendable {
    public var purpose: String?
    public var keys: ContactKeySet?

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "purpose": purpose = try reader.text(value, name, maximum: ParameterLimits.purpose)
            case "keys": keys = try reader.grantKeys(value, name)
            default: throw reader.invalid(name)
            }
        }
    }
}

/// Parameters of `RequestContacts`.
public struct RequestContactsParameters: Sendable {
    public enum Caption: String, Sendable { case defaultText, email, phone }

    public var query = ""
    public var ignoredEmailAddresses: [String] = []
    public var ignoredPhoneNumbers: [String] = []
    public var caption: Caption?
    public var purpose: String?

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        var hasQuery = false
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "query":
                query = try reader.text(value, name, maximum: ParameterLimits.query)
                hasQuery = true
            case "ignoredEmailAddresses":
                ignoredEmailAddresses = try reader.strings(value, name, maximum: ParameterLimits.identifiers)
            case "ignoredPhoneNumbers":
                ignoredPhoneNumbers = try reader.strings(value, name, maximum: ParameterLimits.identifiers)
            case "caption": caption = try reader.one(of: Caption.self, value, name)
            case "purpose": purpose = try reader.text(value, name, maximum: ParameterLimits.purpose)
            default: throw reader.invalid(name)
            }
        }
        guard hasQuery else { throw .invalidParameter("query") }
    }
}

/// Parameters of `SaveContacts`, the contacts in them still as they came.
public struct SaveContactsParameters: Sendable {
    public enum Operation: String, CaseIterable, Sendable {
        case add, update, delete, addMember, removeMember, addSubgroup, removeSubgroup, link, unlink
        case addContainer, deleteContainer, setMe
    }

    public struct Change: Sendable {
        public var operation: Operation
        public var contact: JSONValue?
        public var group: JSONValue?
        public var member: String?
        public var container: String?
    }

    public var changes: [Change] = []
    public var author: String?

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        var hasChanges = false
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "changes":
                guard let elements = value.elements else { throw reader.invalid(name) }
                guard value.count <= ParameterLimits.changes else {
                    throw ContactsError.limitExceeded(name, maximum: ParameterLimits.changes)
                }
                for element in elements { changes.append(try Self.change(element)) }
                hasChanges = true
            case "author": author = try reader.text(value, name, maximum: ParameterLimits.author)
            default: throw reader.invalid(name)
            }
        }
        guard hasChanges else { throw .invalidParameter("changes") }
    }

    private static func change(_ object: JSONValue) throws(VarlinkError) -> Change {
        let reader = ParameterReader(outermost: "changes")
        var operation: Operation?
        var contact: JSONValue?
        var group: JSONValue?
        var member: String?
        var container: String?
        try reader.members(of: object) { (name, value) throws(VarlinkError) in
            switch name {
            case "operation": operation = try reader.one(of: Operation.self, value, name)
            case "contact": contact = value
            case "group": group = value
            case "member": member = try reader.string(value, name)
            case "container": container = try reader.string(value, name)
            default: throw reader.invalid(name)
            }
        }
        guard let operation else { throw reader.invalid("operation") }
        return Change(operation: operation, contact: contact, group: group, member: member, container: container)
    }
}
