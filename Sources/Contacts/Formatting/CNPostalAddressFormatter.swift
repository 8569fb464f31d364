import BrokerFormatting
import BrokerModel
import Foundation

/// The style of a formatted address.
public enum CNPostalAddressFormatterStyle: Int, Hashable, Sendable {
    /// The form on an envelope.
    case mailingAddress = 0
}

/// Formats addresses by the rules of their country, line by line.
public final class CNPostalAddressFormatter: Formatter {
    /// The style of the addresses.
    public var style = CNPostalAddressFormatterStyle.mailingAddress

    /// Creates a formatter for mailing addresses.
    public override init() {
        super.init()
    }

    /// Decodes a formatter. It has no state, since there is only one style.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
    }

    /// Returns the address, its lines separated by line feeds.
    public func string(from postalAddress: CNPostalAddress) -> String {
        Self.string(from: postalAddress, style: style)
    }

    /// Returns the address if the object is one.
    public override func string(for object: Any?) -> String? { (object as? CNPostalAddress).map(string(from:)) }

    /// Returns the address, its lines separated by line feeds.
    public class func string(from postalAddress: CNPostalAddress, style: CNPostalAddressFormatterStyle) -> String {
        formatter(for: postalAddress.model).lines(of: postalAddress.model).joined(separator: "\n")
    }

    /// Returns the address; each part has its key as ``CNPostalAddressPropertyAttribute``.
    public func attributedString(
        from postalAddress: CNPostalAddress, withDefaultAttributes attributes: [AnyHashable: Any] = [:]
    ) -> NSAttributedString {
        Self.attributedString(from: postalAddress, style: style, withDefaultAttributes: attributes)
    }

    /// Returns the address; each part has its key as ``CNPostalAddressPropertyAttribute``, and that key’s name in the
    /// person’s language.
    public class func attributedString(
        from postalAddress: CNPostalAddress, style: CNPostalAddressFormatterStyle,
        withDefaultAttributes attributes: [AnyHashable: Any] = [:]
    ) -> NSAttributedString {
        let parts = formatter(for: postalAddress.model).runs(of: postalAddress.model).map { run in
            (
                text: run.text,
                attributes: run.field.map {
                    [
                        CNPostalAddressPropertyAttribute: $0.rawValue,
                        CNPostalAddressLocalizedPropertyNameAttribute: Languages.key($0.rawValue),
                    ]
                } ?? [:]
            )
        }
        return .joining(parts, attributes)
    }

    private static func formatter(for address: PostalAddress) -> PostalAddressFormatter {
        var formatter = PostalAddressFormatter(region: Locale.region, language: Languages.reader)
        // If the country is not known, no part is left out.
        if formatter.countryCode(of: address) == nil { formatter.style = .complete }
        return formatter
    }
}

extension Locale {
    /// The person's region by their environment, which `Locale.current` ignores on Linux.
    static var region: String? {
        PreferredLanguages.region(ofCategory: "LC_ADDRESS") { ProcessInfo.processInfo.environment[$0] }
    }
}
