/// Makes untrusted text safe for one line of a terminal.
///
/// Prompts show names and purposes of apps, and contacts' names. An escape sequence, a line break, a change
/// of direction or invisible letters in them could falsify the prompt. Only visible characters that do not
/// change the text around them are kept. All other characters are dropped or become a space.
public enum DisplayText {
    /// The maximum number of Unicode scalars to read from a text. A line shows far fewer, and a value may
    /// have far more.
    public static let inputSize = 65_536
    /// The maximum number of marks on one letter. More marks would reach into the lines above and below.
    static let marks = 4

    /// Returns one line of visible characters. A run of white space becomes one space, and white space at the
    /// ends is removed.
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
                // A mark at the beginning, or after a space, would combine with the text before it.
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

    /// Whether the text is visible ASCII with single spaces between words, as most texts are. Such a text
    /// needs no change.
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

    /// Returns one line of at most this many columns. Longer text is cut and ends with an ellipsis.
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

    /// Returns one line of at most this many columns. Longer text keeps its beginning and its end, with an ellipsis
    /// between them. The end gets the larger part, because the last part of a path tells two paths apart.
    public static func middle(_ text: String, columns: Int) -> String {
        let line = line(text)
        guard self.columns(of: line) > columns else { return line }
        guard columns > 2 else { return self.line(line, columns: columns) }
        let scalars = Array(line.unicodeScalars)
        func taken(_ scalars: some Sequence<Unicode.Scalar>, _ room: Int) -> [Unicode.Scalar] {
            var used = 0
            return scalars.prefix {
                used += CharacterWidth.columns(of: $0)
                return used <= room
            }
        }
        let first = taken(scalars, (columns - 1) / 3)
        let used = first.reduce(0) { $0 + CharacterWidth.columns(of: $1) }
        let last = taken(scalars.reversed(), columns - 1 - used)
        var view = String.UnicodeScalarView(first)
        view.append("…")
        view.append(contentsOf: last.reversed())
        return String(view)
    }

    /// Returns the same as ``line(_:columns:)``, padded with spaces to the width, for tables.
    public static func cell(_ text: String, columns: Int) -> String {
        let line = line(text, columns: columns)
        return line + String(repeating: " ", count: max(0, columns - self.columns(of: line)))
    }

    /// Returns the number of columns of a line. Scalars are counted one by one, so the result is never too
    /// small. A terminal that joins emoji into one picture needs fewer columns.
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
            // Line feed, tab and other white space separate words; an escape character does not.
            return properties.isWhitespace ? .space : .drop
        case .lineSeparator, .paragraphSeparator, .spaceSeparator: return .space
        // Direction overrides, isolates and marks, zero-width characters, soft hyphens, tags, annotations; surrogates;
        // private-use scalars, which have no standard glyph; unassigned scalars, on which a later terminal may act.
        case .format, .surrogate, .privateUse, .unassigned: return .drop
        case .nonspacingMark, .enclosingMark, .spacingMark:
            // Variation selectors and similar marks are invisible.
            return properties.isDefaultIgnorableCodePoint ? .drop : .mark
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .connectorPunctuation, .dashPunctuation, .openPunctuation,
            .closePunctuation, .initialPunctuation, .finalPunctuation, .otherPunctuation, .mathSymbol,
            .currencySymbol, .modifierSymbol, .otherSymbol:
            // Hangul fillers are invisible letters. The Braille pattern without dots is blank too.
            return properties.isDefaultIgnorableCodePoint ? .drop : scalar.value == 0x2800 ? .space : .keep
        @unknown default: return .drop
        }
    }
}
