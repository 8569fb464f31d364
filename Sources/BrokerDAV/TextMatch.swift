/// How texts are compared (RFC 6352 §8.3).
public enum Collation: String, Hashable, Sendable, CaseIterable {
    /// Ignores the case of ASCII letters (RFC 4790 §9.2).
    case asciiCasemap = "i;ascii-casemap"
    /// Ignores the case of all letters (RFC 5051). The default.
    case unicodeCasemap = "i;unicode-casemap"

    /// Returns the text as it is compared: each letter in title case, as RFC 5051 prescribes.
    ///
    /// Letters are not decomposed, since Swift has no public function for it. So `e` does not find é, which it would by
    /// RFC 5051 §2.
    func folded(_ text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.map { scalar in
            if scalar.isASCII {
                let isSmall = (0x61...0x7A).contains(scalar.value)
                return isSmall ? Unicode.Scalar(UInt8(scalar.value) - 0x20) : scalar
            }
            guard self == .unicodeCasemap else { return scalar }
            let mapped = scalar.properties.titlecaseMapping.unicodeScalars
            // RFC 5051 uses only mappings of one character to one.
            return mapped.count == 1 ? mapped.first ?? scalar : scalar
        }
    }
}

/// A condition on a text (RFC 6352 §10.5.4).
public struct TextMatch: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case equals
        case contains
        case startsWith = "starts-with"
        case endsWith = "ends-with"
    }

    public let text: String
    public let collation: Collation
    public let kind: Kind
    /// Whether a text that fails the comparison matches, and no other.
    public let isNegated: Bool

    private let scalars: [Unicode.Scalar]

    public init(
        _ text: String, collation: Collation = .unicodeCasemap, kind: Kind = .contains, isNegated: Bool = false
    ) {
        self.text = text
        self.collation = collation
        self.kind = kind
        self.isNegated = isNegated
        scalars = collation.folded(text)
    }

    init(_ element: XMLElement) throws(RequestError) {
        let name = element.attribute("collation") ?? "default"
        // RFC 4790 §3 reserves `default` for the protocol's default.
        guard let collation = name == "default" ? .unicodeCasemap : Collation(rawValue: name) else {
            throw .unmet(.supportedCollation)
        }
        guard let kind = Kind(rawValue: element.attribute("match-type") ?? "contains") else {
            throw .invalid("match-type")
        }
        let isNegated: Bool
        switch element.attribute("negate-condition") ?? "no" {
        case "no": isNegated = false
        case "yes": isNegated = true
        default: throw .invalid("negate-condition")
        }
        guard element.bytes.count <= DAVBounds.conditionText else { throw .filterTooLarge }
        self.init(element.text, collation: collation, kind: kind, isNegated: isNegated)
    }

    /// Whether the value of a property or a parameter matches. Takes time linear in the length of the value.
    ///
    /// A comparison by scalars finds the beginning of a syllable, as in Hindi; one by characters finds é however it is
    /// encoded.
    public func matches(_ value: String) -> Bool {
        let folded = collation.folded(value)
        var isFound = found(scalars, in: folded)
        if !isFound, collation == .unicodeCasemap, !value.utf8.allSatisfy({ $0 < 0x80 }) {
            isFound = found(Self.characters(scalars), in: Self.characters(folded))
        }
        return isFound != isNegated
    }

    private static func characters(_ scalars: [Unicode.Scalar]) -> [Character] {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return Array(String(text))
    }

    private func found<Item: Hashable>(_ pattern: [Item], in value: [Item]) -> Bool {
        switch kind {
        case .equals: pattern == value
        case .contains: value.contains(pattern)
        case .startsWith: value.starts(with: pattern)
        case .endsWith: value.reversed().starts(with: pattern.reversed())
        }
    }
}
