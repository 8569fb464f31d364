/// Breaks text into lines: at spaces, and between the characters of scripts that have none (after Unicode Standard Annex
/// #14, as far as these texts need it).
enum LineBreaker {
    static func lines(of text: String, columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for piece in pieces(of: text) {
            // What stands apart by two spaces, such as a key and what it does, is not taken apart where it need not be.
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

    /// Without the spaces at its end.
    private static func width(_ part: String) -> Int { Columns.width(trimmed(part)) }

    private static func trimmed(_ part: String) -> String {
        part.lastIndex { $0 != " " }.map { String(part[...$0]) } ?? ""
    }

    /// The text cut after each two spaces.
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

    /// What is set apart in one line goes on in the next.
    private static func directed(_ lines: [String]) -> [String] {
        var open = ""
        return lines.map { line in
            let whole = open + line
            open = Isolates.open(in: whole)
            return Isolates.closed(trimmed(whole))
        }
    }

    /// Pieces between which a line may end; a space belongs to the piece before it.
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
            // Marks of direction stand with what follows or precedes them.
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

    /// What begins no line, and what ends none, in Chinese and Japanese.
    private static let closing: Set<Character> = Set("、。，．：；！？）」』】》〉”’…ー々・·)]}:;,.?!%")
    private static let opening: Set<Character> = Set("（「『【《〈“‘([{")
}
