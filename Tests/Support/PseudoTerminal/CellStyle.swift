/// How a cell of a screen looks (ECMA-48 §8.3.117).
public struct CellStyle: Hashable, Sendable {
    public var isBold = false
    public var isDim = false
    public var isUnderlined = false
    public var isReverse = false
    /// Whether the text is invisible.
    public var isConcealed = false
    /// The number of the text's colour; `nil` for the terminal's own.
    public var colour: Int?
    public var background: Int?

    public init() {}

    /// Applies the parameters of SGR, among which an empty one is 0.
    mutating func apply(_ parameters: [Int]) {
        var left = parameters.isEmpty ? [0] : parameters[...]
        while let number = left.popFirst() {
            switch number {
            case 0: self = CellStyle()
            case 1: isBold = true
            case 2: isDim = true
            case 4: isUnderlined = true
            case 7: isReverse = true
            case 8: isConcealed = true
            case 22: (isBold, isDim) = (false, false)
            case 24: isUnderlined = false
            case 27: isReverse = false
            case 28: isConcealed = false
            case 30...37: colour = number - 30
            case 38: colour = Self.extended(&left)
            case 39: colour = nil
            case 40...47: background = number - 40
            case 48: background = Self.extended(&left)
            case 49: background = nil
            case 90...97: colour = number - 82
            case 100...107: background = number - 92
            default: break
            }
        }
    }

    /// Takes the rest of `38;5;N`, or `38;2;R;G;B`, which counts as no colour.
    private static func extended(_ left: inout ArraySlice<Int>) -> Int? {
        switch left.popFirst() {
        case 5: return left.popFirst()
        case 2:
            left = left.dropFirst(3)
            return nil
        default: return nil
        }
    }
}
