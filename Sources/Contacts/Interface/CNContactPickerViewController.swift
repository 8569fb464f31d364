import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

/// Lets the person pick contacts, or single values of contacts, for one use. The agent shows the picker. The
/// app needs no access and gains none; it receives a snapshot of the picked contacts or values.
///
/// What a picked contact's identifier is good for depends on the app's access. With full access, the store finds the
/// contact by it. With limited access, a fetch fails with ``CNError/Code/recordDoesNotExist``, even if the contact is
/// shared; the app can only exclude the contact from a later picker (``predicate(excludingIdentifiers:)``). Without
/// access, the identifier is random, differs in each pick and finds nothing.
open class CNContactPickerViewController: NSObject {
    /// The properties that the picker shows and discloses; `nil` means all properties that need not be
    /// granted by name.
    open var displayedPropertyKeys: [String]?
    /// A predicate that selects the contacts that can be picked; `nil` selects all. Create it with a method
    /// of this class, or with `NSPredicate(format:_:)`.
    open var predicateForEnablingContact: NSPredicate?
    /// A predicate that selects the contacts that the picker returns as soon as the person chooses them. For
    /// any other contact, the picker shows the card.
    open var predicateForSelectionOfContact: NSPredicate?
    /// A predicate that selects the values that the person can choose on a card.
    open var predicateForSelectionOfProperty: NSPredicate?
    /// The delegate, called before ``present()`` returns.
    open weak var delegate: (any CNContactPickerDelegate)?

    /// The kind of items that the person picks. An extension of this library: on Apple's systems, the kind
    /// follows from the methods that the delegate implements.
    public enum Selection: String, Hashable, Sendable {
        /// Whole contacts, with the displayed keys.
        case contact
        /// Single values, such as one phone number or address.
        case property
    }

    /// Whether the person picks contacts or values. An extension of this library.
    open var selection = Selection.contact
    /// Whether the person can pick several items. An extension of this library: on Apple's systems, this
    /// follows from the methods that the delegate implements.
    open var allowsMultipleSelection = false
    /// The most contacts and values together that the person can pick if ``allowsMultipleSelection`` is `true`. 0, the
    /// default, means no limit. An extension of this library, named after the limit of Apple's picker for photos.
    open var selectionLimit = 0

    /// Creates a picker for one contact.
    public override init() {}

    /// The contacts or values that the person picked.
    public struct Picked: Hashable, Sendable {
        /// The contacts that were picked as a whole.
        public let contacts: [CNContact]
        /// The values that were picked. Each value's contact has only its name, the requested name properties and that
        /// value.
        public let properties: [CNContactProperty]
    }

    /// Shows the picker, and waits for the person. An extension of this library.
    ///
    /// If the set-up contradicts itself, the library says so on standard error.
    ///
    /// - Throws: ``CNError``, with ``CNError/Code/predicateInvalid`` for a predicate that is not of this class, and
    ///   ``CNError/Code/policyViolation`` for a negative ``selectionLimit``.
    /// - Returns: the picked contacts or values; empty if the person picked nothing, or if there was nothing
    ///   to pick.
    @discardableResult
    open func present() throws -> Picked {
        let picked = try request().make()
        deliver(picked)
        return picked
    }

    /// The same as ``present()``, but suspends the task instead of blocking the thread. The delegate is called on the
    /// caller's actor. An extension of this library.
    @discardableResult
    open nonisolated(nonsending) func present() async throws -> Picked {
        let request = try request()
        let picked = try await CNContactStore.suspended { try request.make() }
        deliver(picked)
        return picked
    }

    /// What the broker needs to know, as values that another thread can use.
    private struct Request: Sendable {
        let keys: [String]?
        /// The members for the predicates.
        let rules: [UInt8]
        let isMultiple: Bool
        /// `nil` for no limit.
        let limit: Int?
        let selection: Selection
        let purpose: String?

        func make() throws -> Picked {
            let reply = try CNContactStore.answer { () throws(CallFailure) in
                try BrokerCalls.shared.call(.pickContacts, isRepeatable: false) { writer in
                    writer.member("keys", keys)
                    if !rules.isEmpty { writer.raw(rules) }
                    if isMultiple { writer.member("multiple", true) }
                    writer.member("limit", limit)
                    writer.member("select", selection.rawValue)
                    writer.member("purpose", purpose)
                }
            }
            let contacts = reply["contacts"]?.elements?.map { CNContact(picked: $0) } ?? []
            let properties = reply["properties"]?.elements?.compactMap { json -> CNContactProperty? in
                guard let contact = json["contact"], let key = json["key"]?.string else { return nil }
                return CNContactProperty(
                    contact: CNContact(picked: contact), key: key, identifier: json["identifier"]?.string,
                    label: json["label"]?.string)
            }
            return Picked(contacts: contacts, properties: properties ?? [])
        }
    }

    private func request() throws -> Request {
        let keys = try displayedPropertyKeys.map { try ContactKeySet($0 as [any CNKeyDescriptor]) }
        var rules = JSONWriter()
        try PickerPredicate.write(predicateForEnablingContact, "enabling", to: &rules)
        try PickerPredicate.write(predicateForSelectionOfContact, "returningContact", to: &rules)
        try PickerPredicate.write(predicateForSelectionOfProperty, "returningProperty", to: &rules)
        if selection == .contact, predicateForSelectionOfProperty != nil, predicateForSelectionOfContact == nil {
            Self.warn(
                "predicateForSelectionOfProperty has no effect, because the person picks whole contacts; "
                    + "set selection to .property, or set predicateForSelectionOfContact")
        }
        guard selectionLimit >= 0 else {
            throw CNError(
                .policyViolation, reason: "selectionLimit is \(selectionLimit); it must be 0 (no limit) or more")
        }
        if selectionLimit > 1, !allowsMultipleSelection {
            Self.warn(
                "selectionLimit has no effect, because the person picks one item; set allowsMultipleSelection to true")
        }
        return Request(
            keys: keys?.keys.map(\.rawValue), rules: rules.bytes, isMultiple: allowsMultipleSelection,
            limit: allowsMultipleSelection && selectionLimit > 0 ? selectionLimit : nil, selection: selection,
            purpose: CNContactStore.purposeOfCall)
    }

    // MARK: The delegate

    /// A card can be shown in either mode, so the person can have picked contacts, values or both.
    func deliver(_ picked: Picked) {
        guard let delegate else { return }
        guard !picked.contacts.isEmpty || !picked.properties.isEmpty else {
            return delegate.contactPickerDidCancel(self)
        }
        guard allowsMultipleSelection else {
            for contact in picked.contacts { delegate.contactPicker(self, didSelect: contact) }
            for property in picked.properties { delegate.contactPicker(self, didSelect: property) }
            return
        }
        if !picked.contacts.isEmpty { delegate.contactPicker(self, didSelect: picked.contacts) }
        if !picked.properties.isEmpty {
            delegate.contactPicker(self, didSelectContactProperties: picked.properties)
        }
    }

    /// Whether the picker calls another method of the delegate than the one for what was picked.
    private var isSubstituting = false
    /// Whether the delegate lacks that method, too.
    private var isUndelivered = false

    /// Calls another method of a delegate that lacks the method for what was picked. If the delegate lacks that one too,
    /// tells it that the person picked nothing.
    func substitute(for items: String, of delegate: any CNContactPickerDelegate, with other: () -> Void) {
        let name = String(describing: type(of: delegate))
        guard !isSubstituting else {
            isUndelivered = true
            return
        }
        Self.warn(
            "\(name) does not implement the method for \(items), so another one is called; "
                + "set selection and allowsMultipleSelection to what the delegate implements")
        isSubstituting = true
        defer { isSubstituting = false }
        other()
        guard isUndelivered else { return }
        isUndelivered = false
        Self.warn(
            "\(name) implements no method for what the person picked, so the app does not receive it, and the delegate is "
                + "told that the person picked nothing; set selection to what the delegate implements")
        delegate.contactPickerDidCancel(self)
    }

    private static func warn(_ text: String) {
        FileHandle.standardError.write(Data("CNContactPickerViewController: \(text)\n".utf8))
    }
}

extension CNContact {
    /// Creates a contact from a picked row of the reply. The contact's keys are those that the broker
    /// disclosed.
    convenience init(picked json: JSONValue) {
        var keys = ContactKeySet()
        if let members = json.members {
            for (name, value) in members where !value.isNull {
                if let key = name.string.flatMap(ContactKey.init) { keys.formUnion(ContactKeySet(key)) }
            }
        }
        self.init(text: json.text, keys: keys)
    }
}
