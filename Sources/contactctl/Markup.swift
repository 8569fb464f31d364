import BrokerFormatting

/// HTML or SVG. A text that is inserted with `\(…)` is escaped, so text from apps cannot become markup; only other
/// markup is inserted unchanged.
struct Markup: ExpressibleByStringInterpolation {
    private(set) var text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    static func += (left: inout Markup, right: Markup) { left.text += right.text }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ text: String) { self.text += Markup.escaped(text) }
        mutating func appendInterpolation(_ number: Int) { text += String(number) }
        mutating func appendInterpolation(_ markup: Markup) { text += markup.text }
        mutating func appendInterpolation(_ list: [Markup]) { for markup in list { text += markup.text } }
    }

    /// Drops control characters, line breaks, changes of direction and invisible characters, and escapes what has a
    /// meaning in HTML, also within a quoted attribute.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in DisplayText.line(text).unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
