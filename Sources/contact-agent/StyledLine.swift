import BrokerFormatting

/// One line of a screen: pieces of text, each with a style. The text may contain control characters;
/// ``clipped(columns:)`` replaces them.
struct StyledLine: Hashable, ExpressibleByStringInterpolation {
    enum Style {
        case plain
        case bold
        case dim
        case warning
        /// The highlighted control or row. The rest of the row has this style, too.
        case highlighted
        /// The part of a text that matches the query.
        case match
    }

    struct Piece: Hashable {
        var text: String
        var style: Style
    }

    private(set) var pieces: [Piece]
    /// The key that a click on this line presses; `nil` if a click has no effect.
    var action: Key?

    init(_ text: String = "", _ style: Style = .plain) { pieces = [Piece(text: text, style: style)] }
    init(stringLiteral text: String) { self.init(text) }

    /// A row of a list, which a click chooses.
    ///
    /// - Parameters:
    ///   - place: the row's position in the whole list.
    ///   - isCurrent: whether the cursor is at the row.
    static func row(_ place: Int, isCurrent: Bool, _ text: String, _ style: Style = .plain) -> StyledLine {
        var line = StyledLine((isCurrent ? "› " : "  ") + text, isCurrent ? .highlighted : style)
        line.action = .row(index: place)
        return line
    }

    static func + (left: StyledLine, right: StyledLine) -> StyledLine {
        var line = left
        line.pieces += right.pieces
        return line
    }

    /// Puts two lines side by side. A click could mean either, so it has no effect.
    func joined(_ other: StyledLine) -> StyledLine {
        var line = self + " " + other
        line.action = nil
        return line
    }

    static func bold(_ text: String) -> StyledLine { StyledLine(text, .bold) }
    static func dim(_ text: String) -> StyledLine { StyledLine(text, .dim) }
    static func warning(_ text: String) -> StyledLine { StyledLine(text, .warning) }

    /// The text without styles.
    var text: String { pieces.map(\.text).joined() }

    /// Breaks the line where its script permits. The parts have the style of the first piece. A line that
    /// fits is returned unchanged.
    func wrapped(columns: Int) -> [StyledLine] {
        guard Columns.width(text) > columns else { return [self] }
        return LineBreaker.lines(of: text, columns: columns).map { StyledLine($0, pieces.first?.style ?? .plain) }
    }

    /// Returns the pieces as they are drawn: without control characters, and cut to fit.
    func clipped(columns: Int) -> [Piece] {
        // A terminal may drop a direction mark in column 1, because no character precedes it there.
        guard text.unicodeScalars.first.map(Isolates.starts) ?? false, columns > 0 else { return cut(columns: columns) }
        return [Piece(text: " ", style: .plain)] + cut(columns: columns - 1)
    }

    /// The pieces without control characters, cut to fit. An isolate may extend over several pieces.
    func cut(columns: Int) -> [Piece] {
        var left = columns
        var depth = 0
        var cut: [Piece] = []
        for piece in pieces where left > 0 {
            let text = Columns.clip(Columns.harmless(piece.text, depth: &depth), to: left)
            left -= Columns.width(text)
            cut.append(Piece(text: text, style: piece.style))
        }
        let ends = Isolates.ends(for: cut.map(\.text).joined())
        if !cut.isEmpty { cut[cut.count - 1].text += ends }
        return cut
    }

    /// Whether the whole row is highlighted up to its end.
    var isHighlighted: Bool { pieces.contains { $0.style == .highlighted } }
}

/// Measures and cuts text by terminal columns.
enum Columns {
    static func width(_ text: String) -> Int { DisplayText.columns(of: text) }

    /// Cuts at the end, with an ellipsis, if the text is too wide.
    static func clip(_ text: String, to columns: Int) -> String {
        guard width(text) > columns else { return text }
        guard columns > 0 else { return "" }
        // The cut text must not leave isolates open.
        return Isolates.closed(prefix(text, columns - 1) + "…")
    }

    /// Cuts in the middle, because both ends of a path matter.
    static func clipMiddle(_ text: String, to columns: Int) -> String {
        guard width(text) > columns else { return text }
        guard columns > 2 else { return clip(text, to: columns) }
        let head = (columns - 1) / 2
        let tail = String(prefix(String(text.reversed()), columns - 1 - head).reversed())
        return prefix(text, head) + "…" + tail
    }

    /// Pads with spaces or cuts, so that columns line up.
    static func pad(_ text: String, to columns: Int) -> String {
        let clipped = clip(text, to: columns)
        return clipped + String(repeating: " ", count: max(0, columns - width(clipped)))
    }

    /// Replaces every scalar that could control the terminal with U+FFFD. This is the last check before
    /// output. Isolates may stay, because they do not affect the text around them; open ones are closed.
    static func harmless(_ text: String) -> String {
        var depth = 0
        return Isolates.closed(harmless(text, depth: &depth))
    }

    /// Does the same for a part of a line, without closing its isolates.
    ///
    /// - Parameter depth: the number of open isolates at the beginning; afterwards, at the end.
    static func harmless(_ text: String, depth: inout Int) -> String {
        guard text.unicodeScalars.contains(where: commands) else { return text }
        var harmless = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if Isolates.starts(scalar) {
                depth += 1
            } else if scalar == Isolates.end, depth > 0 {
                depth -= 1
            } else if commands(scalar) {
                harmless.append("\u{FFFD}")
                continue
            }
            harmless.append(scalar)
        }
        return String(harmless)
    }

    private static func commands(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        default: false
        }
    }

    private static func prefix(_ text: String, _ columns: Int) -> String {
        var left = columns
        var result = ""
        for character in text {
            let width = width(String(character))
            guard width <= left else { break }
            left -= width
            result.append(character)
        }
        return result
    }
}
