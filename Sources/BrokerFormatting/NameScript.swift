/// The script of a name. It determines the order of the parts and the delimiter.
enum NameScript: Hashable {
    /// Chinese characters only: Chinese names and most Japanese names.
    case han
    /// Hiragana, or katakana together with Chinese characters.
    case japanese
    /// Katakana only: a foreign name in Japanese letters.
    case katakana
    /// Chinese characters that transcribe a foreign name.
    case hanBySound
    case hangul
    /// Latin letters, some of which only Vietnamese has.
    case vietnamese
    case other

    /// - Parameter language: the reader's language, such as `zh`.
    init(given: String, middle: String, family: String, language: String?) {
        let (name, parts) = (given + middle + family, [given, middle, family])
        var (han, hiragana, katakana, hangul, others) = (0, 0, 0, 0, 0)
        for scalar in name.unicodeScalars {
            switch scalar.value {
            case 0x3005...0x3007, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFD: han += 1
            case 0x3041...0x3096, 0x309D...0x309F: hiragana += 1
            case 0x30A1...0x30FA, 0x30FC...0x30FF: katakana += 1
            case 0x1100...0x11FF, 0x3131...0x318E, 0xA960...0xA97C, 0xAC00...0xD7FB: hangul += 1
            case 0x00B7, 0x30FB: break
            default: others += 1
            }
        }
        if others > 0 || han + hiragana + katakana + hangul == 0 {
            self = name.unicodeScalars.contains(where: Self.isVietnamese) ? .vietnamese : .other
        } else if hangul > 0 {
            self = hiragana + katakana == 0 ? .hangul : .other
        } else if hiragana == 0, han == 0 {
            self = .katakana
        } else if hiragana + katakana > 0 {
            self = .japanese
        } else {
            // Chinese family and given names have one or two characters each. Longer parts mean a foreign
            // name only for readers of Chinese, because Japanese names can be longer too.
            let isLong = language == "zh" && parts.contains { $0.unicodeScalars.count > 2 }
            let hasDot = name.unicodeScalars.contains { $0 == "·" || $0 == "・" }
            self = isLong || hasDot ? .hanBySound : .han
        }
    }

    /// The text between family and given name.
    var delimiter: String {
        switch self {
        case .han, .japanese, .hangul: ""
        case .katakana: "・"
        case .hanBySound: "·"
        case .vietnamese, .other: " "
        }
    }

    /// Whether titles follow the name (Unicode CLDR, person name formats).
    var hasTitlesAfter: Bool {
        switch self {
        case .han, .japanese, .katakana, .hanBySound, .hangul: true
        case .vietnamese, .other: false
        }
    }

    /// Whether only Vietnamese has the letter: it has a horn or a hook above, or both a vowel mark and a tone
    /// mark. Other languages also use letters with only a dot below or a tilde.
    private static func isVietnamese(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x01A0, 0x01A1, 0x01AF, 0x01B0, 0x1EA2...0x1EB7, 0x1EBA, 0x1EBB, 0x1EBE...0x1EC9, 0x1ECE...0x1EE3,
            0x1EE6...0x1EF1, 0x1EF6, 0x1EF7:
            true
        default: false
        }
    }
}
