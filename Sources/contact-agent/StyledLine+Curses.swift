import CBrokerCurses
import CBrokerLinux

/// Draws lines with ncurses.
extension StyledLine {
    /// Puts the line into the picture that `ccurses_show` draws next.
    ///
    /// - Parameters:
    ///   - isMirrored: whether the line is laid out from right to left.
    ///   - screen: a `ccurses_screen`.
    func put(row: Int, columns: Int, isMirrored: Bool, on screen: OpaquePointer) {
        let drawn = isMirrored ? mirrored(columns: columns) : clipped(columns: columns)
        var pieces = drawn.map { ($0.text.unicodeScalars.map(\.value)[...], $0.style) }
        // A mark or an isolate at the beginning of a piece belongs to the cell before it. From the last piece on, so that
        // it does not stay in an empty piece.
        for index in pieces.indices.dropFirst().reversed() {
            let marks = pieces[index].0.prefix { clinux_columns($0) == 0 }
            pieces[index - 1].0 += marks
            pieces[index].0 = pieces[index].0.dropFirst(marks.count)
        }
        if isHighlighted { pieces.append((Array(repeating: 0x20, count: columns)[...], .highlighted)) }
        var column: CInt = 0
        for (scalars, style) in pieces {
            let scalars = Array(scalars)
            column = ccurses_put(screen, CInt(clamping: row), column, scalars, scalars.count, style.curses)
        }
    }
}

extension StyledLine.Style {
    var curses: ccurses_style {
        switch self {
        case .plain: CCURSES_PLAIN
        case .bold: CCURSES_BOLD
        case .dim: CCURSES_DIM
        case .warning: CCURSES_WARNING
        case .highlighted: CCURSES_REVERSE
        case .match: CCURSES_UNDERLINE
        }
    }
}
