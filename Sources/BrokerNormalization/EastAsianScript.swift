/// Scripts in which names are written without spaces. People often type such a name in Latin letters or as
/// initials.
enum EastAsianScript: Hashable {
    case chinese, japanese, korean

    /// Returns `nil` unless the text consists of letters of exactly one script, and possibly spaces.
    init?(_ folded: String) {
        var found: EastAsianScript?
        for scalar in folded.unicodeScalars {
            let script: EastAsianScript
            switch scalar.value {
            case 0x20: continue
            case 0xAC00...0xD7A3: script = .korean
            case 0x3041...0x309F, 0x30FC: script = .japanese
            case 0x3005...0x3007, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF:
                script = .chinese
            default: return nil
            }
            // Kana together with ideographs mean Japanese.
            switch (found, script) {
            case (nil, _): found = script
            case (.chinese, .japanese): found = .japanese
            case (.japanese, .chinese): break
            default: if found != script { return nil }
            }
        }
        guard let found else { return nil }
        self = found
    }
}

/// The initial consonants of Korean syllables (Unicode 3.12, Conjoining Jamo Behavior).
enum KoreanInitials {
    static func of(_ text: String) -> String {
        var initials = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where (0xAC00...0xD7A3).contains(scalar.value) {
            // Each of the 19 initial consonants has 21 × 28 syllables: 21 vowels, each with one of 27 final
            // consonants or none.
            if let initial = Unicode.Scalar(0x1100 + (scalar.value - 0xAC00) / (21 * 28)) { initials.append(initial) }
        }
        return String(initials)
    }
}
