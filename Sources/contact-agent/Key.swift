/// What the person did at the keyboard.
enum Key: Hashable, Sendable {
    case character(Character)
    case enter
    case escape
    case backspace
    /// Ctrl-U: forget the line.
    case erase
    /// Pasted text: for a line that is being typed, and never an answer.
    case paste(String)
    /// An arrow, a function key, a control character: nothing that this program gives a meaning.
    case other

    /// Refuses on every screen, unless a text is typed or the screen says otherwise.
    var isRefusal: Bool { self == .enter || self == .escape || self == .character("d") }
}
