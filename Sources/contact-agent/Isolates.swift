/// Text that is set apart, so that its direction changes nothing around it (Unicode Standard Annex #9).
enum Isolates {
    /// U+2069, which ends the innermost.
    static let end: Unicode.Scalar = "\u{2069}"

    /// From right to left, or as its first letter is: those that ``LocalizedNames`` writes.
    static func starts(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{2067}" || scalar == "\u{2068}" }

    /// Those that begin in the text and do not end in it, in their order.
    static func open(in text: String) -> String {
        var open = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if starts(scalar) { open.append(scalar) }
            if scalar == end { _ = open.popLast() }
        }
        return String(open)
    }

    /// The text with an end for each of them.
    static func closed(_ text: String) -> String {
        text + String(repeating: Character(end), count: open(in: text).unicodeScalars.count)
    }
}
