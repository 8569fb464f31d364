import BrokerInterface
import BrokerJSON
import Foundation

// What Apple's library has no place for. Nothing of it is on Apple's systems.
extension CNContactStore {
    /// How many contacts match, or how many there are at all that the app may see. Cheaper than fetching them.
    public func countOfContacts(matching predicate: NSPredicate? = nil) throws -> Int {
        let predicate = try predicate.map { try WirePredicate($0) }
        let reply = try Self.ask { () throws(CallFailure) in
            try BrokerCalls.shared.call(.countContacts) { predicate?.write(to: &$0) }
        }
        return reply["count"]?.integer.flatMap { Int(exactly: $0) } ?? 0
    }

    /// The members of a unified contact, as far as the app sees them; the identifier alone where it is linked with none.
    public func linkedContactIdentifiers(ofContactWithIdentifier identifier: String) throws -> [String] {
        let reply = try Self.ask { () throws(CallFailure) in
            try BrokerCalls.shared.call(.listLinkedContacts) { $0.member("identifier", identifier) }
        }
        return reply["identifiers"]?.elements?.compactMap(\.string) ?? []
    }

    /// Until when what the person decided holds; `nil` where it holds until they take it back, or where nothing was decided.
    public func authorizationExpirationDate() throws -> Date? {
        let reply = try Self.answer { () throws(CallFailure) in try BrokerCalls.shared.call(.getAuthorization) }
        return reply["expires"]?.string.flatMap { Date(wire: $0) }
    }

    /// The keys that the person shares with this app; `nil` for all but those that must be granted by name.
    public func authorizedKeys() throws -> [String]? {
        let reply = try Self.answer { () throws(CallFailure) in try BrokerCalls.shared.call(.getAuthorization) }
        return reply["keys"]?.elements?.compactMap(\.string)
    }
}
