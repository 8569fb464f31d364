/// One property of a card that ``VCardWriter`` wrote, for programs that search cards.
public struct CardProperty: Hashable, Sendable {
    /// In lower case; `nil` if the property is in no group.
    public let group: String?
    /// In upper case.
    public let name: String
    /// The value without its escapes. The components of a compound value are joined by semicolons.
    public let value: String
    public let parameters: [Parameter]

    public struct Parameter: Hashable, Sendable {
        /// In upper case.
        public let name: String
        public let values: [String]
    }

    /// Returns the properties of a card, without BEGIN and END.
    public static func all(in card: [UInt8]) -> [CardProperty] {
        var lines: [[UInt8]] = []
        for line in card.split(separator: 0x0A) {
            let text = line.last == 0x0D ? line.dropLast() : line
            if text.first == 0x20, let last = lines.indices.last {
                lines[last] += text.dropFirst()
            } else {
                lines.append(Array(text))
            }
        }
        return lines.compactMap { bytes in
            guard let line = ContentLine(String(decoding: bytes, as: UTF8.self)), line.property != .begin,
                line.property != .end
            else { return nil }
            return CardProperty(
                group: line.group, name: line.nameText, value: line.valueText,
                parameters: line.parameters.map { Parameter(name: $0.name, values: $0.values) })
        }
    }
}
