import BrokerFormatting

/// How contacts are found in a prompt: a query that is typed, and what it finds beneath, page by page.
struct Finder: Hashable {
    private(set) var query = LineEditor()
    /// The query is being typed; otherwise keys are about the list.
    var isTyping = false

    /// Rows of a page.
    static func limit(on size: ScreenSize) -> Int { max(1, min(ContactList.maximumPage, size.rows - 7)) }

    enum Pressed: Hashable {
        /// What is found from here on is wanted.
        case search(from: Int)
        case refuse
        case nothing
    }

    /// A key while the query is typed: Return leads to the list, and Escape refuses.
    mutating func type(_ key: Key) -> Pressed {
        switch key {
        case .enter:
            isTyping = false
            return .nothing
        case .escape: return .refuse
        case .character, .backspace, .erase, .paste, .other: return query.press(key) ? .search(from: 0) : .nothing
        }
    }

    /// A key that is the list's, whatever it is a list for; `nil` for every other one.
    mutating func press(_ key: Key, in list: ContactList, on size: ScreenSize) -> Pressed? {
        switch key {
        case .character("d"), .enter, .escape: return .refuse
        case .character("/"):
            isTyping = true
            return .nothing
        case .character("n"): return list.nextOffset.map { .search(from: $0) } ?? .nothing
        case .character("p"): return list.previousOffset(Self.limit(on: size)).map { .search(from: $0) } ?? .nothing
        case .character, .backspace, .erase, .paste, .other: return nil
        }
    }

    func search(from offset: Int, on size: ScreenSize) -> Effect {
        .search(query: query.text, offset: offset, limit: Self.limit(on: size))
    }

    /// The line above the list.
    func line(_ names: LocalizedNames) -> StyledLine {
        isTyping
            ? .bold(names.text(.search) + " ") + StyledLine(query.text + "_")
            : .dim("\(names.text(.search)) \(ShownText.line(query.text))   [/] \(names.text(.change))")
    }
}

extension Key {
    /// The number on the page that it chooses.
    var number: Int? {
        guard case .character(let digit) = self, digit.isASCII else { return nil }
        return digit.wholeNumberValue
    }
}
