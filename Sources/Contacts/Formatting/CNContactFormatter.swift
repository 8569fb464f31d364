import BrokerFormatting
import BrokerModel
import Foundation

/// The style of a formatted name.
public enum CNContactFormatterStyle: Int, Hashable, Sendable {
    /// The whole name, with prefix and suffix.
    case fullName = 0
    /// The pronunciation of the name.
    case phoneticFullName = 1
}

/// Formats each contact's name by the rules of the name's script. If these rules do not decide the order, the
/// person's preference does (``CNContactsUserDefaults/displayNameOrder``). The preference is cached for up to
/// a minute.
///
/// Fetch the contact with ``descriptorForRequiredKeys(for:)``. The program traps if a required property was
/// not fetched.
open class CNContactFormatter: Formatter {
    /// The style of the names.
    open var style = CNContactFormatterStyle.fullName

    /// Creates a formatter for full names.
    public override init() {
        super.init()
    }

    /// Decodes the style; returns `nil` if it is not valid.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
        guard let style = CNContactFormatterStyle(rawValue: Int(coder.decodeInt32(forKey: "style"))) else { return nil }
        self.style = style
    }

    /// Encodes the style.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(Int32(style.rawValue), forKey: "style")
    }

    // MARK: Names

    /// Returns the name; `nil` if there is none.
    open func string(from contact: CNContact) -> String? { Self.string(from: contact, style: style) }

    /// Returns the name of the contact; `nil` if the object is not a contact or has no name.
    open override func string(for object: Any?) -> String? { (object as? CNContact).flatMap(string(from:)) }

    /// Returns the name in this style; `nil` if there is none.
    open class func string(from contact: CNContact, style: CNContactFormatterStyle) -> String? {
        formatter(style).string(from: model(contact, style))
    }

    /// Returns the name; `nil` if there is none. Each part has the attribute ``CNContactPropertyAttribute``.
    open func attributedString(
        from contact: CNContact, defaultAttributes: [AnyHashable: Any]? = nil
    ) -> NSAttributedString? {
        Self.attributedString(from: contact, style: style, defaultAttributes: defaultAttributes)
    }

    /// Returns the name; `nil` if there is none. Each part has the attribute ``CNContactPropertyAttribute``.
    open class func attributedString(
        from contact: CNContact, style: CNContactFormatterStyle, defaultAttributes: [AnyHashable: Any]? = nil
    ) -> NSAttributedString? {
        let runs = formatter(style).runs(of: model(contact, style))
        guard !runs.isEmpty else { return nil }
        return .joining(
            runs.map { ($0.text, $0.field.map { [CNContactPropertyAttribute: $0.rawValue] } ?? [:]) }, defaultAttributes
        )
    }

    /// Returns the order of given and family name in this contact's name; never `userDefault`.
    open class func nameOrder(for contact: CNContact) -> CNContactDisplayNameOrder {
        switch formatter(.fullName).nameOrder(for: model(contact, .fullName)) {
        case .familyNameFirst: .familyNameFirst
        case .givenNameFirst, .userDefault: .givenNameFirst
        }
    }

    /// Returns the delimiter between the parts of this contact's name.
    open class func delimiter(for contact: CNContact) -> String {
        formatter(.fullName).delimiter(for: model(contact, .fullName))
    }

    // MARK: Keys

    /// Returns the keys that a style needs.
    open class func descriptorForRequiredKeys(for style: CNContactFormatterStyle) -> any CNKeyDescriptor {
        TaskKeys(keys: keys(style))
    }

    /// The keys that ``nameOrder(for:)`` needs.
    open class var descriptorForRequiredKeysForNameOrder: any CNKeyDescriptor { TaskKeys(keys: keys(.fullName)) }

    /// The keys that ``delimiter(for:)`` needs.
    open class var descriptorForRequiredKeysForDelimiter: any CNKeyDescriptor { TaskKeys(keys: keys(.fullName)) }

    private static let nameKeys = ContactKeySet([
        .contactType, .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
        .organizationName, .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName,
    ])

    private static func keys(_ style: CNContactFormatterStyle) -> ContactKeySet {
        switch style {
        case .fullName: nameKeys
        case .phoneticFullName: nameKeys.union(ContactKeySet([.phoneticOrganizationName]))
        }
    }

    // MARK: -

    private static func model(_ contact: CNContact, _ style: CNContactFormatterStyle) -> Contact {
        keys(style).forEach { _ = contact.fetched($0) }
        return contact.values.card
    }

    private static func formatter(_ style: CNContactFormatterStyle) -> ContactNameFormatter {
        let order: ContactNameFormatter.Order =
            switch PreferredNameOrder.shared.order {
            case .userDefault: .userDefault
            case .givenNameFirst: .givenNameFirst
            case .familyNameFirst: .familyNameFirst
            }
        return ContactNameFormatter(
            style: style == .fullName ? .full : .phonetic, userOrder: order, language: Languages.reader)
    }
}

extension NSAttributedString {
    /// Joins texts. Each text has its own attributes in addition to the common ones.
    static func joining(
        _ parts: [(text: String, attributes: [String: String])], _ common: [AnyHashable: Any]?
    ) -> NSAttributedString {
        let joined = NSMutableAttributedString(string: "")
        for part in parts {
            var attributes: [NSAttributedString.Key: Any] = [:]
            for (name, value) in common ?? [:] {
                if let key = name as? NSAttributedString.Key ?? (name as? String).map({ NSAttributedString.Key($0) }) {
                    attributes[key] = value
                }
            }
            for (name, value) in part.attributes { attributes[NSAttributedString.Key(name)] = value }
            joined.append(NSAttributedString(string: part.text, attributes: attributes))
        }
        return joined
    }
}
