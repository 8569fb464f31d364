import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `FetchContacts`.
package struct FetchContactsParameters: Sendable {
    package let predicate: WirePredicate?
    package let keys: ContactKeySet
    package let sortOrder: SortOrder
    package let unify: Bool
    /// Whether each contact has its revision.
    package let revisions: Bool
    package let after: String?
    /// The maximum number of contacts to return; `nil` for all.
    package let limit: Int?
    package let purpose: String?

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        predicate = try WirePredicate(reader["predicate"])
        keys = try reader.required("keys").keys()
        sortOrder = try reader["sortOrder"]?.one(of: SortOrder.self) ?? .none
        unify = try reader["unify"]?.bool() ?? true
        revisions = try reader.flag("revisions")
        after = try reader["after"]?.text(maximum: ParameterLimits.token)
        limit = try reader["limit"]?.integer(in: 1...Int64(ParameterLimits.contacts))
        purpose = try reader["purpose"]?.text(maximum: ParameterLimits.purpose)
        try reader.finish()
    }
}

extension WirePredicate {
    /// Reads a predicate; `nil` if the field is absent.
    package init?(_ field: Parameter?) throws(VarlinkError) {
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
package struct RequestAccessParameters: Sendable {
    package let purpose: String?
    package let keys: ContactKeySet?
    package let changes: ChangeRight?

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        purpose = try reader["purpose"]?.text(maximum: ParameterLimits.purpose)
        keys = try reader["keys"]?.grantKeys()
        changes = try reader["changes"]?.one(of: ChangeRight.self)
        try reader.finish()
    }
}

/// Parameters of `RequestContacts`.
package struct RequestContactsParameters: Sendable {
    package enum Caption: String, Sendable { case defaultText, email, phone }

    package let query: String
    package let ignoredEmailAddresses: [String]
    package let ignoredPhoneNumbers: [String]
    package let caption: Caption?
    package let purpose: String?
    /// The request's name for `UpdateRequest`.
    package let token: String?

    package init(_ parameters: JSONValue) throws(VarlinkError) {
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
package struct ManageAccessParameters: Sendable {
    package let purpose: String?

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        purpose = try reader["purpose"]?.text(maximum: ParameterLimits.purpose)
        try reader.finish()
    }
}

/// Parameters of `UpdateRequest`.
package struct UpdateRequestParameters: Sendable {
    package let token: String
    package let query: String

    package init(_ parameters: JSONValue) throws(VarlinkError) {
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
package struct SaveContactsParameters: Sendable {
    package enum Operation: String, CaseIterable, Sendable {
        case add, update, delete, addMember, removeMember, addSubgroup, removeSubgroup, link, unlink
        case addContainer, deleteContainer, setMe
    }

    package struct Change: Sendable {
        package let operation: Operation
        package let contact: JSONValue?
        package let group: JSONValue?
        package let member: String?
        /// The name of a new container, or an identifier.
        package let container: String?
        /// The revision that the contact must have.
        package let unchangedSince: String?

        package init(_ element: Parameter) throws(VarlinkError) {
            var reader = try ParameterReader(element.value, in: element.name)
            operation = try reader.required("operation").one(of: Operation.self)
            contact = reader["contact"]?.value
            group = reader["group"]?.value
            member = try reader["member"]?.identifier()
            container = try reader["container"]?.text(maximum: ParameterLimits.groupName, limit: "name")
            unchangedSince = try reader["unchangedSince"]?.identifier()
            try reader.finish()
        }
    }

    package let changes: [Change]
    package let author: String?
    /// Whether the person may be asked for a save that the app's grant does not permit.
    package let mayAsk: Bool
    /// The group of saves that the save is in; `nil` if it cannot be taken back.
    package let group: String?
    /// Words for the group.
    package let label: String

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        changes = try reader.required("changes").list(maximum: ParameterLimits.changes, Change.init)
        author = try reader["author"]?.text(maximum: ParameterLimits.author)
        mayAsk = try reader["mayAsk"]?.bool() ?? true
        group = try reader["group"]?.text(maximum: ParameterLimits.identifier)
        label = try reader["label"]?.text(maximum: ParameterLimits.label) ?? ""
        try reader.finish()
    }
}

/// Parameters of `TakeBack`.
package struct TakeBackParameters: Sendable {
    package let group: String
    /// The group that the save is in that takes back; `nil` if it cannot be taken back.
    package let newGroup: String?
    package let label: String
    /// Whether what was changed since is taken back, too.
    package let force: Bool
    package let dryRun: Bool
    package let mayAsk: Bool

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        group = try reader.required("group").text(maximum: ParameterLimits.identifier)
        newGroup = try reader["newGroup"]?.text(maximum: ParameterLimits.identifier)
        guard newGroup != group else { throw .invalidParameter("newGroup") }
        label = try reader["label"]?.text(maximum: ParameterLimits.label) ?? ""
        force = try reader.flag("force")
        dryRun = try reader.flag("dryRun")
        mayAsk = try reader["mayAsk"]?.bool() ?? true
        try reader.finish()
    }
}
