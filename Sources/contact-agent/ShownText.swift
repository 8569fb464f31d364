/// Text from elsewhere, made fit to be shown: one line that cannot command the terminal or pass for our own words.
enum ShownText {
    /// In quotation marks, which no text inside can close, and no wider than this.
    static func quoted(_ text: String, columns: Int) -> String {
        let inner = line(text).filter { !"“”„‟".contains($0) }
        return "“\(Columns.clip(inner, to: max(1, columns - 2)))”"
    }

    /// Without controls, line breaks, overrides of direction and what has no width; runs of spaces are one.
    static func line(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
                if result.last != " " { result.append(" ") }
            case .format, .surrogate, .privateUse, .unassigned: continue
            default: result.append(scalar)
            }
        }
        return String(result).split(separator: " ").joined(separator: " ")
    }
}
