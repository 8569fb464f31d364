import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// Lists the saves in the bin. The caller's authorization must be checked first.
package struct ListedChanges: UsesServices {
    package let services: BrokerServices

    package init(services: BrokerServices) { self.services = services }

    /// The contacts that are named of each save.
    private static let named = 5

    /// Replies with saves, the newest first, and with `next` if there are more.
    ///
    /// - Parameters:
    ///   - query: its limit is that of the reply.
    ///   - names: whether the reply names the first contacts of each save. The caller records that.
    package func list(
        _ query: BinQuery, names: Bool, of uid: UInt32, _ call: Call, _ session: CallerSession
    ) {
        var query = query
        // One more tells whether there are more.
        query.limit += 1
        books.with(uid) { [query] result in
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(nil): reply([], next: nil, call, session)
            case .success(let book?): read(query, named: names ? Self.named : 0, uid, book, call, session)
            }
        }
    }

    /// Records that a caller gets names from the bin.
    ///
    /// - Parameter detail: what is looked up, and by whom.
    package func recordNames(of uid: UInt32, _ detail: String) {
        groupCommit.record(.lookUp, uid: uid, detail: detail)
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
            for (name, count) in [
                ("added", save.added), ("changed", save.changed), ("deleted", save.deleted), ("others", save.others),
            ] {
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
    package static func row(_ card: StoredContact) -> DisclosedRow {
        Disclosure.forPerson(keys: .names).row(of: card, keys: .names, identifier: "", textLimit: 100)
    }
}
