/// Bidirectional text (Unicode Standard Annex #9).
public enum Bidirectional {
    /// Returns the text in an isolate if it has right-to-left letters, which could reorder the text around
    /// it. Any other text is unchanged, and so is an isolate.
    public static func isolated(_ text: String) -> String {
        isRightToLeft(text) && !isIsolate(text) ? "\u{2068}\(text)\u{2069}" : text
    }

    /// Whether the whole text is one isolate.
    static func isIsolate(_ text: String) -> Bool {
        var depth = 0
        var scalars = text.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\u{2066}", "\u{2067}", "\u{2068}": depth += 1
            case "\u{2069}": depth -= 1
            default: break
            }
            if depth <= 0 { return depth == 0 && scalar == "\u{2069}" && scalars.isEmpty }
        }
        return false
    }

    /// Whether the text has a scalar in a block of right-to-left scripts, assigned or not.
    static func isRightToLeft(_ text: String) -> Bool {
        text.unicodeScalars.contains {
            switch $0.value {
            case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
            default: false
            }
        }
    }
}
