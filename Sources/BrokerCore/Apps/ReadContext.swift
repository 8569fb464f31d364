import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// The context of one permitted call: the permitted disclosure, the principal and the book.
struct ReadContext {
    let disclosure: Disclosure
    let principal: Principal
    let identifiers: IdentifierCipher
    /// `nil` if the user has no book yet.
    let book: ContactsStore?
    /// Keys that the policy lets the caller write into a new contact.
    let writableKeys: ContactKeySet

    /// The grant that the reply depends on.
    var basis: DisclosedReply.Basis { DisclosedReply.Basis(principal: principal, revision: disclosure.revision) }

    /// Why the call cannot be answered.
    enum Failure: Error {
        case call(VarlinkError)
        case store(StoreError)
    }

    /// Translates a predicate into a query on the book; `nil` if the predicate names a container, group or
    /// own card that is not visible. Contact identifiers that name nothing visible are skipped.
    func query(_ predicate: WirePredicate?) throws(StoreError) -> ContactQuery? {
        var query = ContactQuery(scope: disclosure.scope, matchKeys: disclosure.keys)
        switch predicate {
        case nil: break
        case .name(let words): query.predicate = .name(words)
        case .emailAddress(let address): query.predicate = .emailAddress(address)
        case .phoneNumber(let number): query.predicate = .phoneNumber(number)
        case .identifiers(let names): query.predicate = .records(names.flatMap(cards))
        case .container(let name):
            let containers = try containers()
            guard let container = containers.first(where: { identifier(of: $0) == name }) else { return nil }
            if containers.count > 1 { query.predicate = .container(container?.record) }
        case .group(let name):
            guard let book, let group = try group(named: name) else { return nil }
            query.predicate = .records(try book.members(of: group.record, within: disclosure.scope))
        case .me:
            guard let me = try book?.me(), disclosure.scope.contains(me) else { return nil }
            query.predicate = .records([me])
        }
        return query
    }

    /// The visible cards linked with a card, including the card itself, in ascending order. Links to cards
    /// that the app cannot see are left out.
    func members(of record: RecordNumber) -> [RecordNumber] {
        let links = book?.links(seeing: disclosure.keys, within: disclosure.scope)
        return links?.members(of: record, within: disclosure.scope) ?? []
    }

    /// Returns the card in scope that an identifier names, or all visible members of a unified contact in
    /// ascending order. The result is empty if the identifier names neither. The cards may already be
    /// deleted.
    func cards(_ identifier: String) -> [RecordNumber] {
        guard let (kind, record) = identifiers.named(identifier), disclosure.scope.contains(record) else { return [] }
        switch kind {
        case .contact: return [record]
        case .unifiedContact:
            // A unified contact is named by its first visible member, so its identifier depends only on cards
            // that the app can see.
            let members = members(of: record)
            return members.count > 1 && members[0] == record ? members : []
        case .group, .container, .pickedRow, .agentRow: return []
        }
    }

    func made(contact record: RecordNumber) throws(StoreError) -> Bool {
        try book?.maker(of: record) == identifiers.mark
    }

    /// The changes that a save may make.
    var permissions: SavePermissions { SavePermissions(disclosure, writableKeys: writableKeys) }

    /// Runs a look-up in the book and translates its error.
    func orFail<Result>(_ body: (ReadContext) throws(StoreError) -> Result) throws(Failure) -> Result {
        do throws(StoreError) {
            return try body(self)
        } catch {
            throw .store(error)
        }
    }

    /// The visible contact that an identifier names; for a unified contact, its first visible member. Every
    /// other identifier causes the same error, whether it is malformed, another app's, not granted, revoked,
    /// deleted or invented.
    func contact(_ identifier: String) throws(Failure) -> RecordNumber {
        let found = try orFail { (_) throws(StoreError) in try book?.existing(cards(identifier).prefix(1)) }
        guard let record = found?.first else { throw .call(ContactsError.recordDoesNotExist()) }
        return record
    }
}

extension Grants {
    /// Creates the context of a permitted call, and what its disclosures need: the key of an app that has none, and the
    /// records of what a contact group shares by policy. The result is `nil` if the app has no key. Only a faulty store
    /// or a libcrypto failure can cause that.
    ///
    /// - Parameter identifiers: the cipher that the call began with; `nil` for the current one.
    func readContext(
        _ disclosure: Disclosure, _ known: CallerAccess, of session: CallerSession, _ book: ContactsStore?,
        under identifiers: IdentifierCipher? = nil
    ) -> ReadContext? {
        guard let principal = known.principal,
            let identifiers = identifiers ?? self.identifiers(for: known, of: session)
        else { return nil }
        notePolicyGroup(known.ruling, known.effective, of: principal)
        return ReadContext(
            disclosure: disclosure, principal: principal, identifiers: identifiers, book: book,
            writableKeys: known.ruling.maximumKeys)
    }

    /// The context for reading without a prompt; `nil` if the app may not read anything.
    func readContext(
        of session: CallerSession, _ book: ContactsStore? = nil, under identifiers: IdentifierCipher? = nil
    ) -> ReadContext? {
        let known = accessForCall(by: session)
        guard case .permit(let disclosure) = decideAccess(known.effective, mayAsk: false) else { return nil }
        return readContext(disclosure, known, of: session, book, under: identifiers)
    }
}
