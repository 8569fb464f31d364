/// One key press, paste or click.
enum Key: Hashable, Sendable {
    case character(Character)
    case enter
    case escape
    case backspace
    case delete
    /// Ctrl-U, which erases the line.
    case erase
    case tab, backTab
    case up, down, left, right
    case pageUp, pageDown, home, end
    /// Pasted text. It can be input for a line that is being typed, but never an answer.
    case paste(String)
    /// A whole line, in line mode. It replaces the text that is being typed, but is never an answer.
    case line(String)
    /// A click of the first mouse button, from the top left, which is 0, 0.
    case click(row: Int, column: Int)
    case scrollUp, scrollDown
    /// A click on a row of a list, or its number in line mode. `index` counts from the list's first row.
    case row(index: Int)
    /// A function key or a control character without a meaning here.
    case other
}
