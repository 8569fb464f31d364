import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

extension CNContactStore {
    /// The contact of an identifier, merged from those that it is linked with as far as the app sees them.
    ///
    /// - Throws: ``CNError/Code/recordDoesNotExist`` also where the app may not see it.
    public func unifiedContact(
        withIdentifier identifier: String, keysToFetch keys: [any CNKeyDescriptor]
    ) throws -> CNContact {
        try one(.identifiers([identifier]), keys, identifier)
    }

    /// The contacts that match, merged from those that are linked. A predicate that is none of ``CNContact``'s is
    /// ``CNError/Code/predicateInvalid``.
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

    /// The person's own contact, if they have said which one it is.
    ///
    /// - Throws: ``CNError/Code/recordDoesNotExist`` where there is none that the app may see.
    public func unifiedMeContactWithKeys(toFetch keys: [any CNKeyDescriptor]) throws -> CNContact {
        try one(.me, keys, nil)
    }

    /// Hands out the contacts that match a request, one by one. The list is not in memory as a whole.
    ///
    /// - Parameters:
    ///   - request: which contacts, with which keys, in which order.
    ///   - block: is given a contact, and a flag that it may set to end the list.
    public func enumerateContacts(
        with request: CNContactFetchRequest, usingBlock block: (CNContact, UnsafeMutablePointer<ObjCBool>) -> Void
    ) throws {
        _ = try fetch(request) { contact in
            var stop = ObjCBool(false)
            // Sound: the pointer is the block's for as long as it runs, as on Apple's systems.
            unsafe withUnsafeMutablePointer(to: &stop) { unsafe block(contact, $0) }
            return !stop.boolValue
        }
    }

    /// An enumerator of the contacts that match a request, and the place in the history at which they were read.
    ///
    /// On Apple's systems only Objective-C sees this method. The contacts are fetched when it is called.
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

    /// - Returns: the token of the place in the history at which the list was read; `nil` where it was ended before.
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

    /// Writes the parameters of `FetchContacts`, but for what is said of pages.
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
