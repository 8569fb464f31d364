import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Puts back contacts from the bin, for `PutBack`. The caller's authorization must be checked first. It lives on the event
/// loop.
final class PutBacks: UsesServices {
    let services: BrokerServices
    /// How many contacts were put back without a password, and when, on the clock of ``Surroundings/uptime``.
    private var recent: [UInt32: [(time: Int64, contacts: Int)]] = [:]

    init(services: BrokerServices) { self.services = services }

    /// What a request would do.
    private struct Plan: Sendable {
        let request: PutBackRequest
        let result: PutBackResult
        /// The book's last change.
        let asOf: Int64
        /// The contacts whose names the caller gets.
        let named: [RecordNumber: StoredContact]

        /// The contacts that change.
        var records: [RecordNumber] {
            result.items.filter { !$0.isGroup && $0.outcome != .conflict && $0.outcome != .lost }.map(\.record)
        }
    }

    func putBack(_ parameters: PutBackParameters, _ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let uid = parameters.users.one(session.caller)
        try ListedChanges.checkNames(parameters.looksAtNames, of: uid, session)
        let request = try Self.request(parameters)
        if parameters.looksAtNames { ListedChanges(services: services).recordNames(of: uid, session) }
        books.with(uid) { [self] result in
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(nil): call.fail(Self.nothing)
            case .success(let book?): plan(request, parameters, uid, book, call, session)
            }
        }
    }

    private static let nothing = AdminError.invalidValue("save", reason: "the bin has nothing of that")

    /// - Parameter parameters: with ``PutBackParameters/contact``, the request is for the save until the contact is found.
    private static func request(_ parameters: PutBackParameters) throws(VarlinkError) -> PutBackRequest {
        let since = try AuditQueries.time(parameters.since, "since").map { $0 / 1_000_000 }
        switch (parameters.save, parameters.app, since) {
        case (let save?, nil, nil): return .save(save)
        case (nil, let app?, let since?) where parameters.contact == nil:
            return .app(app, strength: parameters.strength?.rawValue, since: since)
        default:
            throw AdminError.invalidValue("save", reason: "must be given, or else app and since without contact")
        }
    }

    private func plan(
        _ request: PutBackRequest, _ parameters: PutBackParameters, _ uid: UInt32, _ book: ContactsStore, _ call: Call,
        _ session: CallerSession
    ) {
        surroundings.loop.run(on: books.queue(of: uid)) { () throws(StoreError) in
            try Self.plan(request, parameters, book)
        } then: { [self] result in
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(.failure(let error)): call.fail(error)
            case .success(.success(let plan)) where parameters.dryRun:
                reply(plan.result, made: nil, names: parameters.names ? plan.named : nil, call, session)
            case .success(.success(let plan)):
                do throws(VarlinkError) {
                    if !parameters.many { try count(plan.records.count, of: uid, session) }
                    save(plan, isForced: parameters.force, uid, book, call, session)
                } catch {
                    call.fail(error)
                }
            }
        }
    }

    private static func plan(
        _ request: PutBackRequest, _ parameters: PutBackParameters, _ book: ContactsStore
    ) throws(StoreError) -> Result<Plan, VarlinkError> {
        var request = request
        var listed: [BinContact] = []
        if case .save(let save) = request, parameters.names || parameters.contact != nil {
            listed = try book.contactsInBin(of: save, limit: .max)
        }
        if let name = parameters.contact, case .save(let save) = request {
            let found = listed.filter { $0.contact.flatMap { Contact($0, keys: .names) }?.isCalled(name) ?? false }
            guard found.count == 1 else {
                return .failure(
                    AdminError.invalidValue(
                        "contact",
                        reason: found.isEmpty
                            ? "no contact of this save has that whole name"
                            : "\(found.count) contacts of this save have that name; put back the whole save"))
            }
            request = .contact(found[0].record, save: save)
        }
        let asOf = book.lastChange
        let result = try book.wouldPutBack(request, isForced: parameters.force)
        guard !result.items.isEmpty else { return .failure(nothing) }
        var named: [RecordNumber: StoredContact] = [:]
        if parameters.names { named = try book.namesInBin(of: result.items.filter { !$0.isGroup }.map(\.record)) }
        return .success(Plan(request: request, result: result, asOf: asOf, named: named))
    }

    /// Counts contacts that are put back without a password.
    ///
    /// - Throws: if there are too many, and the authority asks for passwords here.
    private func count(_ contacts: Int, of uid: UInt32, _ session: CallerSession) throws(VarlinkError) {
        guard contacts > 0, surroundings.wantsPasswords, session.caller.uid != 0 else { return }
        let now = surroundings.uptime()
        let period = services.limits.passwordFreePeriod.microseconds
        let former = recent[uid, default: []].filter { now - $0.time < period }
        guard former.reduce(contacts, { $0 + $1.contacts }) <= services.limits.contactsWithoutPassword else {
            throw AdminError.invalidValue(
                "many",
                reason: "more than \(services.limits.contactsWithoutPassword) contacts in a day need the password")
        }
        recent[uid] = former + [(now, contacts)]
    }

    // MARK: The save

    private func save(
        _ plan: Plan, isForced: Bool, _ uid: UInt32, _ book: ContactsStore, _ call: Call, _ session: CallerSession
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
                about.detail = AdministratorSource(session).detail("put back", for: uid)
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
            done: { [self] result in
                switch result {
                case .success(let made):
                    followSets(made.changes, uid, book)
                    saves.answer(made) { self.reply(plan.result, made: made.changes, names: nil, call, session) }
                case .failure(let failure): failed(failure, call)
                }
            })
        saves.run(save, in: book)
    }

    /// Deleted contacts leave all granted sets. Those that come back return to the sets that they left.
    private func followSets(_ changes: [BookChange], _ uid: UInt32, _ book: ContactsStore) {
        let records = { (kind: BookChange.Kind) in Set(changes.lazy.filter { $0.kind == kind }.map(\.record)) }
        let moment = books.moment(of: uid)
        access.drop(records(.deleteContact), uid: uid, at: moment)
        let rejoined = access.rejoin(records(.addContact), uid: uid, at: moment) { [grants] grant in
            Set(grants.shares.members(of: grant.groups.records, in: book).values.joined())
        }
        for (principal, grant, joined) in rejoined {
            grants.shares.record(putBack: joined, grant, of: principal)
        }
        history.moved(uid)
    }

    private func failed(_ failure: PendingSave.Failure, _ call: Call) {
        switch failure {
        case .change(.store(let error)): problems.unavailable(call, error)
        case .change(.changedMeanwhile):
            call.fail(AdminError.invalidValue("save", reason: "the address book has changed meanwhile; try again"))
        case .change(.bookFull(let size, let most)):
            call.fail(AdminError.invalidValue("state", reason: SpaceWords.bookFull(size: size, most: most)))
        case .change, .unavailable, .accessDenied, .mergedTooLarge: call.fail(ContactsError.storeUnavailable)
        }
    }

    /// - Parameters:
    ///   - made: the changes; `nil` if nothing was done.
    ///   - names: the contacts to name; `nil` for none.
    private func reply(
        _ result: PutBackResult, made: [BookChange]?, names: [RecordNumber: StoredContact]?, _ call: Call,
        _ session: CallerSession
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
                writer.member("outcome", "\(item.outcome)")
                if let card = names[item.record] { writer.members(of: ListedChanges.row(card)) }
            }
        }
        groupCommit.disclose(writer.replyOnRecord(), to: call, session)
    }

    /// The contacts that a reply names. With 100 characters for each name it stays far below the size of a frame.
    private static let mostNamed = 2_000
}

extension Contact {
    /// Whether a text has the words of the contact's name, or is its organization, in any case.
    fileprivate func isCalled(_ text: String) -> Bool {
        let words = { (text: String) in text.lowercased().split { $0.isWhitespace }.sorted() }
        let wanted = words(text)
        return [[givenName, familyName], [givenName, middleName, familyName], [organizationName]].contains {
            wanted == words($0.joined(separator: " ")) && !wanted.isEmpty
        }
    }
}
