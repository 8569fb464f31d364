import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

/// Is notified when the person is done with an offered card. All methods have default implementations.
public protocol CNContactViewControllerDelegate: AnyObject {
    /// The person is done with the card.
    ///
    /// - Parameters:
    ///   - viewController: the object that offered the card.
    ///   - contact: the card with its identifier, if the person added it and the app may see contacts;
    ///     otherwise `nil`, which does not reveal what the person did.
    func contactViewController(_ viewController: CNContactViewController, didCompleteWith contact: CNContact?)
    /// Whether a chosen value performs its default action, such as dialling a number. The library never calls
    /// this method, because it has no view in which the person can choose a value.
    func contactViewController(
        _ viewController: CNContactViewController, shouldPerformDefaultActionFor property: CNContactProperty
    ) -> Bool
}

extension CNContactViewControllerDelegate {
    /// Does nothing.
    public func contactViewController(
        _ viewController: CNContactViewController, didCompleteWith contact: CNContact?
    ) {}
    /// Always `true`.
    public func contactViewController(
        _ viewController: CNContactViewController, shouldPerformDefaultActionFor property: CNContactProperty
    ) -> Bool { true }
}

/// Offers a card to the person, who adds it, merges it into an existing contact, or declines. The app needs
/// no access, and gains none.
///
/// This class supports the parts of Apple’s class that need no view in the app: new and unknown contacts. The
/// app itself must display known contacts. The app can fetch them with ``descriptorForRequiredKeys()``.
open class CNContactViewController: NSObject {
    /// Returns the keys that a card view shows: all keys except those that must be granted by name.
    open class func descriptorForRequiredKeys() -> any CNKeyDescriptor {
        TaskKeys(keys: ContactKeySet.all.subtracting(.named))
    }

    /// The offered card.
    public let contact: CNContact
    /// The properties to offer; `nil` offers all properties that the card has.
    open var displayedPropertyKeys: [any CNKeyDescriptor]?
    /// The app’s message about the card. The prompt shows the message in quotation marks, in place of
    /// ``CNContactStore/usageDescription``. The library cuts it at 1,024 bytes.
    open var message: String?
    /// The delegate, called before ``present()`` returns.
    open weak var delegate: (any CNContactViewControllerDelegate)?

    /// Prepares to offer a card that the person may not have yet; ``present()`` offers it.
    public init(forUnknownContact contact: CNContact) {
        self.contact = contact
    }

    /// Prepares to offer a new card, which is empty if `contact` is `nil`; ``present()`` offers it.
    public init(forNewContact contact: CNContact?) {
        self.contact = contact ?? CNContact()
    }

    /// Shows the card to the person, and waits at most 300 seconds. An extension of this library.
    ///
    /// - Returns: the identifier of the contact, if the person added it and the app may see contacts;
    ///   otherwise `nil`, which does not reveal what the person did.
    /// - Throws: ``CNError``: `unauthorizedKeys` if a displayed key is unknown, `validationMultipleErrors` if
    ///   the card cannot be saved, `authorizationDenied` if the person cannot be prompted.
    @discardableResult
    open func present() throws -> String? {
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
