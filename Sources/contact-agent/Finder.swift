import BrokerFormatting

/// How contacts are found in a prompt: a query that is typed, and what it finds beneath, page by page.
struct Finder: Hashable {
    private(set) var query = LineEditor()
    var list = ContactList()
    /// The query is being typed; otherwise keys are about the list.
    private(set) var isTyping = false
    /// Only contacts that the app sees already are listed; `nil` where the person has no such choice.
    var listsShared: Bool?

    /// Rows of a page.
    static func limit(on size: ScreenSize) -> Int { max(1, min(ContactList.maximumPage, size.rows - 7)) }

    /// Starts with the query.
    mutating func start(on size: ScreenSize) -> Effect {
        isTyping = true
        return search(from: 0, on: size)
    }

    /// - Returns: `nil` for a key that is neither the query's nor turns the page.
    mutating func press(_ key: Key, on size: ScreenSize) -> Effect? {
        if isTyping { return type(key, on: size) }
        guard case .character(let character) = key else { return nil }
        if character == "/" {
            isTyping = true
            guard listsShared != nil else { return .nothing }
            // Whoever types looks for somebody to add.
            listsShared = false
            return search(from: 0, on: size)
        }
        return list.offset(after: character, by: Self.limit(on: size)).map { search(from: $0, on: size) }
    }

    /// Return leads to the list.
    private mutating func type(_ key: Key, on size: ScreenSize) -> Effect? {
        switch key {
        case .escape: return nil
        case .enter:
            isTyping = false
            return .nothing
        case .character, .backspace, .erase, .paste, .other:
            return query.press(key) ? search(from: 0, on: size) : .nothing
        }
    }

    func search(from offset: Int, on size: ScreenSize) -> Effect {
        .search(query: query.text, offset: offset, limit: Self.limit(on: size), sharedOnly: listsShared == true)
    }

    /// The whole screen.
    ///
    /// - Parameters:
    ///   - heading: stands above the list while nothing is typed; by default the query.
    ///   - choices: what can be done while nothing is typed.
    func lines(
        _ title: StyledLine, heading: StyledLine? = nil, whileTyping: Phrase, choices: StyledLine, on size: ScreenSize,
        _ names: LocalizedNames
    ) -> [StyledLine] {
        let search = names.text(.search) + " "
        let typed = StyledLine.bold(search) + StyledLine(query.text + "_")
        let found = StyledLine.dim("\(search)\(ShownText.line(query.text))   [/] \(names.text(.change))")
        return [title, isTyping ? typed : heading ?? found] + list.lines(columns: size.columns, names)
            + [list.place(names), isTyping ? .dim(names.text(whileTyping)) : choices] + list.remark(names)
    }
}
