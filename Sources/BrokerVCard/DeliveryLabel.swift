import BrokerBounds
import BrokerModel

/// The text of an address as it is printed on an envelope. It is a property of its own in vCard 2.1 and 3.0
/// (LABEL, RFC 2426 §3.2.2), and a parameter of the address in 4.0 (RFC 6350 §6.3.1).
enum DeliveryLabel {
    /// The name of the parameter, and of the property.
    static let name = "LABEL"
    /// The types that tell a card's addresses apart. The others are defaults (RFC 2426 §3.2.1).
    static func types(_ types: [String]) -> Set<String> {
        Set(types.map { ASCII.lowercased($0) }).subtracting(["pref", "dom", "intl", "postal", "parcel"])
    }

    /// An address to which a label can belong.
    struct Address {
        let types: Set<String>
        let group: String?
        var hasLabel: Bool
    }

    /// Returns the index of the address to which a LABEL property belongs: the first one without a label, in the same
    /// group or else with the same types. The writer relies on this rule.
    static func place(_ types: Set<String>, group: String?, in addresses: [Address]) -> Int? {
        if let group, let place = addresses.firstIndex(where: { $0.group == group && !$0.hasLabel }) { return place }
        if let place = addresses.firstIndex(where: { $0.types == types && !$0.hasLabel }) { return place }
        // Some programs write no types for the label of the only address.
        return types.isEmpty && addresses.count == 1 && !addresses[0].hasLabel ? 0 : nil
    }

    /// As ``place(_:group:in:)``; `nil` for a label with parameters that would be lost, such as LANGUAGE.
    static func place(of line: ContentLine, in addresses: [Address]) -> Int? {
        let known = ["TYPE", "PREF", "CHARSET", "ENCODING", "VALUE"]
        guard line.parameters.allSatisfy({ known.contains($0.name) }) else { return nil }
        return place(types(line.types), group: line.group, in: addresses)
    }
}

extension CardReading {
    /// Records an address and keeps its LABEL parameter.
    mutating func takeDeliveryLabel(of line: ContentLine) {
        let place = contact.postalAddresses.count
        let text = line.parameters.first { $0.name == DeliveryLabel.name }?.values.joined(separator: ",") ?? ""
        addresses.append(
            DeliveryLabel.Address(
                types: DeliveryLabel.types(line.types), group: line.group, hasLabel: !text.isEmpty))
        if !text.isEmpty { kept.keep(deliveryLabel: text, ofAddressAt: place) }
    }

    /// Gives each LABEL property to its address, or keeps it as an extra property if it belongs to none.
    mutating func settleDeliveryLabels() {
        for line in deliveryLabels.sorted(by: { $0.number < $1.number }) {
            let text = line.valueText
            guard !text.isEmpty else { continue }
            guard line.size <= limits.keptSize, let place = DeliveryLabel.place(of: line, in: addresses) else {
                keep(line.renamed(DeliveryLabel.name))
                continue
            }
            addresses[place].hasLabel = true
            kept.keep(deliveryLabel: text, ofAddressAt: place)
        }
    }
}
