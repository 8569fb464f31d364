/// A line of text that is being typed, such as a query.
struct LineEditor: Hashable {
    /// The usual maximum length of a line, in characters. Names are shorter.
    static let maximumLength = 100

    private(set) var text: String
    private let maximum: Int

    init(_ text: String = "", maximum: Int = maximumLength) {
        self.text = String(text.prefix(maximum))
        self.maximum = maximum
    }

    /// Whether a text is one line that is not too long.
    static func canHold(_ text: String) -> Bool {
        text.count <= maximumLength && text.allSatisfy(isPermitted)
    }

    private static func isPermitted(_ character: Character) -> Bool {
        !character.isNewline && character.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// - Returns: whether the line changed.
    mutating func press(_ key: Key) -> Bool {
        let before = text
        switch key {
        case .character(let character): insert(character)
        case .paste(let pasted): pasted.forEach { insert($0) }
        case .line(let line):
            text = ""
            line.forEach { insert($0) }
        case .backspace: if !text.isEmpty { text.removeLast() }
        case .erase: text = ""
        default: break
        }
        return text != before
    }

    private mutating func insert(_ character: Character) {
        guard text.count < maximum, Self.isPermitted(character) else { return }
        text.append(character)
    }
}
