import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Lists the saves in the bin, for `ListChanges`. The caller's authorization must be checked first.
struct ListedChanges: UsesServices {
    let services: BrokerServices

    /// The contacts that are named of each save.
    private static let named = 5

    func list(
        _ parameters: ListChangesParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        let uid = parameters.users.one(session.caller)
        try Self.checkNames(parameters.names, of: uid, session)
        var query = BinQuery()
        query.app = parameters.app
        query.since = (try AuditQueries.time(parameters.since, "since") ?? 0) / 1_000_000
        query.before = parameters.before
        // One more tells whether there are more.
        query.limit = parameters.limit + 1
        if parameters.names { recordNames(of: uid, session) }
        books.with(uid) { result in
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(nil): reply([], next: nil, call, session)
            case .success(let book?): read(query, named: parameters.names ? Self.named : 0, uid, book, call, session)
            }
        }
    }

    /// Only the owner may see names.
    static func checkNames(_ names: Bool, of uid: UInt32, _ session: CallerSession) throws(VarlinkError) {
        guard names, uid != session.caller.uid else { return }
        throw AdminError.invalidValue("names", reason: "only the user whose contacts these are may see their names")
    }

    func recordNames(of uid: UInt32, _ session: CallerSession) {
        groupCommit.record(
            .lookUp, uid: uid, detail: AdministratorSource(session).detail("contacts in the bin", for: uid))
    }

    private func read(
        _ query: BinQuery, named: Int, _ uid: UInt32, _ book: ContactsStore, _ call: Call, _ session: CallerSession
    ) {
        surroundings.loop.run(on: books.queue(of: uid)) { () throws(StoreError) in
            var saves: [(save: BinSave, contacts: [BinContact])] = []
            for save in try book.savesInBin(query) {
                saves.append((save, named == 0 ? [] : try book.contactsInBin(of: save.number, limit: named)))
            }
            return saves
        } then: { result in
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(let saves):
                let shown = saves.prefix(query.limit - 1)
                reply(Array(shown), next: saves.count > shown.count ? shown.last?.save.number : nil, call, session)
            }
        }
    }

    private func reply(
        _ saves: [(save: BinSave, contacts: [BinContact])], next: Int64?, _ call: Call, _ session: CallerSession
    ) {
        var writer = DisclosedWriter()
        writer.array("saves", saves) { writer, listed in
            let save = listed.save
            writer.member("number", Int(save.number))
            writer.member("kind", "\(save.kind)")
            writer.member("time", Timestamp.text(seconds: save.time))
            writer.member("app", save.author.app)
            writer.member("strength", save.author.strength)
            for (name, count) in [("added", save.added), ("changed", save.changed), ("deleted", save.deleted)] {
                writer.member(name, count)
            }
            writer.array("contacts", listed.contacts) { writer, contact in
                writer.member("change", "\(contact.change)")
                if let card = contact.contact { writer.members(of: Self.row(card)) }
            }
        }
        writer.member("next", next.map { Int($0) })
        groupCommit.disclose(writer.replyOnRecord(), to: call, session)
    }

    /// A contact's names, each of at most 100 characters.
    static func row(_ card: StoredContact) -> DisclosedRow {
        Disclosure.forPerson(keys: .names).row(of: card, keys: .names, identifier: "", textLimit: 100)
    }
}
