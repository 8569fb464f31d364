import BrokerInterface
import BrokerJSON
import BrokerVarlink

/// Parameters of `CountContacts`.
struct CountContactsParameters: Sendable {
    var predicate: WirePredicate?

    init(_ parameters: JSONValue) throws(VarlinkError) {
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
struct ListLinkedContactsParameters: Sendable {
    var identifier = ""

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters, requiring: ["identifier"]) { (name, value) throws(VarlinkError) in
            switch name {
            case "identifier": identifier = try reader.identifier(value, name)
            default: throw reader.invalid(name)
            }
        }
    }
}

/// Parameters of `ListContainers`. With a parameter, the call lists only the container of that contact or
/// group; without one, it lists all visible containers.
struct ListContainersParameters: Sendable {
    var contact: String?
    var group: String?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "contact": contact = try reader.identifier(value, name)
            case "group": group = try reader.identifier(value, name)
            default: throw reader.invalid(name)
            }
        }
        guard contact == nil || group == nil else { throw .invalidParameter("group") }
    }
}

/// Parameters of `SetUserDefaults`; an absent parameter leaves its setting unchanged.
struct SetUserDefaultsParameters: Sendable {
    /// `givenName` or `familyName`. The other cases of the interface's type cannot be stored.
    var sortOrder: SortOrder?
    var displayOrder: SortOrder?
    /// ISO 3166-1 alpha-2, in lower case.
    var countryCode: String?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "sortOrder": sortOrder = try Self.order(value, name)
            case "displayOrder": displayOrder = try Self.order(value, name)
            case "countryCode":
                let code = try reader.identifier(value, name).lowercased()
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
