import BrokerFormatting
import BrokerModel
import Foundation

/// How a name is written.
public enum CNContactFormatterStyle: Int, Hashable, Sendable {
    /// All of the name, with titles.
    case fullName = 0
    /// How it is said.
    case phoneticFullName = 1
}

/// Writes the names of contacts by the rules of their own script; where those leave it open, the name comes first that the
/// person wants first (``CNContactsUserDefaults/displayNameOrder``), as it was a minute ago at most.
///
/// The contact must have been fetched with ``descriptorForRequiredKeys(for:)``; else the program stops, as with any property
/// that was not fetched.
public final class CNContactFormatter: Formatter {
    /// How names are written.
    public var style = CNContactFormatterStyle.fullName

    /// A formatter of full names.
    public override init() {
        super.init()
    }

    /// Reads the style; `nil` where it is none.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
        guard let style = CNContactFormatterStyle(rawValue: Int(coder.decodeInt32(forKey: "style"))) else { return nil }
        self.style = style
    }

    /// Writes the style.
    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(Int32(style.rawValue), forKey: "style")
    }

    // MARK: Names

    /// The name; `nil` where there is none.
    public func string(from contact: CNContact) -> String? { Self.string(from: contact, style: style) }

    /// The name of an object that is a contact.
    public override func string(for object: Any?) -> String? { (object as? CNContact).flatMap(string(from:)) }

    /// The name in this style; `nil` where there is none.
    public class func string(from contact: CNContact, style: CNContactFormatterStyle) -> String? {
        formatter(style).string(from: model(contact, style))
    }

    /// The name, each part of it with the key that it comes from as its ``CNContactPropertyAttribute``.
    public func attributedString(
        from contact: CNContact, defaultAttributes: [AnyHashable: Any]? = nil
    ) -> NSAttributedString? {
        Self.attributedString(from: contact, style: style, defaultAttributes: defaultAttributes)
    }

    /// The name, each part of it with the key that it comes from as its ``CNContactPropertyAttribute``; `nil` where there is
    /// none.
    public class func attributedString(
        from contact: CNContact, style: CNContactFormatterStyle, defaultAttributes: [AnyHashable: Any]? = nil
    ) -> NSAttributedString? {
        let runs = formatter(style).runs(of: model(contact, style))
        guard !runs.isEmpty else { return nil }
        return .joining(
            runs.map { ($0.text, $0.field.map { [CNContactPropertyAttribute: $0.rawValue] } ?? [:]) }, defaultAttributes
        )
    }

    /// Which name stands first in this contact’s name; never `userDefault`.
    public class func nameOrder(for contact: CNContact) -> CNContactDisplayNameOrder {
        switch formatter(.fullName).nameOrder(for: model(contact, .fullName)) {
        case .familyNameFirst: .familyNameFirst
        case .givenNameFirst, .userDefault: .givenNameFirst
        }
    }

    /// What stands between the names of this contact.
    public class func delimiter(for contact: CNContact) -> String {
        formatter(.fullName).delimiter(for: model(contact, .fullName))
    }

    // MARK: Keys

    /// The keys that a style needs.
    public class func descriptorForRequiredKeys(for style: CNContactFormatterStyle) -> any CNKeyDescriptor {
        TaskKeys(keys: keys(style))
    }

    /// The keys that ``nameOrder(for:)`` needs.
    public class var descriptorForRequiredKeysForNameOrder: any CNKeyDescriptor { TaskKeys(keys: keys(.fullName)) }

    /// The keys that ``delimiter(for:)`` needs.
    public class var descriptorForRequiredKeysForDelimiter: any CNKeyDescriptor { TaskKeys(keys: keys(.fullName)) }

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
    /// Joins texts, each with attributes of its own besides those of all.
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
