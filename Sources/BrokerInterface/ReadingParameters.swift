import BrokerJSON
import BrokerVarlink

/// Parameters of `CountContacts`.
public struct CountContactsParameters: Sendable {
    public var predicate: WirePredicate?

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "predicate": predicate = try WirePredicate(value)
            default: throw reader.invalid(name)
            }
        }
    }
}

/// Parameters of `ListLinkedContacts`.
public struct ListLinkedContactsParameters: Sendable {
    public var identifier = ""

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        var hasIdentifier = false
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "identifier":
                identifier = try reader.string(value, name)
                hasIdentifier = true
            default: throw reader.invalid(name)
            }
        }
        guard hasIdentifier else { throw .invalidParameter("identifier") }
    }
}

/// Parameters of `ListContainers`: all of them, or that of one record.
public struct ListContainersParameters: Sendable {
    public var contact: String?
    public var group: String?

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "contact": contact = try reader.string(value, name)
            case "group": group = try reader.string(value, name)
            default: throw reader.invalid(name)
            }
        }
        guard contact == nil || group == nil else { throw .invalidParameter("group") }
    }
}

/// Parameters of `SetUserDefaults`; what is absent stays as it is.
public struct SetUserDefaultsParameters: Sendable {
    /// `givenName` or `familyName`: the other cases of the interface's type are no preference.
    public var sortOrder: SortOrder?
    public var displayOrder: SortOrder?
    /// ISO 3166-1 alpha-2, in small letters.
    public var countryCode: String?

    public init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "sortOrder": sortOrder = try Self.order(value, name)
            case "displayOrder": displayOrder = try Self.order(value, name)
            case "countryCode":
                let code = try reader.string(value, name).lowercased()
                guard code.utf8.count == 2, code.utf8.allSatisfy({ (0x61...0x7A).contains($0) }) else {
                    throw reader.invalid(name)
                }
                countryCode = code
            default: throw reader.invalid(name)
            }
        }
    }

    private static func order(_ value: JSONValue, _ name: String) throws(VarlinkError) -> SortOrder {
        let reader = ParameterReader()
        let order = try reader.one(of: SortOrder.self, value, name)
        switch order {
        case .givenName, .familyName: return order
        case .none, .userDefault: throw reader.invalid(name)
        }
    }
}
