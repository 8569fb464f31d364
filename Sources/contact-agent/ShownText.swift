import BrokerFormatting

/// Quotes untrusted text so that it cannot pass for this program's own words.
enum ShownText {
    /// In quotation marks, which the text inside cannot close, and at most this wide.
    static func quoted(_ text: String, columns: Int) -> String {
        let inner = line(text).filter { !"“”„‟\"".contains($0) }
        return "“\(Columns.clip(inner, to: max(1, columns - 2)))”"
    }

    /// One line without characters that control the terminal.
    static func line(_ text: String) -> String { DisplayText.line(text) }
}
