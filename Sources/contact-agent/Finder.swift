import BrokerFormatting

/// A list of contacts with a search. Every character that the person types belongs to the query, also Space; Tab marks
/// the contact at the cursor.
struct Finder: Hashable {
    /// The contacts that the list shows.
    enum Filter: Hashable {
        case all
        /// Those that the app can already see.
        case shared
        /// Those that the person marked or turned off.
        case marked
    }

    private(set) var query = LineEditor()
    var list = ContactList()
    var filter = Filter.all
    /// Whether the person can list the contacts that the app can already see.
    var offersShared = false
    /// Whether what the person types replaces the query: the app's query found nobody, or the query has served its purpose.
    private var isQuerySelected = false

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
    var hasWork: Bool { list.hasChanges || isEdited && !query.text.isEmpty }
    /// Whether the person has typed, moved or marked.
    private(set) var isEdited = false

    mutating func press(_ key: Key, on size: ScreenSize) -> Outcome {
        let page = Self.page(on: size)
        // In line mode, the number can be that of no row.
        if case .row(let index) = key, index >= list.total { return .effect(.nothing) }
        if list.move(key, page: page) {
            isEdited = true
            if case .row = key {
                // The other matches stay in view.
                isQuerySelected = list.toggle()
                return .effect(.nothing)
            }
            return .effect(loadMissing(on: size))
        }
        switch key {
        case .enter: return .goOn
        case .tab: return mark(on: size)
        case .right:
            guard let next = otherFilter else { return .effect(.nothing) }
            filter = next
            isEdited = true
            query = LineEditor()
            return .effect(start(on: size))
        case .character, .backspace, .erase, .paste, .line:
            if isQuerySelected, key != .backspace { query = LineEditor() }
            // No name begins with a blank. A slash begins a search in other programs.
            let isNothing = query.text.isEmpty && (key == .character(" ") || key == .character("/"))
            guard !isNothing && query.press(key) || isQuerySelected else { return .effect(.nothing) }
            isQuerySelected = false
            isEdited = true
            // A query is for finding contacts to add, so it searches all contacts.
            filter = .all
            return .effect(start(on: size))
        default: return .unused
        }
    }

    /// The list that follows this one; `nil` if there is only one.
    private var otherFilter: Filter? {
        let filters = (offersShared ? [.shared] : []) + [.all] + (list.hasChanges ? [Filter.marked] : [])
        guard let place = filters.firstIndex(of: filter) else { return .all }
        return filters.count > 1 ? filters[(place + 1) % filters.count] : nil
    }

    mutating func show(_ result: SearchResult) {
        list.show(result)
        isQuerySelected = !isEdited && result.total == 0 && !query.text.isEmpty
    }

    /// Marks the contact at the cursor. A query has then served its purpose and is cleared, so that the next
    /// characters search for the next contact.
    private mutating func mark(on size: ScreenSize) -> Outcome {
        isEdited = true
        guard list.toggle(), !query.text.isEmpty else { return .effect(.nothing) }
        query = LineEditor()
        isQuerySelected = false
        return .effect(start(on: size))
    }

    /// Marks the contact at the cursor if nothing is marked.
    mutating func takeCurrent() { if !list.hasChanges { list.mark() } }

    /// Searches from the first row.
    mutating func start(on size: ScreenSize) -> Effect {
        list.rewind()
        guard filter != .marked else {
            list.showMarked()
            return .nothing
        }
        return search(on: size)
    }

    /// Adapts to another size.
    mutating func resized(to size: ScreenSize) -> Effect {
        list.fit(Self.page(on: size))
        return list.isLoaded ? loadMissing(on: size) : search(on: size)
    }

    private func loadMissing(on size: ScreenSize) -> Effect {
        list.missing(page: Self.page(on: size)).map { search(from: $0, limit: ContactList.maximumLoaded) } ?? .nothing
    }

    private func search(on size: ScreenSize) -> Effect {
        // Two pages, so that the next PageDown needs no search.
        search(from: 0, limit: min(ContactList.maximumLoaded, 2 * Self.page(on: size)))
    }

    private func search(from offset: Int, limit: Int) -> Effect {
        .search(query: query.text, offset: offset, limit: limit, sharedOnly: filter == .shared)
    }

    // MARK: - Lines

    /// The lines of the whole screen.
    func lines(_ title: StyledLine, on size: ScreenSize, _ names: LocalizedNames) -> [StyledLine] {
        let page = Self.page(on: size)
        let place = list.place(page: page, names)
        let room = size.columns - Columns.width(place) - 3
        let text = query.text.isEmpty ? heading(names) : nil
        let typed = names.text(.search) + " " + (query.text.isEmpty ? "" : names.isolated(query.text + "_"))
        let line = Columns.pad(text ?? typed, to: max(8, room)) + "  "
        return [title, StyledLine(line, text == nil ? .bold : .plain) + .dim(place)]
            + list.lines(page: page, columns: size.columns, query: query.text, names)
            + list.remark(columns: size.columns, names)
    }

    /// Names the list, where there are several; it is shown while there is no query.
    private func heading(_ names: LocalizedNames) -> String? {
        switch filter {
        case .marked: names.text(.listMarked)
        case .shared: names.text(.listSeen)
        case .all: offersShared ? names.text(.listAll) : nil
        }
    }

    /// The hints of a list. `goOn` names the action of Return.
    func hints(
        _ names: LocalizedNames, goOn: Phrase = .goOn, refuse: Phrase, mark: Phrase? = .hintMark
    ) -> [Hint] {
        let leave = names.hint("Esc", refuse)
        // Nothing in an empty list can be marked.
        guard list.total > 0 || !list.isLoaded else {
            return (query.text.isEmpty ? [] : [names.hint("Ctrl-U", .hintClear)]) + [leave]
        }
        return (mark.map { [names.hint("Tab", $0)] } ?? [])
            + [names.hint("Return", goOn), leave]
            + (otherFilter == nil ? [] : [names.hint("→", .hintOtherList)])
            + [names.hint("?", .hintHelp)]
    }
}
