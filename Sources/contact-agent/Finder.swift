import BrokerFormatting

/// A list of contacts with a search. Characters that the person types are the query, except that Space marks
/// the contact at the cursor. After `/` Space belongs to the query, too, so that it can have several words.
struct Finder: Hashable {
    private(set) var query = LineEditor()
    var list = ContactList()
    /// Whether the person has pressed `/`, so that every character belongs to the query.
    private(set) var isTyping = false
    /// `true` lists only contacts that the app can already see; `nil` if the dialogue has no such filter.
    var listsShared: Bool?

    /// What a key does.
    enum Outcome: Hashable {
        /// The finder does not use the key.
        case unused
        case effect(Effect)
        /// The person has finished choosing.
        case goOn
    }

    init(query: String = "") { self.query = LineEditor(query) }

    /// The number of rows on one page: the screen without the title, the question, the query, the marked
    /// contacts and the hints.
    static func page(on size: ScreenSize) -> Int { max(1, size.rows - 5) }

    /// Whether leaving the list would lose what the person typed or marked.
    var hasWork: Bool { list.hasChanges || isTyping || isEdited && !query.text.isEmpty }
    /// Whether the person has typed, moved or marked.
    private(set) var isEdited = false

    mutating func press(_ key: Key, on size: ScreenSize) -> Outcome {
        let page = Self.page(on: size)
        if isTyping, key == .enter || key == .tab {
            isTyping = false
            return .effect(.nothing)
        }
        if list.move(key, page: page) {
            isEdited = true
            isTyping = false
            if case .row = key { return mark(on: size) }
            return .effect(loadMissing(on: size))
        }
        switch key {
        case .enter: return .goOn
        case .character(" ") where !isTyping: return mark(on: size)
        case .character("/") where !isTyping:
            isTyping = true
            // A query is for finding contacts to add, so it searches all contacts.
            guard listsShared == true else { return .effect(.nothing) }
            listsShared = false
            return .effect(start(on: size))
        case .character, .backspace, .erase, .paste, .line:
            guard query.press(key) else { return .effect(.nothing) }
            isEdited = true
            if listsShared == true { listsShared = false }
            return .effect(start(on: size))
        case .escape, .delete, .tab, .backTab, .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .click,
            .scrollUp, .scrollDown, .row, .other:
            return .unused
        }
    }

    /// Marks the contact at the cursor. A query has then served its purpose and is cleared, so that the next
    /// characters search for the next contact.
    private mutating func mark(on size: ScreenSize) -> Outcome {
        isEdited = true
        guard list.toggle(), !query.text.isEmpty else { return .effect(.nothing) }
        query = LineEditor()
        return .effect(start(on: size))
    }

    /// Marks the contact at the cursor if the person searched for it, or if nothing is marked.
    mutating func takeCurrent() {
        if !list.hasChanges || isEdited && !query.text.isEmpty { list.mark() }
    }

    /// Searches from the first row.
    mutating func start(on size: ScreenSize) -> Effect {
        list.rewind()
        return search(from: 0, on: size)
    }

    /// Adapts to another size.
    mutating func resized(to size: ScreenSize) -> Effect {
        list.fit(Self.page(on: size))
        return list.isLoaded ? loadMissing(on: size) : search(from: 0, on: size)
    }

    private func loadMissing(on size: ScreenSize) -> Effect {
        guard let offset = list.missing(page: Self.page(on: size)) else { return .nothing }
        return .search(
            query: query.text, offset: offset, limit: ContactList.maximumLoaded, sharedOnly: listsShared == true)
    }

    private func search(from offset: Int, on size: ScreenSize) -> Effect {
        // Two pages, so that the next PageDown needs no search.
        let limit = min(ContactList.maximumLoaded, 2 * Self.page(on: size))
        return .search(query: query.text, offset: offset, limit: limit, sharedOnly: listsShared == true)
    }

    // MARK: - Lines

    /// The lines of the whole screen.
    ///
    /// - Parameter heading: shown instead of the query while there is none.
    func lines(
        _ title: StyledLine, heading: String? = nil, on size: ScreenSize, _ names: LocalizedNames
    ) -> [StyledLine] {
        let page = Self.page(on: size)
        let place = list.place(page: page, names)
        let room = size.columns - Columns.width(place) - 3
        let text = query.text.isEmpty && !isTyping ? heading : nil
        let typed =
            names.text(.search) + " " + (isTyping || !query.text.isEmpty ? names.isolated(query.text + "_") : "")
        let line = Columns.pad(text ?? typed, to: max(8, room)) + "  "
        return [title, StyledLine(line, text == nil ? .bold : .plain) + .dim(place)]
            + list.lines(page: page, columns: size.columns, query: query.text, names)
            + list.remark(columns: size.columns, names)
    }

    /// The hints of a list. `goOn` names the action of Return.
    func hints(_ names: LocalizedNames, goOn: String, refuse: String, canMark: Bool = true) -> [Hint] {
        let mark = canMark && !isTyping ? [Hint(key: "Space", words: names.text(.hintMark))] : []
        let search = isTyping ? [] : [Hint(key: "/", words: names.text(.hintSearch))]
        return mark + [Hint(key: "Return", words: isTyping ? names.text(.hintToList) : goOn)]
            + [Hint(key: "Esc", words: refuse)] + search
            + (isTyping ? [] : [Hint(key: "?", words: names.text(.hintHelp))])
    }
}
