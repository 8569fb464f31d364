import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `FetchHistory`.
struct FetchHistoryParameters: Sendable {
    let token: String?
    /// The keys to return. The identifier is always returned.
    let keys: ContactKeySet
    let unify: Bool
    let includeGroups: Bool
    let excludedAuthors: Set<String>

    init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        // A token that the broker did not issue is unknown, not invalid.
        token = try reader["token"]?.identifier(maximum: ParameterLimits.token)
        keys = try reader["keys"]?.keys() ?? []
        unify = try reader["unify"]?.bool() ?? true
        includeGroups = try reader.flag("includeGroups")
        excludedAuthors = Set(
            try reader["excludedAuthors"]?.texts(maximum: ParameterLimits.identifiers, length: ParameterLimits.author)
                ?? [])
        try reader.finish()
    }
}

/// Parameters of `ListGroups`.
struct ListGroupsParameters: Sendable {
    let container: String?
    let identifiers: [String]?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        container = try reader["container"]?.identifier()
        identifiers = try reader["identifiers"]?.identifiers()
        try reader.finish()
    }
}

/// A `Group` of the interface as an app wrote it.
struct WireGroup: Hashable, Sendable {
    let identifier: String?
    let name: String?
    let container: String?
    let parents: [String]

    init(_ object: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(object, in: "changes")
        identifier = try reader["identifier"]?.identifier()
        name = try reader["name"]?.text(maximum: ParameterLimits.groupName)
        container = try reader["container"]?.identifier()
        parents = try reader["parents"]?.identifiers() ?? []
        // An app may send a group back as it got it.
        _ = try reader.flag("namedByOther")
        try reader.finish()
    }
}
