import BrokerFormatting

/// Text from elsewhere as we quote it: it cannot pass for our own words.
enum ShownText {
    /// In quotation marks, which no text inside can close, and no wider than this.
    static func quoted(_ text: String, columns: Int) -> String {
        let inner = line(text).filter { !"“”„‟\"".contains($0) }
        return "“\(Columns.clip(inner, to: max(1, columns - 2)))”"
    }

    /// One line that cannot command the terminal.
    static func line(_ text: String) -> String { DisplayText.line(text) }
}
