import BrokerAccessControl
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `Serve`.
public struct ServeParameters: Sendable {
    public var terminal: String?
    public var notifyOnly = false

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "terminal": terminal = try reader.text(value, name, maximum: ParameterLimits.query)
            case "notifyOnly": notifyOnly = try reader.bool(value, name)
            default: throw reader.invalid(name)
            }
        }
    }
}

/// Parameters of `Search`.
public struct SearchParameters: Sendable {
    /// Rows in one reply.
    public static let maximumRows = 200

    public var agent = ""
    public var cookie = ""
    public var query = ""
    public var offset = 0
    public var limit = 50
    /// Only contacts that the app can see already.
    public var granted = false

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        var missing: Set = ["agent", "cookie", "query"]
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            missing.remove(name)
            switch name {
            case "agent": agent = try reader.string(value, name)
            case "cookie": cookie = try reader.string(value, name)
            case "query": query = try reader.text(value, name, maximum: ParameterLimits.query)
            case "offset": offset = try reader.integer(value, name, in: 0...Int64(ParameterLimits.contacts))
            case "limit": limit = try reader.integer(value, name, in: 1...Int64(Self.maximumRows))
            case "granted": granted = try reader.bool(value, name)
            default: throw reader.invalid(name)
            }
        }
        if let name = missing.min() { throw .invalidParameter(name) }
    }
}

/// Parameters of `Show`.
public struct ShowParameters: Sendable {
    public var agent = ""
    public var cookie = ""
    public var identifier = ""

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        var missing: Set = ["agent", "cookie", "identifier"]
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            missing.remove(name)
            switch name {
            case "agent": agent = try reader.string(value, name)
            case "cookie": cookie = try reader.string(value, name)
            case "identifier": identifier = try reader.string(value, name)
            default: throw reader.invalid(name)
            }
        }
        if let name = missing.min() { throw .invalidParameter(name) }
    }
}

/// Parameters of `Manage`.
public struct ManageParameters: Sendable {
    public var agent = ""
    public var app = ""
    public var strength = IdentityStrength.unverified
    /// Which of the app's grants, as `ListGrants` tells it.
    public var session: String?

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        var missing: Set = ["agent", "app", "strength"]
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            missing.remove(name)
            switch name {
            case "agent": agent = try reader.string(value, name)
            case "app": app = try reader.string(value, name)
            case "strength": strength = try reader.one(of: IdentityStrength.self, value, name)
            case "session": session = try reader.string(value, name)
            default: throw reader.invalid(name)
            }
        }
        if let name = missing.min() { throw .invalidParameter(name) }
    }
}

/// Parameters of `Answer`.
public struct AnswerParameters: Sendable {
    public enum Level: String, Sendable { case denied, limited, full }

    public var agent = ""
    public var cookie = ""
    public var level: Level?
    public var identifiers: [String] = []
    public var removed: [String] = []
    public var keys: ContactKeySet?
    public var expires: String?
    public var lifetime: LifetimeKind?
    public var neverAskAgain = false
    /// What was picked; `nil` where the field is absent.
    public var picked: [PickedValue]?
    public var mergeInto: String?
    public var addProposed = false

    /// `PickedValue` of the interface.
    public struct PickedValue: Hashable, Sendable {
        public var contact: String
        /// `nil`: the whole contact.
        public var key: ContactKey?
        public var value: String?
    }

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        var missing: Set = ["agent", "cookie"]
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            missing.remove(name)
            switch name {
            case "agent": agent = try reader.string(value, name)
            case "cookie": cookie = try reader.string(value, name)
            case "level": level = try reader.one(of: Level.self, value, name)
            case "identifiers":
                identifiers = try reader.strings(value, name, maximum: ParameterLimits.identifiers)
            case "removed": removed = try reader.strings(value, name, maximum: ParameterLimits.identifiers)
            case "keys": keys = try reader.grantKeys(value, name)
            case "expires": expires = try reader.string(value, name)
            case "lifetime": lifetime = try reader.one(of: LifetimeKind.self, value, name)
            case "neverAskAgain": neverAskAgain = try reader.bool(value, name)
            case "picked":
                guard let elements = value.elements else { throw reader.invalid(name) }
                guard value.count <= ParameterLimits.picked else {
                    throw ContactsError.limitExceeded(name, maximum: ParameterLimits.picked)
                }
                var found: [PickedValue] = []
                for element in elements { found.append(try Self.picked(element)) }
                picked = found
            case "mergeInto": mergeInto = try reader.string(value, name)
            case "addProposed": addProposed = try reader.bool(value, name)
            default: throw reader.invalid(name)
            }
        }
        if let name = missing.min() { throw .invalidParameter(name) }
    }

    private static func picked(_ object: JSONValue) throws(VarlinkError) -> PickedValue {
        let reader = ParameterReader(outermost: "picked")
        var contact: String?
        var key: ContactKey?
        var hasKey = false
        var identifier: String?
        try reader.members(of: object) { (name, value) throws(VarlinkError) in
            switch name {
            case "contact": contact = try reader.string(value, name)
            case "key":
                hasKey = true
                if !value.says("identifier") { key = try reader.one(of: ContactKey.self, value, name) }
            case "value": identifier = try reader.string(value, name)
            default: throw reader.invalid(name)
            }
        }
        guard let contact, hasKey, key != nil || identifier == nil else { throw reader.invalid("picked") }
        return PickedValue(contact: contact, key: key, value: identifier)
    }

    /// Whether a field is there that belongs to another kind of prompt.
    public func hasForeignFields(for kind: PromptKind) -> Bool {
        let hasLevelFields =
            level != nil || !identifiers.isEmpty || keys != nil || expires != nil || lifetime != nil
        let hasProposalFields = mergeInto != nil || addProposed
        return switch kind {
        case .access, .button: picked != nil || hasProposalFields || !removed.isEmpty
        case .manage: picked != nil || hasProposalFields
        case .pick: hasLevelFields || hasProposalFields || !removed.isEmpty
        case .propose: hasLevelFields || picked != nil || !removed.isEmpty
        }
    }
}
