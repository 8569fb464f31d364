/// Bidirectional isolates: text whose direction does not affect the text around it (Unicode Standard Annex
/// #9).
enum Isolates {
    /// U+2069, which ends the innermost isolate.
    static let end: Unicode.Scalar = "\u{2069}"

    /// Whether the scalar starts an isolate that ``LocalizedNames`` writes. Such an isolate is right-to-left,
    /// or has the direction of its first letter.
    static func starts(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{2067}" || scalar == "\u{2068}" }

    /// The start characters of the isolates that the text leaves open, in order.
    static func open(in text: String) -> String {
        var open = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if starts(scalar) { open.append(scalar) }
            if scalar == end { _ = open.popLast() }
        }
        return String(open)
    }

    /// The text with an end for each open isolate.
    static func closed(_ text: String) -> String { text + ends(for: text) }

    /// An end for each isolate that the text leaves open.
    static func ends(for text: String) -> String {
        String(repeating: Character(end), count: open(in: text).unicodeScalars.count)
    }
}
