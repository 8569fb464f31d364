import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `FetchContacts`.
struct FetchContactsParameters: Sendable {
    var predicate: WirePredicate?
    var keys = ContactKeySet()
    var sortOrder = SortOrder.none
    var unify = true
    var after: String?
    /// The maximum number of contacts to return; `nil` for all.
    var limit: Int?
    var purpose: String?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters, requiring: ["keys"]) { (name, value) throws(VarlinkError) in
            switch name {
            case "predicate": predicate = try WirePredicate(value)
            case "keys": keys = try reader.keys(value, name)
            case "sortOrder": sortOrder = try reader.one(of: SortOrder.self, value, name)
            case "unify": unify = try reader.bool(value, name)
            case "after": after = try reader.text(value, name, maximum: ParameterLimits.token)
            case "limit": limit = try reader.integer(value, name, in: 1...Int64(ParameterLimits.contacts))
            case "purpose": purpose = try reader.text(value, name, maximum: ParameterLimits.purpose)
            default: throw reader.invalid(name)
            }
        }
    }
}

extension WirePredicate {
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
                    .identifiers(try reader.identifiers(value, "identifiers")))
            case "group": found.append(.group(try reader.identifier(value, name)))
            case "container": found.append(.container(try reader.identifier(value, name)))
            case "me": if try reader.bool(value, name) { found.append(.me) }
            default: throw reader.invalid(name)
            }
        }
        guard let only = found.first, found.count == 1 else {
            throw ContactsError.invalidPredicate("exactly one field must be given")
        }
        self = only
    }
}

/// Parameters of `RequestAccess`.
struct RequestAccessParameters: Sendable {
    var purpose: String?
    var keys: ContactKeySet?

    init(_ parameters: JSONValue) throws(VarlinkError) {
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
struct RequestContactsParameters: Sendable {
    enum Caption: String, Sendable { case defaultText, email, phone }

    var query = ""
    var ignoredEmailAddresses: [String] = []
    var ignoredPhoneNumbers: [String] = []
    var caption: Caption?
    var purpose: String?
    /// The request's name for `UpdateRequest`.
    var token: String?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters, requiring: ["query"]) { (name, value) throws(VarlinkError) in
            switch name {
            case "query": query = try reader.query(value, name)
            case "token": token = try reader.requestToken(value, name)
            case "ignoredEmailAddresses":
                ignoredEmailAddresses = try reader.addresses(value, name)
            case "ignoredPhoneNumbers":
                ignoredPhoneNumbers = try reader.addresses(value, name)
            case "caption": caption = try reader.one(of: Caption.self, value, name)
            case "purpose": purpose = try reader.text(value, name, maximum: ParameterLimits.purpose)
            default: throw reader.invalid(name)
            }
        }
    }
}

/// Parameters of `UpdateRequest`.
struct UpdateRequestParameters: Sendable {
    var token = ""
    var query = ""

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters, requiring: ["token", "query"]) { (name, value) throws(VarlinkError) in
            switch name {
            case "token": token = try reader.requestToken(value, name)
            case "query": query = try reader.query(value, name)
            default: throw reader.invalid(name)
            }
        }
    }
}

extension ParameterReader {
    /// Reads the query of an access button. A query without a letter or a digit would match every contact.
    fileprivate func query(_ value: JSONValue, _ name: String) throws(VarlinkError) -> String {
        let query = try text(value, name, maximum: ParameterLimits.query)
        guard query.contains(where: { $0.isLetter || $0.isNumber }) else { throw invalid(name) }
        return query
    }

    /// Reads addresses or numbers to ignore.
    fileprivate func addresses(_ value: JSONValue, _ name: String) throws(VarlinkError) -> [String] {
        try texts(value, name, maximum: ParameterLimits.identifiers, length: ParameterLimits.query)
    }

    /// Reads an app's name for its request.
    fileprivate func requestToken(_ value: JSONValue, _ name: String) throws(VarlinkError) -> String {
        let token = try identifier(value, name)
        let isPlain = token.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard (8...64).contains(token.utf8.count), isPlain else { throw invalid(name) }
        return token
    }
}

/// Parameters of `SaveContacts`. This type does not decode the contacts and groups.
struct SaveContactsParameters: Sendable {
    enum Operation: String, CaseIterable, Sendable {
        case add, update, delete, addMember, removeMember, addSubgroup, removeSubgroup, link, unlink
        case addContainer, deleteContainer, setMe
    }

    struct Change: Sendable {
        var operation = Operation.add
        var contact: JSONValue?
        var group: JSONValue?
        var member: String?
        var container: String?

        init(_ object: JSONValue) throws(VarlinkError) {
            let reader = ParameterReader(outermost: "changes")
            try reader.members(of: object, requiring: ["operation"]) { (name, value) throws(VarlinkError) in
                switch name {
                case "operation": operation = try reader.one(of: Operation.self, value, name)
                case "contact": contact = value
                case "group": group = value
                case "member": member = try reader.identifier(value, name)
                // The name of a new container, or an identifier.
                case "container":
                    container = try reader.text(value, "name", maximum: SaveSteps.longestGroupName)
                default: throw reader.invalid(name)
                }
            }
        }
    }

    var changes: [Change] = []
    var author: String?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters, requiring: ["changes"]) { (name, value) throws(VarlinkError) in
            switch name {
            case "changes":
                changes = try reader.list(value, name, maximum: ParameterLimits.changes, Change.init)
            case "author": author = try reader.text(value, name, maximum: ParameterLimits.author)
            default: throw reader.invalid(name)
            }
        }
    }
}
