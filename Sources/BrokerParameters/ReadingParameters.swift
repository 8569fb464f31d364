import BrokerInterface
import BrokerJSON
import BrokerVarlink

/// Parameters of `CountContacts`.
package struct CountContactsParameters: Sendable {
    package let predicate: WirePredicate?

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        predicate = try WirePredicate(reader["predicate"])
        try reader.finish()
    }
}

/// Parameters of `ListLinkedContacts`.
package struct ListLinkedContactsParameters: Sendable {
    package let identifier: String

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        identifier = try reader.required("identifier").identifier()
        try reader.finish()
    }
}

/// Parameters of `ListContainers`. With a parameter, the call lists only the container of that contact or
/// group; without one, it lists all visible containers.
package struct ListContainersParameters: Sendable {
    package let contact: String?
    package let group: String?

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        contact = try reader["contact"]?.identifier()
        group = try reader["group"]?.identifier()
        try reader.finish()
        guard contact == nil || group == nil else { throw .invalidParameter("group") }
    }
}

/// Parameters of `SetUserDefaults`; an absent parameter leaves its setting unchanged.
package struct SetUserDefaultsParameters: Sendable {
    /// `givenName` or `familyName`. The other cases of the interface's type cannot be stored.
    package let sortOrder: SortOrder?
    package let displayOrder: SortOrder?
    /// ISO 3166-1 alpha-2, in lower case.
    package let countryCode: String?
    /// A BCP 47 tag; empty for the language of the settings or the locale.
    package let language: String?

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        sortOrder = try reader["sortOrder"]?.storedOrder()
        displayOrder = try reader["displayOrder"]?.storedOrder()
        countryCode = try reader["countryCode"]?.countryCode()
        language = try reader["language"]?.language()
        try reader.finish()
    }
}

extension Parameter {
    fileprivate func storedOrder() throws(VarlinkError) -> SortOrder {
        let order = try one(of: SortOrder.self)
        switch order {
        case .givenName, .familyName: return order
        case .none, .userDefault: throw invalid
        }
    }

    fileprivate func countryCode() throws(VarlinkError) -> String {
        let code = try identifier().lowercased()
        guard code.utf8.count == 2, code.utf8.allSatisfy({ (0x61...0x7A).contains($0) }) else { throw invalid }
        return code
    }

    fileprivate func language() throws(VarlinkError) -> String {
        let tag = try text(maximum: 35)
        let isTag = tag.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x2D
        }
        guard isTag else { throw invalid }
        return tag
    }
}
