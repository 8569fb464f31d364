import BrokerInterface
import BrokerJSON
import Foundation

// Extensions of this library, which Apple's Contacts does not have.
extension CNContactStore {
    /// Returns the number of contacts that match, or of all contacts that the app may see. Cheaper than a fetch.
    public func countOfContacts(matching predicate: NSPredicate? = nil) throws -> Int {
        let predicate = try predicate.map { try WirePredicate($0) }
        let reply = try Self.ask { () throws(CallFailure) in
            try BrokerCalls.shared.call(.countContacts) { predicate?.write(to: &$0) }
        }
        return reply["count"]?.integer.flatMap { Int(exactly: $0) } ?? 0
    }

    /// Returns the members of a unified contact that the app may see. A contact without links returns only its own
    /// identifier.
    public func linkedContactIdentifiers(ofContactWithIdentifier identifier: String) throws -> [String] {
        let reply = try Self.ask { () throws(CallFailure) in
            try BrokerCalls.shared.call(.listLinkedContacts) { $0.member("identifier", identifier) }
        }
        return reply["identifiers"]?.elements?.compactMap(\.string) ?? []
    }

    /// When the grant expires; `nil` if it does not expire, or if nothing was decided.
    public func authorizationExpirationDate() throws -> Date? {
        let reply = try Self.answer { () throws(CallFailure) in try BrokerCalls.shared.call(.getAuthorization) }
        return reply["expires"]?.string.flatMap { Date(wire: $0) }
    }

    /// The keys that the person shares with this app; `nil` for all except those that must be granted by name.
    public func authorizedKeys() throws -> [String]? {
        let reply = try Self.answer { () throws(CallFailure) in try BrokerCalls.shared.call(.getAuthorization) }
        return reply["keys"]?.elements?.compactMap(\.string)
    }
}
