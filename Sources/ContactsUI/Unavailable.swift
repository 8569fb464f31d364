import Foundation

// What has no meaning in a library that draws nothing. The compiler says what to use instead, with the texts of the table
// in Documentation/Porting.md.

/// The picker's window on macOS.
@available(*, unavailable, message: "use CNContactPickerViewController and its present(): the person's agent shows it")
public final class CNContactPicker: NSObject {
    /// The properties that the window shows.
    public var displayedKeys: [String] = []
    /// The window's delegate.
    public weak var delegate: (any CNContactPickerDelegate)?

    /// Shows the window next to a view.
    public func showRelative(to rectangle: NSRect, of view: Any, preferredEdge: NSRectEdge) {}

    /// Closes the window.
    public func close() {}
}

extension CNContactViewController {
    /// Creates a view of a contact that the person has.
    @available(*, unavailable, message: "fetch the contact with descriptorForRequiredKeys() and display it yourself")
    public convenience init(for contact: CNContact) { self.init(forUnknownContact: contact) }

    /// Whether the view lets the person edit the contact.
    @available(*, unavailable, message: "remove it: the library draws no card")
    public var allowsEditing: Bool {
        get { false }
        set {}
    }

    /// Whether the view has buttons to call or to write.
    @available(*, unavailable, message: "remove it: the library draws no card")
    public var allowsActions: Bool {
        get { false }
        set {}
    }

    /// Whether the view shows linked contacts.
    @available(*, unavailable, message: "remove it: the library draws no card")
    public var shouldShowLinkedContacts: Bool {
        get { false }
        set {}
    }

    /// The name that the view shows if the contact has none.
    @available(*, unavailable, message: "remove it: the library draws no card")
    public var alternateName: String? {
        get { nil }
        set {}
    }

    /// Highlights a value in the view.
    @available(*, unavailable, message: "remove it: the library draws no card")
    public func highlightProperty(withKey key: String, identifier: String?) {}

    /// The store that saves the contact.
    @available(*, unavailable, message: "remove it: the broker saves the card after the person agrees")
    public var contactStore: CNContactStore? {
        get { nil }
        set {}
    }

    /// The group for a new contact.
    @available(*, unavailable, message: "remove it: the person decides where a card goes")
    public var parentGroup: CNGroup? {
        get { nil }
        set {}
    }

    /// The container for a new contact.
    @available(*, unavailable, message: "remove it: the person decides where a card goes")
    public var parentContainer: CNContainer? {
        get { nil }
        set {}
    }
}

extension ContactAccessButton {
    /// How the button looks.
    @available(*, unavailable, message: "remove it: your app draws its own button, whose action calls press()")
    public struct Style: Sendable {
        /// The standard look.
        public static var automatic: Style { Style() }

        /// A look with these measures and this color of the image.
        public init(imageTrailingEdgePadding: Double? = nil, imageWidth: Double? = nil, imageColor: Any? = nil) {}
    }

    /// Sets how the button looks.
    @available(*, unavailable, message: "remove it: your app draws its own button, whose action calls press()")
    public func contactAccessButtonStyle(_ style: Style) -> ContactAccessButton { self }

    /// Sets the button's font.
    @available(*, unavailable, message: "remove it: your app draws its own button, whose action calls press()")
    public func font(_ font: Any?) -> ContactAccessButton { self }

    /// Sets the color of the button's text.
    @available(*, unavailable, message: "remove it: your app draws its own button, whose action calls press()")
    public func foregroundStyle(_ style: Any) -> ContactAccessButton { self }

    /// Sets the button's color.
    @available(*, unavailable, message: "remove it: your app draws its own button, whose action calls press()")
    public func tint(_ tint: Any?) -> ContactAccessButton { self }
}
