import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

/// Is told what became of a card. The methods have defaults.
public protocol CNContactViewControllerDelegate: AnyObject {
    /// The person is done with the card.
    ///
    /// - Parameters:
    ///   - viewController: what offered the card.
    ///   - contact: the card under its identifier, where it was added and the app may see contacts; otherwise `nil`,
    ///     whatever the person did.
    func contactViewController(_ viewController: CNContactViewController, didCompleteWith contact: CNContact?)
    /// Whether a value that the person chose does what it does by itself: a number is dialled. Never called here: no screen
    /// of this library has values to choose.
    func contactViewController(
        _ viewController: CNContactViewController, shouldPerformDefaultActionFor property: CNContactProperty
    ) -> Bool
}

extension CNContactViewControllerDelegate {
    /// Does nothing, where a delegate has no use for it.
    public func contactViewController(
        _ viewController: CNContactViewController, didCompleteWith contact: CNContact?
    ) {}
    /// Always `true`.
    public func contactViewController(
        _ viewController: CNContactViewController, shouldPerformDefaultActionFor property: CNContactProperty
    ) -> Bool { true }
}

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
    /// Which properties are offered; `nil` for all that the card has.
    public var displayedPropertyKeys: [any CNKeyDescriptor]?
    /// What the app says of the card, in its own words: the person reads it, in quotation marks, in place of
    /// ``CNContactStore/usageDescription``. At most 1,024 bytes; what is longer is cut.
    public var message: String?
    /// Is told what became of the card, after ``present()`` and before it returns.
    public weak var delegate: (any CNContactViewControllerDelegate)?

    /// Offers a card that the person may not have.
    public init(forUnknownContact contact: CNContact) {
        self.contact = contact
    }

    /// Offers a card to add.
    public init(forNewContact contact: CNContact?) {
        self.contact = contact ?? CNContact()
    }

    /// Shows the card to the person, and waits for them, 300 seconds at most. An extension of this library.
    ///
    /// - Returns: the identifier of the contact, where it was added and the app may see contacts; otherwise `nil`, whatever
    ///   the person did.
    /// - Throws: ``CNError``: `unauthorizedKeys` for a displayed key that no contact has, `validationMultipleErrors` for a
    ///   card that cannot be saved, `authorizationDenied` where the person cannot be asked.
    @discardableResult
    public func present() throws -> String? {
        let identifier = try offer()
        if let delegate {
            let added = identifier.map { identifier in
                var values = contact.values
                values.identifier = identifier
                return CNContact(values, keys: contact.keysThatCanBeRead)
            }
            delegate.contactViewController(self, didCompleteWith: added)
        }
        return identifier
    }

    private func offer() throws -> String? {
        let values = contact.values
        let shown = try displayedPropertyKeys.map { keys throws(CNError) in try ContactKeySet(keys) } ?? .all
        let keys = values.present.intersection(contact.keysThatCanBeRead).intersection(shown)
        let purpose = message.map { CNContactStore.shortened($0) } ?? CNContactStore.purposeOfCall
        let reply = try CNContactStore.answer { () throws(CallFailure) in
            try BrokerCalls.shared.call(.proposeContact, isRepeatable: false) { writer in
                writer.name("contact")
                values.write(keys.subtracting(.readOnly), to: &writer)
                writer.member("purpose", purpose)
            }
        }
        return reply["identifier"]?.string
    }
}
