import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `Serve`.
struct ServeParameters: Sendable {
    var terminal: String?
    var notifyOnly = false

    init(_ parameters: JSONValue) throws(VarlinkError) {
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
struct SearchParameters: Sendable {
    /// The maximum number of rows in one reply.
    static let maximumRows = 200

    var agent = ""
    var cookie = ""
    var query = ""
    var offset = 0
    var limit = 50
    /// Whether to search only the contacts that the app can already see.
    var granted = false

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters, requiring: ["agent", "cookie", "query"]) {
            (name, value) throws(VarlinkError) in
            switch name {
            case "agent": agent = try reader.identifier(value, name)
            case "cookie": cookie = try reader.identifier(value, name)
            case "query": query = try reader.text(value, name, maximum: ParameterLimits.query)
            case "offset": offset = try reader.integer(value, name, in: 0...Int64(ParameterLimits.contacts))
            case "limit": limit = try reader.integer(value, name, in: 1...Int64(Self.maximumRows))
            case "granted": granted = try reader.bool(value, name)
            default: throw reader.invalid(name)
            }
        }
    }
}

/// Parameters of `Show`.
struct ShowParameters: Sendable {
    var agent = ""
    var cookie = ""
    var identifier = ""

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters, requiring: ["agent", "cookie", "identifier"]) {
            (name, value) throws(VarlinkError) in
            switch name {
            case "agent": agent = try reader.identifier(value, name)
            case "cookie": cookie = try reader.identifier(value, name)
            case "identifier": identifier = try reader.identifier(value, name)
            default: throw reader.invalid(name)
            }
        }
    }
}

/// Parameters of `KeepOpen`.
struct KeepOpenParameters: Sendable {
    var agent = ""
    var cookie = ""

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters, requiring: ["agent", "cookie"]) { (name, value) throws(VarlinkError) in
            switch name {
            case "agent": agent = try reader.identifier(value, name)
            case "cookie": cookie = try reader.identifier(value, name)
            default: throw reader.invalid(name)
            }
        }
    }
}

/// Parameters of `Manage`.
struct ManageParameters: Sendable {
    var agent = ""
    var app = ""
    var strength = IdentityStrength.unverified
    /// Selects one of the app's grants by the `session` that `ListGrants` reports.
    var session: String?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters, requiring: ["agent", "app", "strength"]) {
            (name, value) throws(VarlinkError) in
            switch name {
            case "agent": agent = try reader.identifier(value, name)
            case "app": app = try reader.text(value, name, maximum: ParameterLimits.app)
            case "strength": strength = try reader.one(of: IdentityStrength.self, value, name)
            case "session": session = try reader.text(value, name, maximum: ParameterLimits.query)
            default: throw reader.invalid(name)
            }
        }
    }
}

/// Parameters of `Answer`.
struct AnswerParameters: Sendable {
    enum Level: String, Sendable { case denied, limited, full }

    var agent = ""
    var cookie = ""
    var level: Level?
    var identifiers: [String] = []
    var removed: [String] = []
    var keys: ContactKeySet?
    var expires: String?
    var lifetime: LifetimeKind?
    var neverAskAgain = false
    /// The picked values; `nil` if the field is absent.
    var picked: [PickedValue]?
    var mergeInto: String?
    var addProposed = false
    /// The offered card with the person's changes, without images; `nil` if there are none.
    var card: WireContact?

    /// The interface's `PickedValue`.
    struct PickedValue: Hashable, Sendable {
        var contact = ""
        /// The key of the picked value; `nil` if the whole contact was picked.
        var key: ContactKey?
        var value: String?

        init(_ object: JSONValue) throws(VarlinkError) {
            let reader = ParameterReader(outermost: "picked")
            try reader.members(of: object, requiring: ["contact", "key"]) { (name, member) throws(VarlinkError) in
                switch name {
                case "contact": contact = try reader.identifier(member, name)
                case "key":
                    if !member.says("identifier") { key = try reader.one(of: ContactKey.self, member, name) }
                case "value": value = try reader.identifier(member, name)
                default: throw reader.invalid(name)
                }
            }
            guard key != nil || value == nil else { throw reader.invalid("picked") }
        }
    }

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters, requiring: ["agent", "cookie"]) { (name, value) throws(VarlinkError) in
            switch name {
            case "agent": agent = try reader.identifier(value, name)
            case "cookie": cookie = try reader.identifier(value, name)
            case "level": level = try reader.one(of: Level.self, value, name)
            case "identifiers":
                identifiers = try reader.identifiers(value, name)
            case "removed": removed = try reader.identifiers(value, name)
            case "keys": keys = try reader.grantKeys(value, name)
            case "expires": expires = try reader.text(value, name, maximum: ParameterLimits.query)
            case "lifetime": lifetime = try reader.one(of: LifetimeKind.self, value, name)
            case "neverAskAgain": neverAskAgain = try reader.bool(value, name)
            case "picked":
                picked = try reader.list(value, name, maximum: ParameterLimits.picked, PickedValue.init)
            case "mergeInto": mergeInto = try reader.identifier(value, name)
            case "card":
                do throws(ContactError) {
                    card = try WireContact(value, limits: ContactLimits())
                } catch {
                    throw reader.invalid(name)
                }
            case "addProposed": addProposed = try reader.bool(value, name)
            default: throw reader.invalid(name)
            }
        }
    }

    /// Whether the answer contains a field that belongs to a different kind of prompt.
    func hasForeignFields(for kind: PromptKind) -> Bool {
        let hasTermsBesidesKeys = level != nil || !identifiers.isEmpty || expires != nil || lifetime != nil
        let hasLevelFields = hasTermsBesidesKeys || keys != nil
        let hasProposalFields = mergeInto != nil || addProposed || card != nil
        return switch kind {
        case .access, .button: picked != nil || hasProposalFields || !removed.isEmpty
        case .manage: picked != nil || hasProposalFields
        case .pick: hasLevelFields || hasProposalFields || !removed.isEmpty
        case .propose: hasLevelFields || picked != nil || !removed.isEmpty
        case .keys:
            hasTermsBesidesKeys || picked != nil || hasProposalFields || !removed.isEmpty
        }
    }
}

/// Parameters of `DeclareFolder`.
struct DeclareFolderParameters: Sendable {
    /// The longest path that Linux accepts, in bytes.
    static let longestPath = 4_096

    var agent = ""
    var path = ""
    var checkOnly = false

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters, requiring: ["agent", "path"]) { (name, value) throws(VarlinkError) in
            switch name {
            case "agent": agent = try reader.identifier(value, name)
            case "path": path = try reader.text(value, name, maximum: Self.longestPath)
            case "checkOnly": checkOnly = try reader.bool(value, name)
            default: throw reader.invalid(name)
            }
        }
    }
}

/// Parameters of `EndFolder`.
struct EndFolderParameters: Sendable {
    var agent = ""
    var path = ""

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters, requiring: ["agent", "path"]) { (name, value) throws(VarlinkError) in
            switch name {
            case "agent": agent = try reader.identifier(value, name)
            case "path": path = try reader.text(value, name, maximum: DeclareFolderParameters.longestPath)
            default: throw reader.invalid(name)
            }
        }
    }
}
