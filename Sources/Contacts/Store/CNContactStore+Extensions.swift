import BrokerInterface
import BrokerJSON
import Foundation

// Extensions of this library, which Apple's Contacts does not have.
extension CNContactStore {
    /// Returns the number of contacts that match the predicate; `nil` counts all contacts that the app may
    /// see. This is cheaper than a fetch.
    public func countOfContacts(matching predicate: NSPredicate? = nil) throws -> Int {
        let predicate = try predicate.map { try WirePredicate($0) }
        let reply = try Self.ask { () throws(CallFailure) in
            try BrokerCalls.shared.call(.countContacts) { predicate?.write(to: &$0) }
        }
        return reply["count"]?.integer.flatMap { Int(exactly: $0) } ?? 0
    }

    /// Returns the identifiers of those linked contacts of a unified contact that the app may see. For a
    /// contact without links, the list contains only its own identifier.
    public func linkedContactIdentifiers(ofContactWithIdentifier identifier: String) throws -> [String] {
        let reply = try Self.ask { () throws(CallFailure) in
            try BrokerCalls.shared.call(.listLinkedContacts) { $0.member("identifier", identifier) }
        }
        return reply["identifiers"]?.elements?.compactMap(\.string) ?? []
    }

    /// Returns the time at which the grant expires; `nil` if it has no expiry time, or if the app has no
    /// access.
    public func authorizationExpirationDate() throws -> Date? {
        let reply = try Self.answer { () throws(CallFailure) in try BrokerCalls.shared.call(.getAuthorization) }
        return reply["expires"]?.string.flatMap { Date(wire: $0) }
    }

    /// Returns the keys that the app may read; `nil` if the app has no access.
    public func authorizedKeys() throws -> [String]? {
        let reply = try Self.answer { () throws(CallFailure) in try BrokerCalls.shared.call(.getAuthorization) }
        return reply["keys"]?.elements?.compactMap(\.string)
    }
}
