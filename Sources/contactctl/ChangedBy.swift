/// Finds the user who changed a grant in the broker's words, such as `reset, by user 1001`. The broker knows UIDs; people
/// want names.
enum ChangedBy {
    /// Replaces `by user 1001` by the user's name.
    static func words(_ text: String) -> String {
        guard let found = found(in: text) else { return text }
        return found.before + "by " + UserName.text(found.uid) + found.after
    }

    /// The user's name; `nil` if the words name no user.
    static func name(in text: String) -> String? { found(in: text).map { UserName.text($0.uid) } }

    private static func found(in text: String) -> (before: Substring, uid: UInt32, after: Substring)? {
        let words = "by user "
        guard let place = text.indices.first(where: { text[$0...].hasPrefix(words) }) else { return nil }
        let tail = text[place...].dropFirst(words.count)
        let digits = tail.prefix(while: \.isNumber)
        return UInt32(digits).map { (text[..<place], $0, tail.dropFirst(digits.count)) }
    }
}
