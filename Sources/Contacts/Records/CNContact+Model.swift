import BrokerJSON
import BrokerModel
import Foundation

// The one bridge between Apple's objects and the form in which this package's own readers of files (vCard, CSV, the text that
// one edits) have contacts. It is for the programs of this package: ContactsModel is no product, so that its form may
// change with the interface. A program outside has the properties, and `CNContactVCardSerialization`, which is built on this too.

extension CNContact {
    /// What was fetched, as the broker sent it: the keys that are there, and the identifiers of values.
    ///
    /// Nothing is turned into objects for this.
    package var wire: WireContact {
        // Of a broker that says more than this version knows, what it knows is taken.
        if !text.isEmpty, let json = try? JSONDocument(parsing: Array(text)), let wire = try? WireContact(json.root) {
            return wire
        }
        let values = values
        return WireContact(
            identifier: values.identifier, contact: values.model(), keys: keysThatCanBeRead)
    }
}

extension CNMutableContact {
    /// A contact to add, that says what a card says. It is not turned into objects until somebody looks.
    package convenience init(_ contact: Contact) {
        self.init(ContactCard(identifier: RandomIdentifier.make(), contact: contact), writing: [])
    }

    /// A contact of the address book to update: the save writes what `contact` says of `keys`, with the identifiers that its
    /// values have, and nothing else.
    package convenience init(withIdentifier identifier: String, _ contact: Contact, writing keys: ContactKeySet) {
        self.init(ContactCard(identifier: identifier, contact: contact), writing: keys)
    }
}
