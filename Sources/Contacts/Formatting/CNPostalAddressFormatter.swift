import BrokerFormatting
import BrokerModel
import Foundation

/// How an address is written.
public enum CNPostalAddressFormatterStyle: Int, Hashable, Sendable {
    /// As it stands on an envelope.
    case mailingAddress = 0
}

/// Writes addresses as the country that they are in does, line by line.
public final class CNPostalAddressFormatter: Formatter {
    /// How addresses are written.
    public var style = CNPostalAddressFormatterStyle.mailingAddress

    /// A formatter of mailing addresses.
    public override init() {
        super.init()
    }

    /// Reads what a formatter archived; there is one style.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
    }

    /// The address, its lines separated by line feeds.
    public func string(from postalAddress: CNPostalAddress) -> String {
        Self.string(from: postalAddress, style: style)
    }

    /// The address of an object that is one.
    public override func string(for object: Any?) -> String? { (object as? CNPostalAddress).map(string(from:)) }

    /// The address, its lines separated by line feeds.
    public class func string(from postalAddress: CNPostalAddress, style: CNPostalAddressFormatterStyle) -> String {
        formatter(for: postalAddress.model).lines(of: postalAddress.model).joined(separator: "\n")
    }

    /// The address, each part of it with the key that it comes from as its ``CNPostalAddressPropertyAttribute``.
    public func attributedString(
        from postalAddress: CNPostalAddress, withDefaultAttributes attributes: [AnyHashable: Any] = [:]
    ) -> NSAttributedString {
        Self.attributedString(from: postalAddress, style: style, withDefaultAttributes: attributes)
    }

    /// The address, each part of it with the key that it comes from as its ``CNPostalAddressPropertyAttribute``, and with that
    /// key’s name in the person’s language.
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
        // Where nobody knows whose rules count, nothing is left out.
        if formatter.countryCode(of: address) == nil { formatter.style = .complete }
        return formatter
    }
}

extension Locale {
    /// Where the person lives, as far as their environment says: `Locale.current` does not know on Linux.
    static var region: String? {
        PreferredLanguages.region(ofCategory: "LC_ADDRESS") { ProcessInfo.processInfo.environment[$0] }
    }
}
