import AccessControl
import ContactsInterface
import ContactsModel
import ContactsStore
import JSON
import Varlink

/// How many contacts, of those that the caller may see, linked ones as one: as many as a fetch without more words gives.
extension Broker {
    func countContacts(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        count(try CountContactsParameters(call.parameters).predicate, call, session, counted: nil)
    }

    /// - Parameter counted: what was counted beside the loop; it is the answer if the same is permitted still.
    private func count(
        _ predicate: WirePredicate?, _ call: Call, _ session: CallerSession, counted: (query: ContactQuery, count: Int)?
    ) {
        // The person was asked by then, if at all.
        read(call, session, hasAsked: counted != nil) { [weak self] (reading) throws(Reading.Failure) in
            guard let self else { return }
            var count = 0
            do throws(StoreError) {
                if let book = reading.book, let query = try Self.query(predicate, reading) {
                    if let counted, counted.query == query {
                        count = counted.count
                    } else {
                        do throws(StoreError) {
                            count = try book.count(query, .bounded)
                        } catch .takesLong {
                            return countBeside(query, book, predicate, call, session)
                        }
                    }
                }
            } catch {
                throw .store(error)
            }
            reply(to: call, session, reading, count: count) { $0.member("count", count) }
        }
    }

    private func countBeside(
        _ query: ContactQuery, _ book: ContactsStore, _ predicate: WirePredicate?, _ call: Call,
        _ session: CallerSession
    ) {
        longReads.read(book, for: call, session) { (book) throws(StoreError) in
            try book.count(query, .beside)
        } done: { [weak self] result in
            guard let self, !call.isOver else { return }
            switch result {
            case .success(let count): self.count(predicate, call, session, counted: (query, count))
            case .failure(let error): unavailable(call, error)
            }
        }
    }

    /// `nil`: nobody.
    private static func query(
        _ predicate: WirePredicate?, _ reading: Reading
    ) throws(StoreError) -> ContactQuery? {
        var query = ContactQuery(scope: reading.disclosure.scope, matchKeys: reading.disclosure.keys, unifies: true)
        switch try reading.resolve(predicate) {
        case .nobody: return nil
        case .everybody: break
        case .some(let predicate): query.predicate = predicate
        }
        return query
    }

    /// The visible members of a unified contact; a card that is linked with no other visible one is its own and only
    /// member.
    func listLinkedContacts(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ListLinkedContactsParameters(call.parameters)
        read(call, session) { [weak self] (reading) throws(Reading.Failure) in
            guard let self else { return }
            let record = try reading.contact(parameters.identifier)
            let members = reading.members(of: record)
            reply(to: call, session, reading, count: members.count) {
                $0.member("identifiers", members.map { reading.identifiers.identifier(of: $0, as: .contact) })
            }
        }
    }
}
