/// Direction of writing (Unicode Standard Annex #9).
public enum Bidirectional {
    /// The text set apart, where it has letters that would change the order of what stands around it.
    public static func isolated(_ text: String) -> String {
        isRightToLeft(text) ? "\u{2068}\(text)\u{2069}" : text
    }

    /// Whether anything in the text is written from right to left: letters of the blocks that are, assigned or not.
    static func isRightToLeft(_ text: String) -> Bool {
        text.unicodeScalars.contains {
            switch $0.value {
            case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
            default: false
            }
        }
    }
}
