import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `FetchHistory`.
struct FetchHistoryParameters: Sendable {
    var token: String?
    /// The keys to return. The identifier is always returned.
    var keys = ContactKeySet()
    var unify = true
    var includeGroups = false
    var excludedAuthors: Set<String> = []

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            // A token that the broker did not issue is unknown, not invalid.
            case "token": token = try reader.identifier(value, name, maximum: ParameterLimits.token)
            case "keys": keys = try reader.keys(value, name)
            case "unify": unify = try reader.bool(value, name)
            case "includeGroups": includeGroups = try reader.bool(value, name)
            case "excludedAuthors":
                excludedAuthors = Set(
                    try reader.texts(
                        value, name, maximum: ParameterLimits.identifiers, length: ParameterLimits.author))
            default: throw reader.invalid(name)
            }
        }
    }
}

/// Parameters of `ListGroups`.
struct ListGroupsParameters: Sendable {
    var container: String?
    var identifiers: [String]?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "container": container = try reader.identifier(value, name)
            case "identifiers":
                identifiers = try reader.identifiers(value, name)
            default: throw reader.invalid(name)
            }
        }
    }
}

/// A `Group` of the interface as an app wrote it.
struct WireGroup: Hashable, Sendable {
    var identifier: String?
    var name: String?
    var container: String?
    var parents: [String] = []

    init(_ object: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader(outermost: "changes")
        try reader.members(of: object) { (name, value) throws(VarlinkError) in
            switch name {
            case "identifier": identifier = try reader.identifier(value, name)
            case "name": self.name = try reader.text(value, name, maximum: SaveSteps.longestGroupName)
            case "container": container = try reader.identifier(value, name)
            case "parents": parents = try reader.identifiers(value, name)
            // An app may send a group back as it got it.
            case "namedByOther": _ = try reader.bool(value, name)
            default: throw reader.invalid(name)
            }
        }
    }
}
