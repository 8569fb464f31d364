/// Why a name could be mistaken for something else on a screen.
public enum Lookalike: Hashable, Sendable {
    /// The name has a key in brackets, as the agent shows its keys.
    case key
    /// One word has letters of alphabets with letters that look alike.
    case mixedAlphabets

    /// - Returns: `nil` for an ordinary name.
    public init?(_ name: String) {
        if Self.looksLikeKey(name) {
            self = .key
        } else if name.split(whereSeparator: { !$0.isLetter }).contains(where: Self.mixesAlphabets) {
            self = .mixedAlphabets
        } else {
            return nil
        }
    }

    /// Returns a text that cannot be mistaken for the text around it. Harmless characters stay: letters and digits
    /// from left to right, spaces, and `._-+/@`. Any other character becomes its code point, such as `U+FF3B`. If the
    /// text is a look-alike, only the letters and digits of ASCII are harmless.
    ///
    /// - Parameter maximum: the number of characters after which the result is cut.
    public static func spelled(_ text: String, maximum: Int = .max) -> String {
        let isOrdinary = Lookalike(text) == nil
        var spelled = ""
        for scalar in text.unicodeScalars {
            guard spelled.unicodeScalars.count < maximum else { return spelled + "..." }
            if isHarmless(scalar, isOrdinary) {
                spelled.unicodeScalars.append(scalar)
            } else {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                spelled += "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            }
        }
        return spelled
    }

    private static func isHarmless(_ scalar: Unicode.Scalar, _ isOrdinary: Bool) -> Bool {
        switch scalar.value {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: return true
        case 0x00...0x7F: return " ._-+/@".unicodeScalars.contains(scalar)
        // The blocks of scripts that are written from right to left.
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: return false
        default: break
        }
        let properties = scalar.properties
        switch properties.generalCategory {
        // Not modifier letters: some of them look like quotation marks.
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber:
            return isOrdinary && !properties.isDefaultIgnorableCodePoint
        default: return false
        }
    }

    /// Whether the text has brackets of any kind around something. Parentheses and quotation marks, which many names
    /// have, count only around a single letter of an alphabet.
    private static func looksLikeKey(_ text: String) -> Bool {
        var isOpen = false
        // What follows the last opening bracket.
        var inner = ""
        for character in text where !character.isWhitespace {
            switch character.unicodeScalars.first?.properties.generalCategory {
            case .openPunctuation, .initialPunctuation:
                isOpen = true
                inner = ""
            case .closePunctuation, .finalPunctuation:
                guard isOpen else { break }
                let isUsual = ")）”’»›」』》〉".contains(character)
                if !isUsual || inner.count == 1 && inner.allSatisfy(\.isCased) { return true }
            default: inner.append(character)
            }
        }
        return false
    }

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
