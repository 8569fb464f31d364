/// The person looks through what one app may see, adds and removes: at the app's wish, or of their own accord.
struct ManageDialogue: Dialogue {
    enum Stage: String {
        /// Who asks for a look.
        case introduction
        /// Looking for contacts, and turning them on and off by number.
        case choosing
        /// Exactly what would change.
        case confirmation
        /// Whether to take back everything.
        case revocation
    }

    let prompt: Prompt
    private(set) var place: Stage
    private(set) var finder = Finder()
    private(set) var list = SharedList()
    /// Only what the app sees already is listed.
    private(set) var showsSharedOnly: Bool
    /// Of the changes to be confirmed.
    private var pages = Pages()

    var stage: String { place.rawValue }

    init(_ prompt: Prompt) {
        self.prompt = prompt
        place = prompt.isOwn ? .choosing : .introduction
        showsSharedOnly = prompt.status == "limited" && prompt.grantedContacts > 0
        // Of an app that sees everything or nothing, a selection is made anew.
        list.countsShared = prompt.status == "limited"
    }

    func begin(on size: ScreenSize) -> Effect { prompt.isOwn ? search(from: 0, on: size) : .nothing }

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch place {
        case .introduction: pressInIntroduction(key, on: size)
        case .choosing: pressInList(key, on: size)
        case .confirmation: pressInConfirmation(key, on: size, isArmed: isArmed)
        case .revocation: pressInRevocation(key)
        }
    }

    mutating func found(_ result: SearchResult) { list.show(result) }

    mutating func resized(to size: ScreenSize) -> Effect {
        switch place {
        case .introduction, .revocation: return .nothing
        case .confirmation:
            pages.rewind()
            return .nothing
        case .choosing: return search(from: list.page.offset, on: size)
        }
    }

    // MARK: - Keys

    private mutating func pressInIntroduction(_ key: Key, on size: ScreenSize) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return .answer(.dismissed)
        case .character("N"): return .answer(Answer(neverAskAgain: true))
        case .character("c"):
            place = .choosing
            return search(from: 0, on: size)
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private mutating func pressInList(_ key: Key, on size: ScreenSize) -> Effect {
        if finder.isTyping {
            // A step of its own: what follows must see the query as it is then.
            let pressed = finder.type(key)
            return follow(pressed, on: size)
        }
        if let pressed = finder.press(key, in: list.page, on: size) {
            guard finder.isTyping else { return follow(pressed, on: size) }
            // Whoever types looks for somebody to add.
            showsSharedOnly = false
            return search(from: 0, on: size)
        }
        switch key {
        case .character("s") where list.countsShared:
            showsSharedOnly.toggle()
            return search(from: 0, on: size)
        case .character("x") where prompt.status != "denied": place = .revocation
        case .character("c") where list.hasChanges:
            pages.rewind()
            place = .confirmation
        case .character, .enter, .escape, .backspace, .erase, .paste, .other:
            if let number = key.number { list.toggle(number) }
        }
        return .nothing
    }

    private func follow(_ pressed: Finder.Pressed, on size: ScreenSize) -> Effect {
        switch pressed {
        case .search(let offset): search(from: offset, on: size)
        case .refuse: .answer(.dismissed)
        case .nothing: .nothing
        }
    }

    private mutating func pressInConfirmation(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return .answer(.dismissed)
        case .character("b"):
            place = .choosing
            return .nothing
        case .character("n"), .character("p"):
            pages.turn(key, of: changes.count, by: changeRows(on: size))
            return .nothing
        case .character("y"):
            guard isArmed else { return .tooEarly }
            return .answer(
                Answer(
                    level: .limited, identifiers: list.added.map(\.identifier),
                    removed: list.removed.isEmpty ? nil : list.removed.map(\.identifier)))
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    /// Taking back needs no second look at the clock, only a key that says so.
    private mutating func pressInRevocation(_ key: Key) -> Effect {
        switch key {
        case .character("y"): return .answer(Answer(level: .denied))
        case .character("b"), .enter, .escape, .character("d"):
            place = .choosing
            return .nothing
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private func search(from offset: Int, on size: ScreenSize) -> Effect {
        showsSharedOnly
            ? .searchShared(query: finder.query.text, offset: offset, limit: Finder.limit(on: size))
            : finder.search(from: offset, on: size)
    }

    private func changeRows(on size: ScreenSize) -> Int { max(1, size.rows - 7) }

    private var changes: [(mark: String, row: Row)] {
        list.added.map { ("+", $0) } + list.removed.map { ("−", $0) }
    }
}

// MARK: - What is shown

extension ManageDialogue {
    /// What came of it, in one line.
    static func words(for answer: Answer, _ name: String) -> StyledLine {
        if answer.neverAskAgain == true { return "\(name) does not ask again." }
        guard let level = answer.level else { return "What \(name) may see stays as it is." }
        if level == .denied { return "\(name) sees nothing any more." }
        let added = answer.identifiers?.count ?? 0
        let removed = answer.removed?.count ?? 0
        let parts = [added > 0 ? "\(added) more" : nil, removed > 0 ? "\(removed) no longer" : nil]
        return "\(name) sees \(parts.compactMap { $0 }.joined(separator: ", "))."
    }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = CallerWords(prompt: prompt, columns: size.columns)
        return switch place {
        case .introduction: introduction(words)
        case .choosing: selection(words, on: size)
        case .confirmation: confirmation(words, on: size, isArmed: isArmed)
        case .revocation: revocation(words)
        }
    }

    private var seen: String {
        switch prompt.status {
        case "full": "It sees all contacts."
        case "denied": "It sees nothing."
        default:
            prompt.grantedContacts == 1
                ? "It sees 1 contact of \(prompt.totalContacts)."
                : "It sees \(prompt.grantedContacts) contacts of \(prompt.totalContacts)."
        }
    }

    private func introduction(_ words: CallerWords) -> [StyledLine] {
        [.bold("Look through what \(words.name) may see?")] + words.sureness + [
            words.process, StyledLine("It asks you to. " + seen), "",
            choice("d", "Leave it as it is (Return)") + "   " + choice("c", "Continue"),
            choice("N", "Leave it, and never ask again"),
        ]
    }

    private func selection(_ words: CallerWords, on size: ScreenSize) -> [StyledLine] {
        let title = "What may \(words.name) see\(list.countsShared ? "" : " from now on")?"
        let fits = Columns.width(title) + Columns.width(seen) + 2 <= size.columns
        var lines: [StyledLine] = [
            .bold(title) + .dim(fits ? "  " + seen : ""),
            finder.isTyping ? finder.line : heading,
        ]
        lines += list.lines(columns: size.columns)
        lines.append(list.page.place(Finder.limit(on: size)))
        if finder.isTyping {
            lines.append(.dim("Type a name; Return: choose from the list; Esc: leave it"))
        } else {
            let next = list.hasChanges ? StyledLine.bold("[c]") + " Continue" : .dim("[1–9] on or off")
            var choices = next + "   " + choice("d", "Leave it (Return)")
            if prompt.status != "denied" { choices = choices + "   " + choice("x", "Take all back") }
            lines.append(choices)
        }
        if let remark = list.page.remark { lines.append(.warning(remark)) }
        return lines
    }

    private var heading: StyledLine {
        let all: StyledLine = .dim(
            finder.query.text.isEmpty ? "Everybody" : "Search: \(ShownText.line(finder.query.text))")
        let search = "   " + choice("/", "search")
        guard list.countsShared else { return all + search }
        return showsSharedOnly
            ? .dim("What it sees now") + "   " + choice("s", "everybody") + search
            : all + "   " + choice("s", "what it sees now") + search
    }

    private func confirmation(_ words: CallerWords, on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let changes = changes
        let page = changeRows(on: size)
        let counts = [
            list.added.isEmpty ? nil : "\(list.added.count) more",
            list.removed.isEmpty ? nil : "\(list.removed.count) no longer",
        ].compactMap { $0 }.joined(separator: ", ")
        var lines: [StyledLine] = [.bold("\(words.name) sees \(list.countsShared ? counts : "only these"):")]
        lines += pages.shown(of: changes, by: page).map { mark, row in
            " \(mark) \(Columns.clip(row.name, to: size.columns / 2))" + .dim("  \(row.detail ?? "")")
        }
        lines += pages.place(of: changes.count, by: page)
        return lines + [
            "",
            approving("y", "Yes, change that", isArmed: isArmed),
            choice("b", "Back") + "   " + choice("d", "Leave it as it is (Return)"),
        ]
    }

    private func revocation(_ words: CallerWords) -> [StyledLine] {
        [
            .bold("Take all back from \(words.name)?"), StyledLine(seen), "",
            choice("y", "Take all back"), choice("b", "Back (Return)"),
        ]
    }
}
