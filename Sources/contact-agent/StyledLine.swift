import CLinux

/// One line of a screen: pieces of text, each with its look. A line never holds a control character.
struct StyledLine: Hashable, ExpressibleByStringInterpolation {
    enum Style: Hashable {
        case plain, bold, dim, warning
    }

    struct Piece: Hashable {
        var text: String
        var style: Style
    }

    private(set) var pieces: [Piece]

    init(_ text: String = "", _ style: Style = .plain) { pieces = [Piece(text: text, style: style)] }
    init(stringLiteral text: String) { self.init(text) }

    static func + (left: StyledLine, right: StyledLine) -> StyledLine {
        var line = left
        line.pieces += right.pieces
        return line
    }

    static func bold(_ text: String) -> StyledLine { StyledLine(text, .bold) }
    static func dim(_ text: String) -> StyledLine { StyledLine(text, .dim) }
    static func warning(_ text: String) -> StyledLine { StyledLine(text, .warning) }

    /// What it says, without looks.
    var text: String { pieces.map(\.text).joined() }

    /// The line as bytes for the terminal, cut to fit.
    func drawn(columns: Int, withStyles: Bool) -> String {
        var left = columns
        var result = ""
        for piece in pieces where left > 0 {
            let text = Columns.clip(Columns.harmless(piece.text), to: left)
            left -= Columns.width(text)
            guard withStyles, piece.style != .plain else {
                result += text
                continue
            }
            result += "\u{1B}[\(piece.style.code)m\(text)\u{1B}[0m"
        }
        return result
    }
}

extension StyledLine.Style {
    /// SGR parameters, ECMA-48 §8.3.117.
    fileprivate var code: String {
        switch self {
        case .plain: "0"
        case .bold: "1"
        case .dim: "2"
        case .warning: "33"
        }
    }
}

/// How much room text takes on a terminal.
enum Columns {
    /// Counts every scalar by itself, so that joined emoji are rather over- than underestimated.
    static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    /// Cuts at the end, with an ellipsis, where the text is too wide.
    static func clip(_ text: String, to columns: Int) -> String {
        guard width(text) > columns else { return text }
        guard columns > 0 else { return "" }
        return prefix(text, columns - 1) + "…"
    }

    /// Cuts in the middle: of a path both ends matter.
    static func clipMiddle(_ text: String, to columns: Int) -> String {
        guard width(text) > columns else { return text }
        guard columns > 2 else { return clip(text, to: columns) }
        let head = (columns - 1) / 2
        let tail = String(prefix(String(text.reversed()), columns - 1 - head).reversed())
        return prefix(text, head) + "…" + tail
    }

    /// Fills with spaces, or cuts, so that columns line up.
    static func pad(_ text: String, to columns: Int) -> String {
        let clipped = clip(text, to: columns)
        return clipped + String(repeating: " ", count: max(0, columns - width(clipped)))
    }

    /// The last door before the terminal: whatever still commands it becomes a replacement character.
    static func harmless(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: commands) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { commands($0) ? "\u{FFFD}" : $0 }))
    }

    private static func commands(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        default: false
        }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        scalar.isASCII ? 1 : max(0, Int(clinux_columns(scalar.value)))
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
