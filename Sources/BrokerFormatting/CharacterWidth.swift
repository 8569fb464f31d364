import CBrokerICU

/// How many columns of a terminal a character takes (Unicode Standard Annex #11).
enum CharacterWidth {
    /// 0 for what has no place of its own, 2 for East Asian wide and full-width characters and for emoji, else 1.
    static func columns(of scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return 1 }
        switch value {
        // Vowels and final consonants of Hangul syllables that are written in parts: they stand in the first one's place.
        case 0x1160...0x11FF, 0xD7B0...0xD7FB: return 0
        // Two of them are one flag.
        case 0x1F1E6...0x1F1FF: return 1
        default: break
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return scalar.properties.isEmojiPresentation || cicu_is_wide(value) == 1 ? 2 : 1
        }
    }
}
