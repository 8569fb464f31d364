import BrokerAccessControl
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters

/// Steps that update unified contacts. Such a step becomes changes to the contact's visible cards.
extension SaveSteps {
    /// Returns the changes that update a card, or the visible cards of a unified contact.
    func update(
        _ change: SaveContactsParameters.Change, _ wire: WireContact, of members: [RecordNumber]
    ) throws(ReadContext.Failure) -> [ContactChange] {
        let owners = owners(of: wire.keys, in: change)
        if members.count == 1 {
            var contact = wire.contact
            if !owners.isEmpty { contact.clearIdentifiers(ofOthersThan: members[0], owners) }
            return [.update(members[0], contact, keys: wire.keys)]
        }
        var cards: [UnifiedUpdate.Member] = []
        do throws(StoreError) {
            let read = wire.keys.union(ContactKeySet(.imageDataAvailable))
            let query = ContactQuery(
                scope: context.disclosure.scope, predicate: .records(members), limit: members.count, byteLimit: .max)
            var stored: [(RecordNumber, StoredContact)] = []
            _ = try context.book?.fetch(query) { record, contact, _ in stored.append((record, contact)) }
            let missing = Set(members).subtracting(stored.map(\.0))
            // A card that exists but was not read is damaged. Without that card, the update would lose or
            // duplicate its values.
            if let damaged = try context.book?.existing(missing).first { throw .damagedCard(record: damaged.rawValue) }
            for (record, contact) in stored {
                guard let contact = Contact(contact, keys: read) else {
                    throw .damagedCard(record: record.rawValue)
                }
                cards.append((record, contact))
            }
        } catch {
            throw .store(error)
        }
        return UnifiedUpdate(wire.contact, keys: wire.keys, owners: owners, of: cards).parts.map {
            .update($0.record, $0.contact, keys: $0.keys)
        }
    }

    private func owners(
        of keys: ContactKeySet, in change: SaveContactsParameters.Change
    ) -> [ContactKey: [ValueOwner]] {
        var owners: [ContactKey: [ValueOwner]] = [:]
        for key in keys.keys where key.hasSeveralValues {
            guard let values = change.contact?[key.rawValue]?.elements else { continue }
            owners[key] = values.map { value in
                guard let identifier = value.ownIdentifier, let slash = identifier.lastIndex(of: "/") else {
                    return .unsaid
                }
                let cards = context.cards(String(identifier[..<slash]))
                return cards.count == 1 ? .card(cards[0]) : .nobody
            }
        }
        return owners
    }
}

extension Contact {
    /// Clears the identifier of each value whose owner is a different card or ``ValueOwner/nobody``. An
    /// identifier that is a plain number stays.
    fileprivate mutating func clearIdentifiers(
        ofOthersThan record: RecordNumber, _ owners: [ContactKey: [ValueOwner]]
    ) {
        func clear<Value: ContactValue>(_ values: inout [Value], _ key: ContactKey) {
            for (index, owner) in (owners[key] ?? []).enumerated() where values.indices.contains(index) {
                switch owner {
                case .unsaid: break
                case .card(let card): if card != record { values[index].identifier = nil }
                case .nobody: values[index].identifier = nil
                }
            }
        }
        clear(&phoneNumbers, .phoneNumbers)
        clear(&emailAddresses, .emailAddresses)
        clear(&postalAddresses, .postalAddresses)
        clear(&dates, .dates)
        clear(&urlAddresses, .urlAddresses)
        clear(&contactRelations, .contactRelations)
        clear(&socialProfiles, .socialProfiles)
        clear(&instantMessageAddresses, .instantMessageAddresses)
    }
}
