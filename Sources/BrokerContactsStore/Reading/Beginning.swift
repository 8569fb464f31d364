/// The first letters of a word in a name, for searches by prefix.
enum Beginning {
    /// The maximum length of a beginning, in Unicode scalars.
    static let length = 3

    /// Returns the beginning of a word. A shorter word is its own beginning.
    static func letters(of word: String) -> String { String(word.unicodeScalars.prefix(length)) }
}
