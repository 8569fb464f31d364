import BrokerFormatting
import BrokerModel

/// Formats untrusted text so that the person cannot mistake it for this program's own words.
enum ShownText {
    /// Returns the text in quotation marks, cut to this many columns. The text inside cannot close the
    /// quotation marks.
    static func quoted(_ text: String, columns: Int, _ names: LocalizedNames) -> String {
        let inner = line(text).filter { !quotationMarks.contains($0) }
        return names.isolated(names.quoted(Columns.clip(inner, to: max(1, columns - names.quotationColumns))))
    }

    /// Returns an app's name in quotation marks. The app may have chosen the name so that it looks like something else.
    static func app(_ name: String, columns: Int, _ names: LocalizedNames) -> String {
        quoted(unmistakable(name), columns: columns, names)
    }

    /// Returns what identifies an app as one line. A look-alike has code points in place of the misleading characters.
    static func unmistakable(_ text: String) -> String {
        let line = line(text)
        return Lookalike(line) == nil ? line : Lookalike.spelled(line)
    }

    /// The quotation marks of all languages, and marks that look like them.
    private static let quotationMarks: Set<Character> = [
        "\"", "“", "”", "„", "‟", "«", "»", "「", "」", "『", "』", "〝", "〞", "＂",
    ]

    /// Returns the text as one line, without characters that control the terminal.
    static func line(_ text: String) -> String { DisplayText.line(text) }
}

extension Lookalike {
    /// Why the person should look at the name twice; `nil` for an ordinary name.
    static func warning(_ name: String) -> Phrase? {
        switch Lookalike(name) {
        case .key: .looksLikeKey
        case .mixedAlphabets: .mixedAlphabets
        case nil: nil
        }
    }
}
