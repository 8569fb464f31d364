/// Breaks text into lines: at spaces, and between characters of scripts without spaces. Implements the part
/// of Unicode Standard Annex #14 that the agent's texts need.
enum LineBreaker {
    static func lines(of text: String, columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for piece in pieces(of: text) {
            // Two or more spaces separate pieces. A piece can be a choice with its key, such as `[n] Next`.
            // It is split only if it does not fit on one line.
            if !line.isEmpty, Columns.width(line) + width(piece) > columns, width(piece) <= columns {
                lines.append(line)
                line = ""
            }
            for part in parts(of: piece) {
                if !line.isEmpty, Columns.width(line) + width(part) > columns {
                    lines.append(line)
                    line = ""
                }
                line += part
            }
        }
        if !line.isEmpty { lines.append(line) }
        return directed(lines)
    }

    /// The width without trailing spaces.
    private static func width(_ part: String) -> Int { Columns.width(trimmed(part)) }

    private static func trimmed(_ part: String) -> String {
        part.lastIndex { $0 != " " }.map { String(part[...$0]) } ?? ""
    }

    /// The text split after each run of two or more spaces.
    private static func pieces(of text: String) -> [String] {
        var pieces: [String] = []
        var piece = ""
        for character in text {
            if character != " ", piece.hasSuffix("  "), !trimmed(piece).isEmpty {
                pieces.append(piece)
                piece = ""
            }
            piece.append(character)
        }
        return piece.isEmpty ? pieces : pieces + [piece]
    }

    /// Closes open isolates at the end of each line and reopens them in the next.
    private static func directed(_ lines: [String]) -> [String] {
        var open = ""
        return lines.map { line in
            let whole = open + line
            open = Isolates.open(in: whole)
            return Isolates.closed(trimmed(whole))
        }
    }

    /// The parts between which a line may break. A space belongs to the part before it.
    private static func parts(of text: String) -> [String] {
        var parts: [String] = []
        var part = ""
        var last: Character?
        for character in text {
            if let last, mayBreak(between: last, and: character) {
                parts.append(part)
                part = ""
            }
            part.append(character)
            // Zero-width direction marks do not count as the last character.
            if Columns.width(String(character)) > 0 { last = character }
        }
        return part.isEmpty ? parts : parts + [part]
    }

    private static func mayBreak(between last: Character, and next: Character) -> Bool {
        if next == " " || isMark(next) { return false }
        if last == " " { return true }
        guard isWide(last) || isWide(next) else { return false }
        return !closing.contains(next) && !opening.contains(last)
    }

    private static func isMark(_ character: Character) -> Bool { character.unicodeScalars.first == Isolates.end }
    private static func isWide(_ character: Character) -> Bool { Columns.width(String(character)) > 1 }

    /// In Chinese and Japanese, a line may not begin with a closing character, nor end with an opening one.
    private static let closing: Set<Character> = Set("、。，．：；！？）」』】》〉”’…ー々・·)]}:;,.?!%")
    private static let opening: Set<Character> = Set("（「『【《〈“‘([{")
}
