import BrokerJSON
import BrokerModel
import Foundation

// Converts between this library's contact objects and the types of BrokerModel, which this package's readers
// of vCard, CSV and edited text use. Only programs of this package can use these conversions. BrokerModel is
// not a product, so its types may change with the interface. Other programs use the properties and
// `CNContactVCardSerialization`.

extension CNContact {
    /// The contact as the Varlink type `Contact`, with its readable keys. A contact that the broker sent is
    /// parsed without being decoded into objects, and keeps the identifiers of its values.
    package var wire: WireContact {
        // Members that a newer broker added are ignored.
        if !text.isEmpty, let json = try? JSONDocument(parsing: Array(text)), let wire = try? WireContact(json.root) {
            return wire
        }
        let values = values
        return WireContact(
            identifier: values.identifier, contact: values.model(), keys: keysThatCanBeRead)
    }
}

extension CNMutableContact {
    /// Creates a contact to add, with the values of a card. The card is decoded into objects when a property
    /// is first read.
    package convenience init(_ contact: Contact) {
        self.init(ContactCard(identifier: RandomIdentifier.make(), contact: contact), writing: [])
    }

    /// Creates a contact to update. The save writes only `keys` from `contact`, and sends the identifiers
    /// of the values in `contact`.
    package convenience init(withIdentifier identifier: String, _ contact: Contact, writing keys: ContactKeySet) {
        self.init(ContactCard(identifier: identifier, contact: contact), writing: keys)
    }
}
