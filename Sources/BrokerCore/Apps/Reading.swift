import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// What one call that reads may use: what was permitted, in whose name, and the book.
struct Reading {
    let disclosure: Disclosure
    let principal: Principal
    let identifiers: IdentifierCipher
    /// `nil`: there is none yet.
    let book: ContactsStore?
    /// Keys that the policy lets the caller write into a new contact.
    let writableKeys: ContactKeySet

    /// What is told rests on this.
    var basis: DisclosedReply.Basis { DisclosedReply.Basis(principal: principal, revision: disclosure.revision) }

    /// Why it cannot be answered.
    enum Failure: Error {
        case call(VarlinkError)
        case store(StoreError)
    }

    /// What a predicate names of the book, for the caller; `nil` where that is nothing at all. What names nothing that the caller may
    /// see is left out, whatever the reason.
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

    /// The visible cards that belong with one, itself among them, in rising order: all that this app knows of a link.
    func members(of record: RecordNumber) -> [RecordNumber] {
        book?.links(seeing: disclosure.keys).members(of: record, within: disclosure.scope) ?? []
    }

    /// The card in scope that an identifier names, or the visible members of the unified contact that it names, in
    /// rising order. A card may be gone by now.
    func cards(_ identifier: String) -> [RecordNumber] {
        guard let (kind, record) = identifiers.named(identifier), disclosure.scope.contains(record) else { return [] }
        switch kind {
        case .contact: return [record]
        case .unifiedContact:
            // It is named by its first member, so that the name is a function of what the app sees.
            let members = members(of: record)
            return members.count > 1 && members[0] == record ? members : []
        case .group, .container, .pickedRow, .agentRow: return []
        }
    }

    func made(contact record: RecordNumber) throws(StoreError) -> Bool {
        try book?.maker(of: record) == identifiers.mark
    }

    /// What may be changed of it.
    var permissions: SavePermissions { SavePermissions(disclosure, writableKeys: writableKeys) }

    /// Looks something up in the book.
    func orFail<Result>(_ body: (Reading) throws(StoreError) -> Result) throws(Failure) -> Result {
        do throws(StoreError) {
            return try body(self)
        } catch {
            throw .store(error)
        }
    }

    /// The visible contact that an identifier names; of a unified contact its first visible member. Malformed, another
    /// app's, ungranted, revoked, deleted and made up go one way.
    func contact(_ identifier: String) throws(Failure) -> RecordNumber {
        let found = try orFail { (_) throws(StoreError) in try book?.existing(cards(identifier).prefix(1)) }
        guard let record = found?.first else { throw .call(ContactsError.recordDoesNotExist()) }
        return record
    }
}

extension Reading {
    /// What a decision permits; `nil` where the grant has no key and so cannot name anything: the store is not what it should be.
    ///
    /// - Parameter identifiers: under which a call began, where not those of today.
    init?(
        _ disclosure: Disclosure, _ known: PrincipalStanding, _ book: ContactsStore?,
        under identifiers: IdentifierCipher? = nil
    ) {
        guard let principal = known.principal, let identifiers = identifiers ?? known.identifiers else { return nil }
        self.init(
            disclosure: disclosure, principal: principal, identifiers: identifiers, book: book,
            writableKeys: known.ruling.maximumKeys)
    }
}

extension Grants {
    /// What an app may use now, without asking anybody; `nil`: nothing.
    func reading(
        of session: CallerSession, _ book: ContactsStore? = nil, under identifiers: IdentifierCipher? = nil
    ) -> Reading? {
        let known = standing(of: session)
        guard case .permit(let disclosure) = decideAccess(known.standing, mayAsk: false) else { return nil }
        return Reading(disclosure, known, book, under: identifiers)
    }
}
