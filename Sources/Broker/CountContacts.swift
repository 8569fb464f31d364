import ContactsInterface
import ContactsModel
import ContactsStore
import Varlink

/// How many contacts, of those that the caller may see, linked ones as one: as many as a fetch without more words gives.
extension Broker {
    func countContacts(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try CountContactsParameters(call.parameters)
        read(call, session) { [weak self] (reading) throws(Reading.Failure) in
            guard let self else { return }
            let count: Int
            do throws(StoreError) {
                count = try self.count(parameters.predicate, reading)
            } catch {
                throw .store(error)
            }
            reply(to: call, session, reading, count: count) { $0.member("count", count) }
        }
    }

    private func count(_ predicate: WirePredicate?, _ reading: Reading) throws(StoreError) -> Int {
        guard let book = reading.book else { return 0 }
        let keys = reading.disclosure.keys
        switch try reading.resolve(predicate) {
        case .nobody: return 0
        case .everybody:
            return try book.count(ContactQuery(scope: reading.disclosure.scope, matchKeys: keys, unifies: true))
        case .some(let predicate):
            return try book.count(
                ContactQuery(
                    scope: reading.disclosure.scope, predicate: predicate, matchKeys: keys, unifies: true))
        }
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
