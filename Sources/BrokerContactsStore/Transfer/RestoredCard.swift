import BrokerModel

/// A part of a backup that is being restored.
public enum RestoredPart: Sendable {
    case row(BookRow)
    /// A card with its record number, dates and value identifiers.
    case card(RecordNumber, Contact, CardDetails)
    /// A contact of a backup that may be forged. It becomes a new contact, and is no evidence for links.
    case contact(RecordNumber, Contact)
}

extension NewContact {
    /// A card of a backup, which keeps its dates and its values' identifiers. The contact must be valid.
    init(_ contact: Contact, restoredWith identifiers: ValueIdentifiers, _ maker: FormMaker) {
        var contact = contact
        contact.imageDataAvailable = !contact.imageData.isEmpty
        stored = StoredCard(StoredContact(contact))
        self.identifiers = identifiers.bytes
        forms = maker.forms(of: contact)
    }
}
