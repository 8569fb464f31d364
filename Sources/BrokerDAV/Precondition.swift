/// A condition of a request that is not met. The response names it in an error body (RFC 4918 §16).
public enum Precondition: Hashable, Sendable {
    /// The report is not one that the collection has (RFC 3253 §3.6).
    case supportedReport
    /// The token is unknown or too old. The client must sync without one (RFC 6578 §3.2).
    case validSyncToken
    /// PROPFIND with `Depth: infinity` (RFC 4918 §9.1).
    case finiteDepth
    /// The property cannot be changed (RFC 4918 §16).
    case unprotectedProperty
    /// The media type or version of a card is not supported (RFC 6352 §6.3.2.1).
    case supportedAddressData
    /// The text is not one card that the server can keep (RFC 6352 §6.3.2.1).
    case validAddressData
    /// Another resource has the card's UID (RFC 6352 §6.3.2.1). The href names it; `nil` if the client may not see it.
    case uniqueUID(href: String?)
    /// The card is larger than `max-resource-size` (RFC 6352 §6.3.2.1).
    case maxResourceSize
    /// The filter has an element that the server does not know (RFC 6352 §8.6).
    case supportedFilter
    /// The filter names another collation than ``Collation`` has (RFC 6352 §8.6).
    case supportedCollation
    /// The response would have too many entries (RFC 6352 §8.6.2, RFC 6578 §3.6).
    case matchesWithinLimits

    /// The HTTP status of a response with this error body.
    public var status: Int {
        switch self {
        // RFC 6578 §3.2 wants 403, after which Thunderbird fails at every later sync. After 400 it syncs again without
        // a token. Other clients read the body.
        case .validSyncToken: 400
        case .uniqueUID: 409
        case .matchesWithinLimits: 507
        case .supportedReport, .finiteDepth, .unprotectedProperty, .supportedAddressData, .validAddressData,
            .maxResourceSize, .supportedFilter, .supportedCollation:
            403
        }
    }

    /// The element in the error body.
    public var name: XMLName {
        switch self {
        case .supportedReport: .dav("supported-report")
        case .validSyncToken: .dav("valid-sync-token")
        case .finiteDepth: .dav("propfind-finite-depth")
        case .unprotectedProperty: .dav("cannot-modify-protected-property")
        case .supportedAddressData: .card("supported-address-data")
        case .validAddressData: .card("valid-address-data")
        case .uniqueUID: .card("no-uid-conflict")
        case .maxResourceSize: .card("max-resource-size")
        case .supportedFilter: .card("supported-filter")
        case .supportedCollation: .card("supported-collation")
        case .matchesWithinLimits: .dav("number-of-matches-within-limits")
        }
    }

    /// The error body, a whole XML document.
    public var body: [UInt8] {
        var xml = XMLWriter()
        xml.declaration()
        xml.root(.error) { $0.precondition(self) }
        return xml.bytes
    }
}
