import CBrokerICU

/// The number of terminal columns of a scalar (Unicode Standard Annex #11).
enum CharacterWidth {
    /// Returns 0 for scalars that take no column, 2 for East Asian wide and full-width characters and emoji,
    /// otherwise 1.
    static func columns(of scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return 1 }
        switch value {
        // Vowels and final consonants of decomposed Hangul syllables share the column of the leading consonant.
        case 0x1160...0x11FF, 0xD7B0...0xD7FB: return 0
        // Two regional indicators form one flag of two columns.
        case 0x1F1E6...0x1F1FF: return 1
        default: break
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return scalar.properties.isEmojiPresentation || cicu_is_wide(value) == 1 ? 2 : 1
        }
    }
}
