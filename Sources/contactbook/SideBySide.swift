import BrokerCommandOutput
import BrokerContactFiles
import BrokerFormatting
import BrokerModel

/// Shows two contacts side by side in columns.
enum SideBySide {
    typealias Column = (heading: String, contact: Contact)

    static func lines(_ one: Column, _ other: Column) -> [String] {
        let left = ContactCard.lines(WireContact(contact: one.contact, keys: .all))
        let right = ContactCard.lines(WireContact(contact: other.contact, keys: .all))
        let width = max(20, (min(Speech.columns, 160) - 3) / 2)
        func row(_ one: String, _ other: String) -> String {
            var line = DisplayText.line(one).isEmpty ? String(repeating: " ", count: width) : cell(one, width)
            line += " │ " + cut(other, width)
            while line.last == " " { line.removeLast() }
            return line
        }
        var lines = [row(one.heading, other.heading)]
        for place in 0..<max(left.count, right.count) {
            lines.append(row(place < left.count ? left[place] : "", place < right.count ? right[place] : ""))
        }
        return lines
    }

    /// Truncates a line but keeps its indentation, which shows the structure.
    private static func cut(_ line: String, _ width: Int) -> String {
        let indent = line.prefix { $0 == " " }
        let words = line.dropFirst(indent.count).split(separator: "  ", omittingEmptySubsequences: true)
        let text = words.map { DisplayText.line(String($0)) }.joined(separator: "  ")
        return indent + DisplayText.line(text, columns: width - indent.count)
    }

    private static func cell(_ line: String, _ width: Int) -> String {
        let text = cut(line, width)
        return text + String(repeating: " ", count: max(0, width - DisplayText.columns(of: text)))
    }
}

extension DuplicateEvidence {
    /// Why two contacts seem to be one person, after a colon.
    var reason: String {
        switch self {
        case .uid: "the same UID"
        case .nameAndEmail: "the same name and a common e-mail address"
        case .nameAndPhone: "the same name and a common phone number"
        case .sameCard: "the same card"
        }
    }
}
