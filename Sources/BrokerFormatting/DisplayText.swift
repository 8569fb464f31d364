/// Text from strangers made fit for one line of a terminal.
///
/// A contact's name, an app's name and its purpose are shown beside the question that they could otherwise
/// rewrite: with an escape sequence, a line break, a change of direction, or letters nobody can see. What is kept are
/// characters that show as themselves where they stand; everything else is left out or is a space.
public enum DisplayText {
    /// Most bytes of a text that are looked at: far more than a line shows, far less than a value may hold.
    static let inputSize = 65_536
    /// Marks that one letter may carry; more of them would climb over the lines above and below.
    static let marks = 4

    /// One line that holds nothing but what can be seen. Runs of white space are one space; none at the ends.
    public static func line(_ text: String) -> String {
        if isLine(text) { return text }
        var line = String.UnicodeScalarView()
        var pendingSpace = false
        var marksHere = 0
        var seen = 0
        for scalar in text.unicodeScalars {
            seen += 1
            if seen > inputSize { break }
            switch treatment(of: scalar) {
            case .drop: continue
            case .space: pendingSpace = !line.isEmpty
            case .mark:
                // A mark at the beginning, or after a space, would join what stands before the text.
                guard !line.isEmpty, !pendingSpace, marksHere < marks else { continue }
                marksHere += 1
                line.append(scalar)
            case .keep:
                if pendingSpace { line.append(" ") }
                pendingSpace = false
                marksHere = 0
                line.append(scalar)
            }
        }
        return String(line)
    }

    /// Whether a text is such a line as it is, as most are: visible ASCII, with single spaces between.
    private static func isLine(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count <= inputSize else { return false }
        var last = UInt8(ascii: " ")
        for byte in bytes {
            guard (0x20...0x7E).contains(byte), byte != last || byte != UInt8(ascii: " ") else { return false }
            last = byte
        }
        return last != UInt8(ascii: " ") || bytes.isEmpty
    }

    /// One line of at most so many columns; what does not fit is cut, and an ellipsis says so.
    public static func line(_ text: String, columns: Int) -> String {
        let line = line(text)
        guard self.columns(of: line) > columns else { return line }
        guard columns > 0 else { return "" }
        var clipped = String.UnicodeScalarView()
        var used = 0
        for scalar in line.unicodeScalars {
            let width = CharacterWidth.columns(of: scalar)
            guard used + width <= columns - 1 else { break }
            used += width
            clipped.append(scalar)
        }
        while clipped.last == " " { clipped.removeLast() }
        clipped.append("…")
        return String(clipped)
    }

    /// The same, filled with spaces up to the width: for tables.
    public static func cell(_ text: String, columns: Int) -> String {
        let line = line(text, columns: columns)
        return line + String(repeating: " ", count: max(0, columns - self.columns(of: line)))
    }

    /// How many columns a line takes. Counted by character, never less than a terminal takes: one that joins emoji into
    /// one picture leaves room, none is overrun.
    public static func columns(of line: String) -> Int {
        line.unicodeScalars.reduce(0) { $0 + CharacterWidth.columns(of: $1) }
    }

    private enum Treatment {
        case keep, mark, space, drop
    }

    private static func treatment(of scalar: Unicode.Scalar) -> Treatment {
        if (0x20...0x7E).contains(scalar.value) { return scalar == " " ? .space : .keep }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control:
            // Line feed, tab and their kin part words; an escape parts nothing.
            return properties.isWhitespace ? .space : .drop
        case .lineSeparator, .paragraphSeparator, .spaceSeparator: return .space
        // Overrides, isolates and marks of direction, zero-width characters, soft hyphens, tags, annotations; halves of
        // characters; what no font shows; what nobody assigned yet and a later terminal may act on.
        case .format, .surrogate, .privateUse, .unassigned: return .drop
        case .nonspacingMark, .enclosingMark, .spacingMark:
            // Variation selectors and their kin are marks that show as nothing.
            return properties.isDefaultIgnorableCodePoint ? .drop : .mark
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .connectorPunctuation, .dashPunctuation, .openPunctuation,
            .closePunctuation, .initialPunctuation, .finalPunctuation, .otherPunctuation, .mathSymbol,
            .currencySymbol, .modifierSymbol, .otherSymbol:
            // Hangul fillers are letters that show as nothing; so does the Braille pattern without dots.
            return properties.isDefaultIgnorableCodePoint ? .drop : scalar.value == 0x2800 ? .space : .keep
        @unknown default: return .drop
        }
    }
}
