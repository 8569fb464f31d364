import BrokerFormatting

/// Formats untrusted text so that the person cannot mistake it for this program's own words.
enum ShownText {
    /// Returns the text in quotation marks, cut to this many columns. The text inside cannot close the
    /// quotation marks.
    static func quoted(_ text: String, columns: Int) -> String {
        let inner = line(text).filter { !"“”„‟\"".contains($0) }
        return "“\(Columns.clip(inner, to: max(1, columns - 2)))”"
    }

    /// Returns the text as one line, without characters that control the terminal.
    static func line(_ text: String) -> String { DisplayText.line(text) }
}
