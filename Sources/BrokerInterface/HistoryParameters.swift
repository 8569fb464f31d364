import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `FetchHistory`.
public struct FetchHistoryParameters: Sendable {
    public var token: String?
    /// Besides the identifier, which is always told.
    public var keys = ContactKeySet()
    public var unify = true
    public var includeGroups = false
    public var excludedAuthors: Set<String> = []

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            // Of any length: one that nobody gave out is unknown, whatever it looks like.
            case "token": token = try reader.string(value, name)
            case "keys": keys = try reader.keys(value, name)
            case "unify": unify = try reader.bool(value, name)
            case "includeGroups": includeGroups = try reader.bool(value, name)
            case "excludedAuthors":
                excludedAuthors = Set(try reader.strings(value, name, maximum: ParameterLimits.identifiers))
            default: throw reader.invalid(name)
            }
        }
    }
}

/// Parameters of `ListGroups`.
public struct ListGroupsParameters: Sendable {
    public var container: String?
    public var identifiers: [String]?

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "container": container = try reader.string(value, name)
            case "identifiers":
                identifiers = try reader.strings(value, name, maximum: ParameterLimits.identifiers)
            default: throw reader.invalid(name)
            }
        }
    }
}

/// A `Group` of the interface as an app wrote it.
public struct WireGroup: Hashable, Sendable {
    public var identifier: String?
    public var name: String?
    public var container: String?
    public var parents: [String] = []

    public init(_ object: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader(outermost: "changes")
        try reader.members(of: object) { (name, value) throws(VarlinkError) in
            switch name {
            case "identifier": identifier = try reader.string(value, name)
            case "name": self.name = try reader.string(value, name)
            case "container": container = try reader.string(value, name)
            case "parents": parents = try reader.strings(value, name, maximum: ParameterLimits.identifiers)
            default: throw reader.invalid(name)
            }
        }
    }
}
