import BrokerBounds
import BrokerModel
import BrokerVCard

/// All items that a reader gives for these bytes, in pieces of this size.
func items(_ bytes: [UInt8], pieces: Int = .max, limits: VCardLimits = VCardLimits()) -> [VCardReader.Item] {
    var reader = VCardReader(limits: limits)
    var result: [VCardReader.Item] = []
    var start = 0
    while start < bytes.count {
        let end = start + min(pieces, bytes.count - start)
        reader.append(Array(bytes[start..<end]))
        while let item = reader.next() { result.append(item) }
        start = end
    }
    reader.finish()
    while let item = reader.next() { result.append(item) }
    return result
}

func items(_ text: String, limits: VCardLimits = VCardLimits()) -> [VCardReader.Item] {
    items(Array(text.utf8), limits: limits)
}

/// The contact of a card with these lines; vCard 3.0 by default.
func contact(_ lines: String..., version: String = "3.0") -> Contact? {
    let card = ["BEGIN:VCARD", "VERSION:\(version)"] + lines + ["END:VCARD", ""]
    guard case .card(let card)? = items(card.joined(separator: "\r\n")).first else { return nil }
    return card.contact
}

func cards(_ items: [VCardReader.Item]) -> [ReadCard] {
    items.compactMap { if case .card(let card) = $0 { card } else { nil } }
}

func problems(_ items: [VCardReader.Item]) -> [CardProblem] {
    items.compactMap { if case .unreadable(let problem) = $0 { problem } else { nil } }
}

func groups(_ items: [VCardReader.Item]) -> [ReadGroup] {
    items.compactMap { if case .group(let group) = $0 { group } else { nil } }
}
