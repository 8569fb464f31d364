import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `FetchContacts`.
struct FetchContactsParameters: Sendable {
    let predicate: WirePredicate?
    let keys: ContactKeySet
    let sortOrder: SortOrder
    let unify: Bool
    let after: String?
    /// The maximum number of contacts to return; `nil` for all.
    let limit: Int?
    let purpose: String?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        predicate = try WirePredicate(reader["predicate"])
        keys = try reader.required("keys").keys()
        sortOrder = try reader["sortOrder"]?.one(of: SortOrder.self) ?? .none
        unify = try reader["unify"]?.bool() ?? true
        after = try reader["after"]?.text(maximum: ParameterLimits.token)
        limit = try reader["limit"]?.integer(in: 1...Int64(ParameterLimits.contacts))
        purpose = try reader["purpose"]?.text(maximum: ParameterLimits.purpose)
        try reader.finish()
    }
}

extension WirePredicate {
    /// Reads a predicate; `nil` if the field is absent.
    init?(_ field: Parameter?) throws(VarlinkError) {
        guard let field else { return nil }
        var reader = try ParameterReader(field.value, in: field.name)
        var found: [WirePredicate] = []
        if let name = reader["name"] { found.append(.name(try name.text(maximum: ParameterLimits.query))) }
        if let address = reader["emailAddress"] {
            found.append(.emailAddress(try address.text(maximum: ParameterLimits.query)))
        }
        if let number = reader["phoneNumber"] {
            found.append(.phoneNumber(try number.text(maximum: ParameterLimits.query)))
        }
        if let identifiers = reader["identifiers"] { found.append(.identifiers(try identifiers.identifiers())) }
        if let group = reader["group"] { found.append(.group(try group.identifier())) }
        if let container = reader["container"] { found.append(.container(try container.identifier())) }
        if try reader.flag("me") { found.append(.me) }
        try reader.finish()
        guard let only = found.first, found.count == 1 else {
            throw ContactsError.invalidPredicate("exactly one field must be given")
        }
        self = only
    }
}

/// Parameters of `RequestAccess`.
struct RequestAccessParameters: Sendable {
    let purpose: String?
    let keys: ContactKeySet?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        purpose = try reader["purpose"]?.text(maximum: ParameterLimits.purpose)
        keys = try reader["keys"]?.grantKeys()
        try reader.finish()
    }
}

/// Parameters of `RequestContacts`.
struct RequestContactsParameters: Sendable {
    enum Caption: String, Sendable { case defaultText, email, phone }

    let query: String
    let ignoredEmailAddresses: [String]
    let ignoredPhoneNumbers: [String]
    let caption: Caption?
    let purpose: String?
    /// The request's name for `UpdateRequest`.
    let token: String?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        query = try reader.required("query").query()
        token = try reader["token"]?.requestToken()
        ignoredEmailAddresses = try reader["ignoredEmailAddresses"]?.addresses() ?? []
        ignoredPhoneNumbers = try reader["ignoredPhoneNumbers"]?.addresses() ?? []
        caption = try reader["caption"]?.one(of: Caption.self)
        purpose = try reader["purpose"]?.text(maximum: ParameterLimits.purpose)
        try reader.finish()
    }
}

/// Parameters of `ManageAccess`.
struct ManageAccessParameters: Sendable {
    let purpose: String?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        purpose = try reader["purpose"]?.text(maximum: ParameterLimits.purpose)
        try reader.finish()
    }
}

/// Parameters of `UpdateRequest`.
struct UpdateRequestParameters: Sendable {
    let token: String
    let query: String

    init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        token = try reader.required("token").requestToken()
        query = try reader.required("query").query()
        try reader.finish()
    }
}

extension Parameter {
    /// The query of an access button. A query without a letter or a digit would match every contact.
    fileprivate func query() throws(VarlinkError) -> String {
        let query = try text(maximum: ParameterLimits.query)
        guard query.contains(where: { $0.isLetter || $0.isNumber }) else { throw invalid }
        return query
    }

    /// Addresses or numbers to ignore.
    fileprivate func addresses() throws(VarlinkError) -> [String] {
        try texts(maximum: ParameterLimits.identifiers, length: ParameterLimits.query)
    }

    /// An app's name for its request.
    fileprivate func requestToken() throws(VarlinkError) -> String {
        let token = try identifier()
        let isPlain = token.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard (8...64).contains(token.utf8.count), isPlain else { throw invalid }
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
        let operation: Operation
        let contact: JSONValue?
        let group: JSONValue?
        let member: String?
        /// The name of a new container, or an identifier.
        let container: String?

        init(_ element: Parameter) throws(VarlinkError) {
            var reader = try ParameterReader(element.value, in: element.name)
            operation = try reader.required("operation").one(of: Operation.self)
            contact = reader["contact"]?.value
            group = reader["group"]?.value
            member = try reader["member"]?.identifier()
            container = try reader["container"]?.text(maximum: ParameterLimits.groupName, limit: "name")
            try reader.finish()
        }
    }

    let changes: [Change]
    let author: String?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        changes = try reader.required("changes").list(maximum: ParameterLimits.changes, Change.init)
        author = try reader["author"]?.text(maximum: ParameterLimits.author)
        try reader.finish()
    }
}
