import BrokerModel

extension Contact {
    /// Returns the contact with the card's texts and labels where both have one and they differ, and the keys that changed. A
    /// date without a year does not differ from that day of any year, and no label does not differ from any.
    ///
    /// - Parameter ignoringCase: whether texts that differ only in case and white space are the same.
    public func updated(by card: Contact, ignoringCase: Bool) -> (contact: Contact, keys: ContactKeySet) {
        var updated = self
        var keys = ContactKeySet()
        for key in ContactKeySet.all.subtracting(.images).subtracting(.ofBroker).subtracting(ContactKeySet(.note)).keys
        {
            guard let own = text(of: key), let new = card.text(of: key), !own.isEmpty, !new.isEmpty, own != new
            else { continue }
            let isDate = CalendarDate(own) != nil
            if ignoringCase || isDate, !DetailHash(own, of: key).differs(from: DetailHash(new, of: key)) { continue }
            updated.setText(new, of: key)
            keys.formUnion(ContactKeySet(key))
        }
        func label<Value: ContactValue>(_ path: WritableKeyPath<Contact, [Value]>, _ key: ContactKey) {
            var used: Set<Int> = []
            for new in card[keyPath: path] {
                let places = self[keyPath: path].indices.filter { place in
                    !used.contains(place)
                        && Value.fields.allSatisfy { $0.get(self[keyPath: path][place]) == $0.get(new) }
                }
                // Of equal values, the one with the same label is meant.
                guard let place = places.first(where: { self[keyPath: path][$0].label == new.label }) ?? places.first
                else { continue }
                used.insert(place)
                guard let word = new.label, !word.isEmpty, word != self[keyPath: path][place].label else { continue }
                updated[keyPath: path][place].label = word
                keys.formUnion(ContactKeySet(key))
            }
        }
        label(\.phoneNumbers, .phoneNumbers)
        label(\.emailAddresses, .emailAddresses)
        label(\.postalAddresses, .postalAddresses)
        label(\.dates, .dates)
        label(\.urlAddresses, .urlAddresses)
        label(\.contactRelations, .contactRelations)
        label(\.socialProfiles, .socialProfiles)
        label(\.instantMessageAddresses, .instantMessageAddresses)
        return (updated, keys)
    }
}
