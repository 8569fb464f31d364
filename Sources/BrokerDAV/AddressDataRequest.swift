/// A version of vCard that the server reads and writes.
public enum CardVersion: String, Hashable, Sendable, CaseIterable {
    /// RFC 2426. Clients get it unless they ask for another one (RFC 6352 §5.1).
    case v3 = "3.0"
    /// RFC 6350.
    case v4 = "4.0"
}

/// How a report wants cards: the `address-data` in its `prop` (RFC 6352 §10.4).
public struct AddressDataRequest: Hashable, Sendable {
    /// `nil` if the request does not name a version.
    public let version: CardVersion?
    /// The properties of the card that the client wants; `nil` for the whole card.
    public let properties: [ChosenProperty]?

    public struct ChosenProperty: Hashable, Sendable {
        /// In upper case, such as `TEL`; with a group, such as `ITEM1.TEL`, if the client names one.
        public let name: String
        /// Whether the client wants the property without its value.
        public let omitsValue: Bool
    }

    init(_ element: XMLElement) throws(RequestError) {
        let type = element.attribute("content-type") ?? "text/vcard"
        guard type.lowercased() == "text/vcard" else { throw .unmet(.supportedAddressData) }
        version = try element.attribute("version").map { (text) throws(RequestError) in
            guard let version = CardVersion(rawValue: text) else { throw .unmet(.supportedAddressData) }
            return version
        }
        var chosen: [ChosenProperty] = []
        for child in element.children(named: .card("prop")) {
            guard let name = child.attribute("name"), !name.isEmpty else { throw .invalid("address-data prop") }
            guard chosen.count < DAVBounds.properties else { throw .tooManyProperties }
            chosen.append(
                ChosenProperty(name: name.uppercased(), omitsValue: child.attribute("novalue") == "yes"))
        }
        properties = chosen.isEmpty ? nil : chosen
    }
}
