import ContactsInterface
import ContactsModel
import Foundation
import JSON

/// Offers a card to the person, who adds it, merges it into a contact of theirs, or declines. The app needs no access, and
/// gains none.
///
/// This is what is left of Apple’s class without a screen of the app’s own: a new contact and an unknown one. A known contact
/// the app shows itself; ``descriptorForRequiredKeys()`` says what that takes.
public final class CNContactViewController: NSObject {
    /// What a card view shows: all but notes.
    public class func descriptorForRequiredKeys() -> any CNKeyDescriptor {
        TaskKeys(keys: ContactKeySet.all.subtracting(.named))
    }

    /// The card that is offered.
    public let contact: CNContact

    /// Offers a card that the person may not have.
    public init(forUnknownContact contact: CNContact) {
        self.contact = contact
    }

    /// Offers a card to add.
    public init(forNewContact contact: CNContact?) {
        self.contact = contact ?? CNContact()
    }

    /// Shows the card to the person, and waits for them. An extension of this library.
    ///
    /// - Returns: the identifier of the contact, where it was added and the app may see contacts; otherwise `nil`, whatever
    ///   the person did.
    @discardableResult
    public func present() throws -> String? {
        let values = contact.values
        let readOnly = ContactKeySet([.creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData])
        let keys = values.model().present.intersection(contact.keysThatCanBeRead).subtracting(readOnly)
        let reply = try CNContactStore.answer { () throws(CallFailure) in
            try BrokerCalls.shared.call(.proposeContact, isRepeatable: false) { writer in
                writer.name("contact")
                values.write(keys, to: &writer)
                writer.member("purpose", CNContactStore.purposeOfCall)
            }
        }
        return reply["identifier"]?.string
    }
}
