import BrokerFormatting

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
    let names: LocalizedNames
    private(set) var place: Stage
    private(set) var finder = Finder()
    private(set) var list = SharedList()
    /// Only what the app sees already is listed.
    private(set) var showsSharedOnly: Bool
    /// Of the changes to be confirmed.
    private var pages = Pages()

    var stage: String { place.rawValue }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
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
    static func words(for answer: Answer, _ app: String, _ names: LocalizedNames) -> String {
        if answer.neverAskAgain == true { return names.text(.asksNoMore, [.app: app]) }
        guard let level = answer.level else { return names.text(.staysAsIs, [.app: app]) }
        if level == .denied { return names.text(.seesNothingMore, [.app: app]) }
        let changes = changes(added: answer.identifiers?.count ?? 0, removed: answer.removed?.count ?? 0, names)
        return names.text(.nowSees, [.app: app, .changes: changes])
    }

    private static func changes(added: Int, removed: Int, _ names: LocalizedNames) -> String {
        let parts = [
            added > 0 ? names.text(.changeMore, count: added) : nil,
            removed > 0 ? names.text(.changeLess, count: removed) : nil,
        ]
        return names.list(parts.compactMap { $0 })
    }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        return switch place {
        case .introduction: introduction(words)
        case .choosing: selection(words, on: size)
        case .confirmation: confirmation(words, on: size, isArmed: isArmed)
        case .revocation: revocation(words)
        }
    }

    private var seen: String {
        switch prompt.status {
        case "full": names.text(.seesAll)
        case "denied": names.text(.seesNothing)
        default: names.text(.seesOf, count: prompt.grantedContacts, [.total: String(prompt.totalContacts)])
        }
    }

    private func introduction(_ words: CallerWords) -> [StyledLine] {
        [.bold(words.text(.lookThroughApp))] + words.sureness + [
            words.process, StyledLine(names.text(.asksYouTo, [.seen: seen])), "",
            choice("d", .leaveAsIs) + "   " + choice("c", .goOn), choice("N", .leaveEver),
        ]
    }

    private func selection(_ words: CallerWords, on size: ScreenSize) -> [StyledLine] {
        let title = words.text(list.countsShared ? .whatMaySee : .whatFromNow)
        let fits = Columns.width(title) + Columns.width(seen) + 2 <= size.columns
        var lines: [StyledLine] = [
            .bold(title) + .dim(fits ? "  " + seen : ""),
            finder.isTyping ? finder.line(names) : heading,
        ]
        lines += list.lines(columns: size.columns, names)
        lines.append(list.page.place(Finder.limit(on: size), names))
        if finder.isTyping {
            lines.append(.dim(names.text(.typeOrLeave)))
        } else {
            let next = list.hasChanges ? choice("c", .goOn) : numbers(.onOrOff)
            var choices = next + "   " + choice("d", .leaveIt)
            if prompt.status != "denied" { choices = choices + "   " + choice("x", .takeAllBack) }
            lines.append(choices)
        }
        if let remark = list.page.remark(names) { lines.append(.warning(remark)) }
        return lines
    }

    private var heading: StyledLine {
        let query = ShownText.line(finder.query.text)
        let all: StyledLine = .dim(query.isEmpty ? names.text(.everybody) : "\(names.text(.search)) \(query)")
        let search = "   " + choice("/", .searchChoice)
        guard list.countsShared else { return all + search }
        return showsSharedOnly
            ? .dim(names.text(.seesNow)) + "   " + choice("s", .showEverybody) + search
            : all + "   " + choice("s", .showSeesNow) + search
    }

    private func confirmation(_ words: CallerWords, on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let changes = changes
        let page = changeRows(on: size)
        let counts = Self.changes(added: list.added.count, removed: list.removed.count, names)
        let title =
            list.countsShared
            ? words.text(.willSee, [.changes: counts]) : words.text(.willSeeOnly)
        var lines: [StyledLine] = [.bold(title)]
        lines += pages.shown(of: changes, by: page).map { mark, row in
            " \(mark) \(Columns.clip(row.name, to: size.columns / 2))" + .dim("  \(row.detail ?? "")")
        }
        lines += pages.place(of: changes.count, by: page, names)
        return lines + [
            "",
            approving("y", .yesChange, isArmed: isArmed),
            choice("b", .back) + "   " + choice("d", .leaveAsIs),
        ]
    }

    private func revocation(_ words: CallerWords) -> [StyledLine] {
        [
            .bold(words.text(.takeAllBackFrom)), StyledLine(seen), "",
            choice("y", .takeAllBack), choice("b", .backReturn),
        ]
    }
}
