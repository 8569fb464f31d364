import BrokerFormatting

/// The search in a prompt: the query and the pages of results below it.
struct Finder: Hashable {
    private(set) var query = LineEditor()
    var list = ContactList()
    /// Whether the person is typing the query; otherwise keys act on the list.
    private(set) var isTyping = false
    /// `true` lists only contacts that the app can already see; `nil` if the dialogue has no such filter.
    var listsShared: Bool?

    /// The number of rows on one page.
    static func limit(on size: ScreenSize) -> Int { max(1, min(ContactList.maximumPage, size.rows - 7)) }

    /// Starts typing a query.
    mutating func start(on size: ScreenSize) -> Effect {
        isTyping = true
        return search(from: 0, on: size)
    }

    /// - Returns: `nil` if the finder does not use the key.
    mutating func press(_ key: Key, on size: ScreenSize) -> Effect? {
        if isTyping { return type(key, on: size) }
        guard case .character(let character) = key else { return nil }
        if character == "/" {
            isTyping = true
            guard listsShared != nil else { return .nothing }
            // A query is for finding contacts to add, so it searches all contacts.
            listsShared = false
            return search(from: 0, on: size)
        }
        return list.offset(after: character, by: Self.limit(on: size)).map { search(from: $0, on: size) }
    }

    /// Handles a key while the person types the query. After Return, keys act on the list.
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

    /// The lines of the whole screen.
    ///
    /// - Parameters:
    ///   - heading: shown above the list while the person is not typing; by default the query.
    ///   - choices: shown below the list while the person is not typing.
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
