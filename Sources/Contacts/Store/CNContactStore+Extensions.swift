import BrokerInterface
import BrokerJSON
import Foundation
import Synchronization

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

    /// Returns what the app may change; `nil` if the app has no access.
    public func authorizedChanges() throws -> CNContactChangeRight? {
        let reply = try Self.answer { () throws(CallFailure) in try BrokerCalls.shared.call(.getAuthorization) }
        return reply["changes"]?.string.flatMap(CNContactChangeRight.init)
    }

    /// Whether the library tells a person at a terminal that a call waits for their answer. An extension of this
    /// library; the default is `true`.
    ///
    /// If a prompt is open for half a second, the library writes one line to standard error that says where to
    /// answer: `Waiting for your answer: open contact-agent in another terminal.` It writes nothing unless standard
    /// error is a terminal. Set this property to `false` in a program that draws on the whole terminal, or that tells
    /// the person itself.
    public static var announcesWaiting: Bool {
        get { WaitingLine.isWanted.load(ordering: .relaxed) }
        set { WaitingLine.isWanted.store(newValue, ordering: .relaxed) }
    }
}

extension CNContact {
    /// Asks the broker whether both contacts are linked; `false` if the call fails. The class itself has the method for
    /// apps, ``isUnifiedWithContact(withIdentifier:)``, because a subclass cannot override a method of an extension.
    func isLinked(toContactWithIdentifier identifier: String) -> Bool {
        (try? CNContactStore().linkedContactIdentifiers(ofContactWithIdentifier: self.identifier))?
            .contains(identifier) ?? false
    }
}
