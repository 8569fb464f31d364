import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// Puts back contacts from the bin. The caller's authorization must be checked first.
package struct PuttingBack: UsesServices {
    package let services: BrokerServices

    package init(services: BrokerServices) { self.services = services }

    /// Why nothing was put back, and each socket has an error of its own.
    package enum Problem: Hashable { case bookFull, changedMeanwhile }

    /// What a request would do.
    package struct Plan: Sendable {
        package let request: PutBackRequest
        package let result: PutBackResult
        /// The book's last change.
        let asOf: Int64
        /// The contacts whose names the caller gets.
        package let named: [RecordNumber: StoredContact]

        /// For one contact whose names the caller gets: the contact as it is, and as it would be. Either is `nil` if there is
        /// no contact then.
        package private(set) var sides: (now: StoredContact?, then: StoredContact?)?

        /// - Parameter names: whether the contacts are named.
        package init(
            _ request: PutBackRequest, isForced: Bool, names: Bool, _ book: ContactsStore
        ) throws(StoreError) {
            self.request = request
            asOf = book.lastChange
            result = try book.wouldPutBack(request, isForced: isForced)
            let contacts = result.items.filter { !$0.isGroup }.map(\.record)
            named = names ? try book.namesInBin(of: contacts) : [:]
            guard names, case .contact(let record, let save) = request else { return }
            let former = try book.contactsInBin(of: save, limit: .max).first { $0.record == record }
            var now: StoredContact?
            _ = try book.fetch(ContactQuery(scope: .only([record]), limit: 1)) { _, contact, _ in now = contact }
            sides = (now, former?.change == .added ? nil : former?.contact)
        }

        /// The contacts that change.
        package var records: [RecordNumber] {
            result.items.filter { !$0.isGroup && $0.outcome != .conflict && $0.outcome != .lost }.map(\.record)
        }
    }

    /// Makes what a plan says, in one save of the person, and replies with what it did.
    ///
    /// - Parameters:
    ///   - isForced: as for the plan.
    ///   - detail: what was done and by whom, for the audit record.
    ///   - error: the error for a problem, from a text that says it.
    package func save(
        _ plan: Plan, isForced: Bool, _ uid: UInt32, _ book: ContactsStore, _ call: Call, _ session: CallerSession,
        detail: String, error: @escaping (Problem, String) -> VarlinkError
    ) {
        // The principal only names the program in the audit. The author of the changes is the person.
        let principal = Principal(uid: uid, strength: session.caller.strength, app: session.caller.app)
        let request = plan.request
        let save = PendingSave(
            session: session, principal: principal, addsContacts: false, count: plan.records.count, photographed: [],
            decide: {
                var about = SaveContents()
                about.contacts = plan.records
                about.deletes = plan.result.items.filter { !$0.isGroup && $0.outcome == .removed }.map(\.record)
                about.count = plan.result.items.count
                about.detail = detail
                return PendingSave.Write(principal: principal, contents: about, changesGroups: true) {
                    (book, entry, seconds) throws(PendingSave.Failure) in
                    do throws(ChangeError) {
                        return try book.putBack(
                            request, isForced: isForced, asOf: plan.asOf, at: seconds, outbox: entry
                        ).changes
                    } catch {
                        throw .change(error)
                    }
                }
            },
            done: { result in
                switch result {
                case .success(let made):
                    let deleted = made.changes.lazy.filter { $0.kind == .deleteContact }.map(\.record)
                    access.drop(Set(deleted), uid: uid, at: books.moment(of: uid))
                    rejoin(Set(plan.records).subtracting(deleted), uid, book)
                    saves.answer(made) { reply(plan.result, made: made.changes, names: nil, call, session) }
                case .failure(let failure): failed(failure, call, error)
                }
            })
        saves.run(save, in: book)
    }

    /// Contacts that came back, perhaps before a crash, return to the granted sets that they left when they were deleted.
    package func rejoin(_ back: Set<RecordNumber>, _ uid: UInt32, _ book: ContactsStore) {
        let rejoined = access.rejoin(back, uid: uid, at: books.moment(of: uid)) { [grants] grant in
            Set(grants.shares.members(of: grant.groups.records, in: book).values.joined())
        }
        for (principal, grant, joined) in rejoined {
            grants.shares.record(putBack: joined, grant, of: principal)
        }
        history.moved(uid)
    }

    private func failed(
        _ failure: PendingSave.Failure, _ call: Call, _ error: (Problem, String) -> VarlinkError
    ) {
        switch failure {
        case .change(.store(let problem)): problems.unavailable(call, problem)
        case .change(.changedMeanwhile):
            call.fail(error(.changedMeanwhile, "the address book has changed meanwhile; try again"))
        case .change(.bookFull(let size, let most)):
            call.fail(error(.bookFull, SpaceWords.bookFull(size: size, most: most)))
        case .change, .unavailable, .accessDenied, .mergedTooLarge: call.fail(ContactsError.storeUnavailable)
        }
    }

    /// - Parameters:
    ///   - made: the changes; `nil` if nothing was done.
    ///   - names: the contacts to name; `nil` for none.
    ///   - sides: as the plan has them, if the caller may see whole contacts.
    ///   - identify: gives each contact that is named an identifier.
    package func reply(
        _ result: PutBackResult, made: [BookChange]?, names: [RecordNumber: StoredContact]?,
        sides: (now: StoredContact?, then: StoredContact?)? = nil, _ call: Call, _ session: CallerSession,
        identify: ((RecordNumber) -> String)? = nil
    ) {
        func count(_ outcome: PutBackResult.Item.Outcome, _ kind: BookChange.Kind) -> Int {
            guard let made else { return result.contacts(outcome) }
            return Set(made.lazy.filter { $0.kind == kind }.map(\.record)).count
        }
        var writer = DisclosedWriter()
        writer.member("returned", count(.returned, .addContact))
        writer.member("changed", count(.changed, .updateContact))
        writer.member("removed", count(.removed, .deleteContact))
        writer.member("conflicts", result.contacts(.conflict))
        writer.member("lost", result.contacts(.lost))
        writer.member("groups", result.items.count { $0.isGroup && $0.outcome != .conflict })
        if let names {
            writer.array("contacts", result.items.filter { !$0.isGroup }.prefix(Self.mostNamed)) { writer, item in
                writer.member("identifier", identify?(item.record))
                writer.member("outcome", "\(item.outcome)")
                if let card = names[item.record] { writer.members(of: ListedChanges.row(card)) }
            }
        }
        for (name, card) in [("now", sides?.now), ("then", sides?.then)] {
            guard let card else { continue }
            let keys = ContactKeySet.all.subtracting(.images).union(ContactKeySet(.imageDataAvailable))
            let row = Disclosure.forPerson(keys: keys).row(of: card, keys: keys, identifier: "", textLimit: .max)
            writer.member(name, of: row)
        }
        groupCommit.disclose(writer.replyOnRecord(), to: call, session)
    }

    /// The contacts that a reply names. With 100 characters for each name it stays far below the size of a frame.
    private static let mostNamed = 2_000
}
