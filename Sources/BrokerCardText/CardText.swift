import BrokerBounds
import BrokerVCard

/// Why bytes are not the text of one card.
public enum CardTextError: Error, Hashable, Sendable {
    /// `BEGIN:VCARD` or `END:VCARD` is missing, or does not have its own line.
    case noCard
    /// Another card follows, or is inside this one. A resource has exactly one card (RFC 6352 §5.1).
    case severalCards
    /// VERSION is 2.1 or unknown. A card without VERSION is read as 3.0.
    case unsupportedVersion
    /// The text exceeds a limit of `VCardLimits`, or its groups repeat more text than a card may have.
    case tooLarge
}

/// The text of one vCard 3.0 (RFC 2426) or 4.0 (RFC 6350), as its properties.
///
/// The text keeps every byte: line ends, folding, upper and lower case, order, and what is before or after the card.
/// `CardSplitter` finds the content lines, so this type and the broker's reader never disagree about where a line or
/// the card ends. Reading takes time and memory in proportion to the size of the text.
public struct CardText: Sendable {
    /// The whole text, unchanged.
    public let bytes: [UInt8]
    /// The properties that a merge compares and changes, in the order of their content lines. No unit has UID, VERSION,
    /// PRODID, REV or a line that is not a content line.
    public let units: [PropertyUnit]
    /// The first UID that is not empty, unescaped. A merge neither compares nor changes it.
    public let uid: String?
    /// The version that the card states; `nil` if it states none.
    public let version: VCardVersion?

    let limits: VCardLimits
    /// The ranges of ``bytes`` that follow one another: everything up to the first content line, each content line with
    /// its folds and the blank lines after it, and everything from `END` on.
    let parts: [Range<Int>]
    /// The groups of the card, by their names in lower case.
    let groups: [String: CardGroup]
    /// Whether the last content line expects a continuation: it is quoted-printable and ends in `=`.
    let isLastLineOpen: Bool

    /// - Parameter limits: `cardSize` bounds the text in bytes, `cardLines` its content lines.
    public init(_ bytes: [UInt8], limits: VCardLimits = VCardLimits()) throws(CardTextError) {
        guard bytes.count <= limits.cardSize else { throw .tooLarge }
        let card = try Self.card(in: bytes, limits)
        guard !card.isVersion21 else { throw .unsupportedVersion }
        parts = try Self.parts(of: bytes, card)
        self.bytes = bytes
        self.limits = limits
        isLastLineOpen =
            card.lines.last.map {
                card.bytes[$0.range].last == UInt8(ascii: "=") && QuotedPrintable.isSaid(by: card.bytes[$0.range])
            } ?? false

        var lines: [(part: Int, line: ContentLine, group: String?)] = []
        for (part, line) in zip(1..., card.lines) {
            if let line = ContentLine(line, of: card) { lines.append((part, line, line.group)) }
        }
        var groups: [String: CardGroup] = [:]
        var companions: [String: GroupCompanions] = [:]
        for (part, line, group) in lines {
            guard let group else { continue }
            if PropertyUnit.isCompared(line) { groups[group, default: CardGroup()].members += 1 }
            guard GroupCompanions.isCompanion(line) else { continue }
            groups[group, default: CardGroup()].companionParts.append(part)
            companions[group, default: GroupCompanions()].add(line)
        }
        // Each member of a group has a copy of the group's label. Without this bound, a long label and many members
        // would need memory for the product of their sizes.
        var repeated = 0
        var units: [PropertyUnit] = []
        for (part, line, group) in lines where PropertyUnit.isCompared(line) {
            let own = group.flatMap { companions[$0] } ?? GroupCompanions()
            repeated += own.size
            guard repeated <= limits.cardSize else { throw .tooLarge }
            let last = max(part, group.flatMap { groups[$0]?.companionParts.last } ?? 0)
            units.append(PropertyUnit(line, own, group: group, part: part, lastPart: last))
        }
        // A group without a unit keeps its name in use.
        for case (_, _, let group?) in lines { groups[group, default: CardGroup()].members += 0 }
        self.units = units
        self.groups = groups

        func first(_ name: String) -> String? {
            lines.lazy.map(\.line).first { $0.nameText == name && !$0.isValueEmpty }?.valueText
        }
        uid = first("UID")
        let stated = first("VERSION")
        version = stated.flatMap(VCardVersion.init)
        guard stated == nil || version == .v3_0 || version == .v4_0 else { throw .unsupportedVersion }
    }

    /// Unfolds the lines of the only card.
    private static func card(in bytes: [UInt8], _ limits: VCardLimits) throws(CardTextError) -> CardSplitter.Card {
        var splitter = CardSplitter(limits: limits)
        var found: CardSplitter.Card?
        // In pieces: the splitter queues each finished card, and the second one ends the reading.
        let size = 65_536
        for start in stride(from: 0, through: bytes.count, by: size) {
            splitter.append(Array(bytes[start..<min(start + size, bytes.count)]))
            if start + size > bytes.count { splitter.finish() }
            while let item = splitter.next() {
                guard case .card(let card) = item else { throw .tooLarge }
                guard found == nil else { throw .severalCards }
                found = card
            }
        }
        guard let found, !found.isWithoutEnd else { throw .noCard }
        return found
    }

    /// Finds where the content lines are in the text, by the numbers of the physical lines on which they begin.
    private static func parts(of bytes: [UInt8], _ card: CardSplitter.Card) throws(CardTextError) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var partStart = 0
        var lineStart = 0
        var number = 1
        while lineStart < bytes.count {
            let lineEnd = endOfLine(in: bytes, from: lineStart)
            let isContinuation = !parts.isEmpty && (bytes[lineStart] == 0x20 || bytes[lineStart] == 0x09)
            if number == card.firstLine {
                // A content line or `END` after `BEGIN:VCARD` on one physical line cannot be a part of its own.
                let length = CardBoundary(bytes[lineStart..<lineEnd])?.length
                guard length == lineEnd - lineStart else { throw .noCard }
            } else if parts.count < card.lines.count, card.lines[parts.count].number == number {
                parts.append(partStart..<lineStart)
                partStart = lineStart
            } else if number > card.firstLine, !isContinuation {
                switch CardBoundary(bytes[lineStart..<lineEnd])?.word {
                // An AGENT of vCard 2.1: the splitter makes the card inside it part of the AGENT line.
                case .begin: throw .severalCards
                case .end:
                    parts.append(partStart..<lineStart)
                    parts.append(lineStart..<bytes.count)
                    return parts
                case nil: break
                }
            }
            lineStart = lineEnd
            number += 1
        }
        throw .noCard
    }

    /// Returns the index after the physical line and its end. The splitter must count lines in the same way: LF, CR,
    /// CRLF and CR CR LF each end one line.
    static func endOfLine(in bytes: [UInt8], from start: Int) -> Int {
        guard var end = bytes[start...].firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else { return bytes.count }
        while end < bytes.count, bytes[end] == 0x0D { end += 1 }
        return end < bytes.count && bytes[end] == 0x0A ? end + 1 : end
    }
}

/// What the lines of one group have in common.
struct CardGroup {
    /// The number of units in the group.
    var members = 0
    /// The parts of the text with the group's companions, in order.
    var companionParts: [Int] = []
}
