/// One key press or paste.
enum Key: Hashable, Sendable {
    case character(Character)
    case enter
    case escape
    case backspace
    /// Ctrl-U, which erases the line.
    case erase
    /// Pasted text. It can be input for a line that is being typed, but never an answer.
    case paste(String)
    /// An arrow, a function key or a control character without a meaning here.
    case other

    /// Whether pressing this key declines the request. It does so on every screen, except while the person
    /// types text or where the screen assigns the key another action.
    var isRefusal: Bool { self == .enter || self == .escape || self == .character("d") }
}
