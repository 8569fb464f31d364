import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerVarlink

extension ReadContext {
    /// Why the call cannot be answered.
    enum Failure: Error {
        case call(VarlinkError)
        case store(StoreError)
    }

    /// Translates a predicate into a query on the book; `nil` if the predicate names a container, group or
    /// own card that is not visible. Contact identifiers that name nothing visible are skipped.
    package func query(_ predicate: WirePredicate?) throws(StoreError) -> ContactQuery? {
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
    var permissions: SavePermissions {
        SavePermissions(disclosure, writableKeys: writableKeys, changes: changes)
    }

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
