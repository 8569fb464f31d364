import BrokerFormatting

/// Lays lines out from right to left, for languages that are written so.
///
/// The terminal gets lines in the order of its columns: spaces, then the parts of the line from its last one to its
/// first. Letters stay in the order in which they are stored, because only the terminal can order and join them.
extension StyledLine {
    /// Returns the pieces as they are drawn, aligned right. They fill the row.
    func mirrored(columns: Int) -> [Piece] {
        var parts = cut(columns: columns).reduce(into: LineParts()) { $0.append($1) }
        var left = columns - parts.width
        if left == 0, parts.all.last?.kind == .isolate {
            // A terminal may drop a direction mark in column 1, because no character precedes it there.
            parts = cut(columns: columns - 1).reduce(into: LineParts()) { $0.append($1) }
            left = columns - parts.width
        }
        let padding = Piece(
            text: String(repeating: " ", count: max(0, left)), style: isHighlighted ? .highlighted : .plain)
        return [padding] + parts.all.reversed().flatMap(\.drawn)
    }
}

/// The parts of a line that are drawn as a whole: isolates, words, what brackets enclose, and spaces.
///
/// Words with one space between them are one part, such as `Ada Lovelace` or `+1 555 0100`. Text from apps and
/// contacts comes in isolates, so it cannot look like a bracket or a mark of the agent here.
private struct LineParts {
    enum Kind {
        case isolate, word, bracket, spaces
    }

    struct Part {
        var kind: Kind
        var pieces: [StyledLine.Piece] = []

        var text: String { pieces.map(\.text).joined() }

        mutating func append(_ scalar: Unicode.Scalar, _ style: StyledLine.Style) {
            if pieces.last?.style != style { pieces.append(.init(text: "", style: style)) }
            pieces[pieces.count - 1].text.unicodeScalars.append(scalar)
        }

        /// Whether a space joins this part with another word.
        var isJoined: Bool { kind == .word && text.contains { $0.isLetter || $0.isNumber } }

        /// The pieces as they are drawn. A right-to-left word is isolated, so that it orders no other part.
        var drawn: [StyledLine.Piece] {
            guard kind == .word, let style = pieces.first?.style else { return pieces }
            let text = text
            if text == "›" { return [.init(text: "‹", style: style)] }
            guard Bidirectional.isolated(text) != text else { return pieces }
            return [.init(text: "\u{2068}", style: style)] + pieces + [.init(text: "\u{2069}", style: style)]
        }
    }

    private var parts: [Part] = []
    private var depth = 0
    private(set) var width = 0

    mutating func append(_ piece: StyledLine.Piece) {
        width += Columns.width(piece.text)
        for scalar in piece.text.unicodeScalars { append(scalar, piece.style) }
    }

    private mutating func append(_ scalar: Unicode.Scalar, _ style: StyledLine.Style) {
        let kind = kind(of: scalar)
        if kind != parts.last?.kind || startsPart(scalar) { parts.append(Part(kind: kind)) }
        parts[parts.count - 1].append(scalar, style)
        if Isolates.starts(scalar) { depth += 1 }
        if scalar == Isolates.end { depth -= 1 }
    }

    /// The kind of the part that the scalar belongs to.
    private func kind(of scalar: Unicode.Scalar) -> Kind {
        if depth > 0 || Isolates.starts(scalar) { return .isolate }
        if let last = parts.last, isOpen(last) { return .bracket }
        // A mark without width belongs to what precedes it.
        if !scalar.isASCII, let last = parts.last, Columns.width(String(scalar)) == 0 { return last.kind }
        return scalar == " " ? .spaces : scalar == "[" ? .bracket : .word
    }

    private func isOpen(_ part: Part) -> Bool { part.kind == .bracket && !part.text.contains("]") }

    /// Whether the scalar starts a part, although the last one has the same kind.
    private func startsPart(_ scalar: Unicode.Scalar) -> Bool {
        guard depth == 0, let last = parts.last else { return false }
        return Isolates.starts(scalar) || scalar == "[" && last.kind == .bracket && !isOpen(last)
    }

    /// All parts, in order.
    var all: [Part] {
        parts.indices.reduce(into: []) { joined, index in
            let part = parts[index]
            let count = joined.count
            if count >= 2, part.isJoined, joined[count - 1].text == " ", joined[count - 2].isJoined {
                joined[count - 2].pieces += joined[count - 1].pieces + part.pieces
                joined.removeLast()
            } else {
                joined.append(part)
            }
        }
    }
}
