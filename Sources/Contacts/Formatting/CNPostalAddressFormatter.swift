import BrokerFormatting
import BrokerModel
import Foundation

/// The style of a formatted address.
public enum CNPostalAddressFormatterStyle: Int, Hashable, Sendable {
    /// The address as it is written on an envelope.
    case mailingAddress = 0
}

/// Formats addresses by the rules of their country, line by line.
open class CNPostalAddressFormatter: Formatter {
    /// The style of the addresses.
    open var style = CNPostalAddressFormatterStyle.mailingAddress

    /// Creates a formatter for mailing addresses.
    public override init() {
        super.init()
    }

    /// Decodes a formatter. It has no state, since there is only one style.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
    }

    /// Returns the address with its lines separated by line feeds.
    open func string(from postalAddress: CNPostalAddress) -> String {
        Self.string(from: postalAddress, style: style)
    }

    /// Returns the formatted address; `nil` if the object is not a postal address.
    open override func string(for object: Any?) -> String? { (object as? CNPostalAddress).map(string(from:)) }

    /// Returns the address with its lines separated by line feeds.
    open class func string(from postalAddress: CNPostalAddress, style: CNPostalAddressFormatterStyle) -> String {
        formatter(for: postalAddress.model).lines(of: postalAddress.model).joined(separator: "\n")
    }

    /// Returns the address. Each part has the attributes ``CNPostalAddressPropertyAttribute`` and
    /// ``CNPostalAddressLocalizedPropertyNameAttribute``.
    open func attributedString(
        from postalAddress: CNPostalAddress, withDefaultAttributes attributes: [AnyHashable: Any] = [:]
    ) -> NSAttributedString {
        Self.attributedString(from: postalAddress, style: style, withDefaultAttributes: attributes)
    }

    /// Returns the address. Each part has the attributes ``CNPostalAddressPropertyAttribute`` and
    /// ``CNPostalAddressLocalizedPropertyNameAttribute``.
    open class func attributedString(
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
        // If the country is unknown, include every part of the address.
        if formatter.countryCode(of: address) == nil { formatter.style = .complete }
        return formatter
    }
}
