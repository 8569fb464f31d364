import BrokerAccessControl
import BrokerCommandOutput
import BrokerJSON

/// Audit records for programs: the names of events, and comma-separated values.
enum AuditWords {
    static let events = AuditEvent.allCases.map(\.rawValue)

    private static let columns = [
        "time", "uid", "app", "strength", "event", "status", "contacts", "keys", "revision", "repeats", "detail",
    ]

    static let csvHeading = columns.joined(separator: ",")

    static func csv(_ record: JSONValue) -> String { csv(record, columns) }

    /// One line of comma-separated values. Several keys are separated by spaces. The column `answers.full` is the member
    /// `full` of the member `answers`.
    static func csv(_ record: JSONValue, _ columns: [String]) -> String {
        columns.map { column in
            let place = column.split(separator: ".").map(String.init)
            guard let value = place.reduce(Optional(record), { $0?[$1] }) else { return "" }
            if let text = value.string { return quoted(text) }
            if let strings = value.strings { return strings.joined(separator: " ") }
            return String(decoding: value.text, as: UTF8.self)
        }
        .joined(separator: ",")
    }

    /// Quotes a text if it has a comma or a quote (RFC 4180). A spreadsheet would take a text that begins with one of
    /// `=+-@` for a formula, so such a text gets a leading apostrophe. Characters that change the text around them or that
    /// nobody sees are written as `\u{…}`, so a record is one line, and a path looks like no other path.
    static func quoted(_ text: String) -> String {
        var safe = text.first.map("=+-@".contains) == true ? "'" : ""
        for scalar in text.unicodeScalars {
            if scalar.isShown { safe.unicodeScalars.append(scalar) } else { safe += scalar.codePoint }
        }
        guard safe.contains(where: { $0 == "," || $0 == "\"" }) else { return safe }
        return "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }
}
