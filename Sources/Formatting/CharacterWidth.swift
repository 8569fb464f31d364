/// How many columns of a terminal a character takes (Unicode Standard Annex #11).
enum CharacterWidth {
    /// 0 for marks, 2 for East Asian wide and full-width characters and for emoji, else 1.
    static func columns(of scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        return isWide(value) ? 2 : 1
    }

    /// Blocks of EastAsianWidth.txt that are `W` or `F`, rounded outwards to what is assigned in them: rather a column
    /// too many than one too few.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x2E80...0x303E, 0x3041...0x33FF,
        0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x16FFF, 0x17000...0x18DFF,
        0x1AFF0...0x1B2FF, 0x1D300...0x1D37F, 0x1F000...0x1FAFF, 0x20000...0x3FFFD,
    ]

    private static func isWide(_ value: UInt32) -> Bool {
        var low = 0
        var high = wide.count
        while low < high {
            let middle = (low + high) / 2
            if wide[middle].contains(value) { return true }
            if value < wide[middle].lowerBound { high = middle } else { low = middle + 1 }
        }
        return false
    }
}
