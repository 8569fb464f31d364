import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

extension CNContactStore {
    /// Returns an enumerator of the contacts that match a request, and the history token at which they were
    /// read.
    ///
    /// This method fetches all contacts before it returns. On Apple's systems, only Objective-C has it.
    public func enumerator(for request: CNContactFetchRequest) throws -> CNFetchResult<NSEnumerator> {
        let (contacts, token) = try contacts(request)
        return CNFetchResult(value: NSArray(array: contacts).objectEnumerator(), currentHistoryToken: token)
    }

    // MARK: -

    /// The history token for the current state, read without a prompt.
    func historyToken() -> Data? {
        switch CNContactStore.authorizationStatus(for: .contacts) {
        case .authorized, .limited: break
        case .notDetermined, .denied, .restricted: return nil
        }
        let request = CNContactFetchRequest(keysToFetch: [])
        request.predicate = CNContact.predicateForContacts(withIdentifiers: [])
        // The request selects no contacts, so the reply contains only the token.
        return (try? fetch(request, more: false) { _ in true }) ?? nil
    }

    /// Fetches all contacts that match a request.
    func contacts(_ request: CNContactFetchRequest) throws -> (contacts: [CNContact], token: Data?) {
        var contacts: [CNContact] = []
        let token = try fetch(request) {
            contacts.append($0)
            return true
        }
        return (contacts, token)
    }

    /// Fetches one contact.
    ///
    /// - Parameter identifier: the identifier for the error.
    func one(_ predicate: WirePredicate, _ keys: [any CNKeyDescriptor], _ identifier: String?) throws
        -> CNContact
    {
        let request = CNContactFetchRequest(keysToFetch: keys)
        request.predicate = ContactsPredicate(.contacts(predicate))
        var found: CNContact?
        _ = try fetch(request, more: false) {
            found = found ?? $0
            return true
        }
        guard let found else {
            throw CNError(.recordDoesNotExist, reason: "", identifiers: identifier.map { [$0] } ?? [])
        }
        return found
    }

    /// - Returns: the history token at which the contacts were read; `nil` if `each` ended the fetch before
    ///   the token arrived.
    func fetch(
        _ request: CNContactFetchRequest, more: Bool = true, each: (CNContact) throws -> Bool
    ) throws -> Data? {
        let keys = try ContactKeySet(request.keysToFetch)
        let predicate = try request.predicate.map { try WirePredicate($0) }
        var token: String?
        var thrown: (any Error)?
        try Self.answer { () throws(CallFailure) in
            try BrokerCalls.shared.stream(.fetchContacts, more: more) { writer in
                Self.write(request, keys, predicate, to: &writer)
            } each: { (reply, _) throws(CallFailure) in
                token = reply["historyToken"]?.string ?? token
                guard let elements = reply["contacts"]?.elements else { return true }
                do {
                    for element in elements {
                        guard try each(.received(element, keys, request.mutableObjects)) else { return false }
                    }
                } catch {
                    thrown = error
                    return false
                }
                return true
            }
        }
        if let thrown { throw thrown }
        ChangeWatch.shared.read(at: token)
        return token.map { Data($0.utf8) }
    }

    /// Writes the parameters of `FetchContacts`, except those for paging.
    static func write(
        _ request: CNContactFetchRequest, _ keys: ContactKeySet, _ predicate: WirePredicate?,
        to writer: inout JSONWriter
    ) {
        predicate?.write(to: &writer)
        writer.name("keys")
        writer.array(keys.keys) { $0.value($1.rawValue) }
        writer.member("sortOrder", request.sortOrder.order.rawValue)
        if !request.unifyResults { writer.member("unify", false) }
        if request.includesRevisions { writer.member("revisions", true) }
        writer.member("purpose", purposeOfCall)
    }
}
