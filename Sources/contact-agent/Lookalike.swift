import BrokerFormatting

/// Recognises names that could be mistaken for something else on the screen.
enum Lookalike {
    /// Why the person should look at the name twice; `nil` for an ordinary name.
    static func warning(_ name: String) -> Phrase? {
        if looksLikeKey(name) { return .looksLikeKey }
        return name.split(whereSeparator: { !$0.isLetter }).contains(where: mixesAlphabets) ? .mixedAlphabets : nil
    }

    /// Whether the text has a key in brackets, as this program shows its own keys.
    private static func looksLikeKey(_ text: String) -> Bool {
        guard let open = text.firstIndex(where: { "[［〔【".contains($0) }) else { return false }
        return text[open...].contains { "]］〕】".contains($0) }
    }

    /// Whether one word has letters of alphabets with letters that look alike.
    private static func mixesAlphabets(_ word: Substring) -> Bool {
        var found: Set<Int> = []
        for scalar in word.unicodeScalars {
            switch scalar.value {
            case 0x41...0x5A, 0x61...0x7A, 0xC0...0x24F, 0x1E00...0x1EFF: found.insert(0)
            case 0x370...0x3FF, 0x1F00...0x1FFF: found.insert(1)
            case 0x400...0x52F, 0x1C80...0x1C8F, 0x2DE0...0x2DFF, 0xA640...0xA69F: found.insert(2)
            case 0x530...0x58F: found.insert(3)
            case 0x13A0...0x13FF, 0xAB70...0xABBF: found.insert(4)
            default: break
            }
        }
        return found.count > 1
    }
}
