import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `FetchHistory`.
package struct FetchHistoryParameters: Sendable {
    package let token: String?
    /// The keys to return. The identifier is always returned.
    package let keys: ContactKeySet
    package let unify: Bool
    package let includeGroups: Bool
    package let excludedAuthors: Set<String>

    package init(_ parameters: JSONValue) throws(VarlinkError) {
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
package struct ListGroupsParameters: Sendable {
    package let container: String?
    package let identifiers: [String]?

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        container = try reader["container"]?.identifier()
        identifiers = try reader["identifiers"]?.identifiers()
        try reader.finish()
    }
}

/// A `Group` of the interface as an app wrote it.
package struct WireGroup: Hashable, Sendable {
    package let identifier: String?
    package let name: String?
    package let container: String?
    package let parents: [String]

    package init(_ object: JSONValue) throws(VarlinkError) {
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
