/// The value of a property, as a response contains it.
public enum PropertyValue: Hashable, Sendable {
    /// A text, such as `getetag` with its quotes, `displayname` or `sync-token`.
    case text(String)
    /// A card, in UTF-8, for ``XMLName/addressData``. Its CR LF arrive as CR LF.
    case card([UInt8])
    /// A reference to a resource, such as `current-user-principal`.
    case href(Href)
    /// Empty elements, such as those of `resourcetype`.
    case elements([XMLName])
    /// For `current-user-privilege-set` (RFC 3744 §5.4).
    case privileges([XMLName])
    /// For `supported-report-set` (RFC 3253 §3.1.5).
    case reports([XMLName])
    /// For `supported-address-data` (RFC 6352 §6.2.2).
    case cardVersions([CardVersion])
    /// For `supported-collation-set` (RFC 6352 §8.3.1).
    case collations([Collation])
}

extension XMLWriter {
    mutating func property(_ name: XMLName, _ value: PropertyValue) {
        element(name) { xml in
            switch value {
            case .text(let text): xml.text(text)
            case .card(let bytes): xml.text(bytes)
            case .href(let href): xml.element(.href, href.text)
            case .elements(let names): for name in names { xml.empty(name) }
            case .privileges(let names):
                for name in names { xml.element(.dav("privilege")) { $0.empty(name) } }
            case .reports(let names):
                for name in names {
                    xml.element(.dav("supported-report")) { $0.element(.dav("report")) { $0.empty(name) } }
                }
            case .cardVersions(let versions): for version in versions { xml.addressDataType(version) }
            case .collations(let collations):
                for collation in collations { xml.element(.card("supported-collation"), collation.rawValue) }
            }
        }
    }

    mutating func precondition(_ precondition: Precondition) {
        element(precondition.name) { xml in
            if case .uniqueUID(let href?) = precondition { xml.element(.href, href) }
        }
    }
}
