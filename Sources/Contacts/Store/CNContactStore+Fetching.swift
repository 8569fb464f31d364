import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

extension CNContactStore {
    /// Returns the contact with this identifier, merged with its linked contacts that the app may see.
    ///
    /// - Throws: ``CNError/Code/recordDoesNotExist``, also if the app may not see the contact.
    public func unifiedContact(
        withIdentifier identifier: String, keysToFetch keys: [any CNKeyDescriptor]
    ) throws -> CNContact {
        try one(.identifiers([identifier]), keys, identifier)
    }

    /// Returns the contacts that match a predicate. Linked contacts are merged.
    ///
    /// - Throws: ``CNError/Code/predicateInvalid`` if ``CNContact`` did not make the predicate.
    public func unifiedContacts(
        matching predicate: NSPredicate, keysToFetch keys: [any CNKeyDescriptor]
    ) throws -> [CNContact] {
        let request = CNContactFetchRequest(keysToFetch: keys)
        request.predicate = predicate
        var contacts: [CNContact] = []
        _ = try fetch(request) {
            contacts.append($0)
            return true
        }
        return contacts
    }

    /// Returns the person's own contact.
    ///
    /// - Throws: ``CNError/Code/recordDoesNotExist`` if the person has not chosen one, or if the app may not
    ///   see it.
    public func unifiedMeContactWithKeys(toFetch keys: [any CNKeyDescriptor]) throws -> CNContact {
        try one(.me, keys, nil)
    }

    /// Calls a block with each contact that matches a request. The library does not keep the whole list in
    /// memory.
    ///
    /// - Parameters:
    ///   - request: selects the contacts, keys and sort order.
    ///   - block: receives a contact, and a flag that it may set to end the enumeration.
    public func enumerateContacts(
        with request: CNContactFetchRequest, usingBlock block: (CNContact, UnsafeMutablePointer<ObjCBool>) -> Void
    ) throws {
        _ = try fetch(request) { contact in
            var stop = ObjCBool(false)
            // Sound: the pointer is valid only while the block runs, as on Apple's systems.
            unsafe withUnsafeMutablePointer(to: &stop) { unsafe block(contact, $0) }
            return !stop.boolValue
        }
    }

    /// Returns an enumerator of the contacts that match a request, and the history token at which they were
    /// read.
    ///
    /// This method fetches all contacts before it returns. On Apple's systems, only Objective-C has it.
    public func enumerator(for request: CNContactFetchRequest) throws -> CNFetchResult<NSEnumerator> {
        var contacts: [CNContact] = []
        let token = try fetch(request) {
            contacts.append($0)
            return true
        }
        return CNFetchResult(value: NSArray(array: contacts).objectEnumerator(), currentHistoryToken: token)
    }

    // MARK: -

    private func one(_ predicate: WirePredicate, _ keys: [any CNKeyDescriptor], _ identifier: String?) throws
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
        writer.member("purpose", purposeOfCall)
    }
}
