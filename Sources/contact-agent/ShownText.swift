import BrokerFormatting

/// Formats untrusted text so that the person cannot mistake it for this program's own words.
enum ShownText {
    /// Returns the text in quotation marks, cut to this many columns. The text inside cannot close the
    /// quotation marks.
    static func quoted(_ text: String, columns: Int, _ names: LocalizedNames) -> String {
        let inner = line(text).filter { !quotationMarks.contains($0) }
        return names.isolated(names.quoted(Columns.clip(inner, to: max(1, columns - names.quotationColumns))))
    }

    /// The quotation marks of all languages, and marks that look like them.
    private static let quotationMarks: Set<Character> = [
        "\"", "“", "”", "„", "‟", "«", "»", "「", "」", "『", "』", "〝", "〞", "＂",
    ]

    /// Returns the text as one line, without characters that control the terminal.
    static func line(_ text: String) -> String { DisplayText.line(text) }
}
