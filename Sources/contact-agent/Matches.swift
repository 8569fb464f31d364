/// Finds the parts of a text that match a query, as the broker does: each word of the query is the beginning
/// of a word of the text.
enum Matches {
    /// The text with its matches in the style `match`.
    static func line(_ text: String, _ query: String, _ style: StyledLine.Style) -> StyledLine {
        let words = query.split(whereSeparator: { $0.isWhitespace }).map { folded(String($0)) }
        guard !words.isEmpty else { return StyledLine(text, style) }
        var line = StyledLine("", style)
        var plain = ""
        var rest = text[...]
        var startsWord = true
        while let character = rest.first {
            if startsWord, let length = words.compactMap({ length(of: $0, in: rest) }).max() {
                line = line + StyledLine(plain, style) + StyledLine(String(rest.prefix(length)), .match)
                plain = ""
                rest = rest.dropFirst(length)
                startsWord = false
                continue
            }
            plain.append(character)
            startsWord = !(character.isLetter || character.isNumber)
            rest = rest.dropFirst()
        }
        return line + StyledLine(plain, style)
    }

    /// The number of characters at the beginning of the text that equal the word; `nil` if they differ.
    private static func length(of word: [Character], in text: Substring) -> Int? {
        let beginning = folded(String(text.prefix(word.count)))
        return beginning == word ? word.count : nil
    }

    private static func folded(_ text: String) -> [Character] { text.map { $0.lowercased().first ?? $0 } }
}
