import BrokerVCard

/// A change to the text of a card. Indices are those of ``CardText/units``.
public enum CardEdit: Sendable {
    case replace(Int, with: PropertyUnit)
    case remove(Int)
    /// Adds the unit after the last one with the same name; if there is none, before `END`.
    case add(PropertyUnit)
}

extension CardText {
    /// Returns the text with these changes. All other lines keep their bytes and their order.
    ///
    /// New lines end in CRLF and are folded at 75 octets between characters (RFC 6350 §3.2). They are not converted
    /// between 3.0 and 4.0: a unit is written as it is in its own card.
    ///
    /// - Parameter edits: at most one for each unit of this card.
    /// - Throws: ``CardTextError/tooLarge`` if the new text exceeds the limits of this one.
    public func applying(_ edits: [CardEdit]) throws(CardTextError) -> CardText {
        var patch = CardPatch(self)
        for edit in edits {
            switch edit {
            case .replace(let place, let unit): patch.replace(units[place], with: unit)
            case .remove(let place): patch.remove(units[place])
            case .add(let unit): patch.add(unit)
            }
        }
        return try CardText(patch.bytes, limits: limits)
    }
}

/// The changes to the parts of one text.
private struct CardPatch {
    private let card: CardText
    private var groups: [String: CardGroup]
    private var lastGroup = 0
    private var dropped: Set<Int> = []
    /// New lines, by the part after which they stand.
    private var inserted: [Int: [UInt8]] = [:]
    /// The last part of each property name.
    private let lastParts: [String: Int]

    init(_ card: CardText) {
        self.card = card
        groups = card.groups
        lastParts = Dictionary(card.units.map { ($0.name, $0.lastPart) }) { max($0, $1) }
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(card.bytes.count)
        var isChanged = false
        for (part, range) in card.parts.enumerated() {
            // A blank line keeps a line apart from a value that it would continue: a line without a colon from base64
            // that is before it now, and a new line from quoted-printable.
            if isChanged, !hasColon(range.lowerBound) { bytes += "\r\n".utf8 }
            isChanged = dropped.contains(part)
            if !isChanged { bytes += card.bytes[range] }
            guard let new = inserted[part] else { continue }
            if part == card.parts.count - 2, card.isLastLineOpen { bytes += "\r\n".utf8 }
            bytes += new
            isChanged = true
        }
        return bytes
    }

    /// Whether the physical line that begins at this index has a colon. Content lines usually have one there.
    private func hasColon(_ start: Int) -> Bool {
        card.bytes[start..<CardText.endOfLine(in: card.bytes, from: start)].contains(UInt8(ascii: ":"))
    }

    mutating func remove(_ old: PropertyUnit) {
        dropped.insert(old.part)
        leaveGroup(old)
    }

    mutating func add(_ new: PropertyUnit) {
        write(new, group: newGroup(for: new), after: lastParts[new.name] ?? card.parts.count - 2)
    }

    /// Replaces a unit. It keeps its group unless the new unit has another label and the group has further members.
    mutating func replace(_ old: PropertyUnit, with new: PropertyUnit) {
        let keepsCompanions = old.companionForm == new.companionForm
        let isAlone = old.group.flatMap { groups[$0] }?.members == 1
        guard keepsCompanions || isAlone else {
            remove(old)
            return write(new, group: newGroup(for: new), after: old.part)
        }
        if old.form != new.form {
            dropped.insert(old.part)
            write([new.text], group: old.writtenGroup, after: old.part)
        }
        if !keepsCompanions {
            dropped.formUnion(old.group.flatMap { groups[$0] }?.companionParts ?? [])
            write(new.companions, group: old.writtenGroup, after: old.part)
        }
    }

    /// Removes a unit from its group. The last member takes the group's companions with it.
    private mutating func leaveGroup(_ unit: PropertyUnit) {
        guard let name = unit.group, var group = groups[name] else { return }
        group.members -= 1
        groups[name] = group
        if group.members == 0 { dropped.formUnion(group.companionParts) }
    }

    private mutating func write(_ unit: PropertyUnit, group: String, after part: Int) {
        write([unit.text] + unit.companions, group: group, after: part)
    }

    private mutating func write(_ lines: [String], group: String, after part: Int) {
        var output = ContentLineOutput()
        for line in lines {
            output.raw(group + line)
            output.endLine()
        }
        inserted[part, default: []] += output.bytes
    }

    /// Returns a group that the card does not use, with its dot; empty for a unit without companions, which needs no
    /// group.
    private mutating func newGroup(for unit: PropertyUnit) -> String {
        guard !unit.companions.isEmpty else { return "" }
        repeat { lastGroup += 1 } while groups["item\(lastGroup)"] != nil
        groups["item\(lastGroup)"] = CardGroup()
        return "item\(lastGroup)."
    }
}
