import BrokerFormatting
import BrokerModel

/// The dialogue of a one-time pick: an app asks for contacts or single values. The person picks them; the
/// app's grant does not change.
struct PickDialogue: Dialogue {
    enum Stage: String {
        /// Shows the app, and the kinds of data that it would get.
        case introduction
        /// The person searches for contacts and picks them.
        case choosing
        /// Shows one contact's card, from which the person picks values.
        case card
        /// The person confirms the contacts or values to hand over.
        case confirmation
    }

    /// A picked value and its contact.
    private struct Value: Hashable {
        var row: Row
        var line: Card.Line
    }

    let prompt: Prompt
    let names: LocalizedNames
    private(set) var place = Stage.introduction
    var finder = Finder()
    private var menu = Menu()
    private var values: [Value] = [] {
        didSet { finder.list.others = values.count }
    }
    /// Whether the person tried to pick one more value on the card than the app takes.
    private var isValueRefused = false
    /// The contact whose card is shown.
    private var opened: (row: Row, card: Card)?
    private var opening: Row?
    private var cardCursor = Cursor()
    private var cursor = Cursor()

    /// Each card is a separate stage, because the same key picks a different value on another card.
    var stage: String {
        switch place {
        case .card: "\(place.rawValue) \(opened?.row.identifier ?? "")"
        case .introduction, .choosing, .confirmation: place.rawValue
        }
    }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
        finder.list.shared = .ignored
        finder.list.limit = prompt.isMultiple ? prompt.limit : nil
    }

    var hasWork: Bool { finder.hasWork || !values.isEmpty }
    var refusal: Phrase { .giveNothing }

    mutating func found(_ result: SearchResult) { finder.show(result) }

    mutating func shown(_ card: Card) {
        guard let row = opening else { return }
        opened = (row, card)
        opening = nil
        cardCursor = Cursor()
        isValueRefused = false
        // The first value that can be picked is highlighted.
        if let first = card.lines.firstIndex(where: \.canChoose) {
            _ = cardCursor.move(.row(index: first), count: card.lines.count, page: card.lines.count)
        }
        place = .card
    }

    mutating func resized(to size: ScreenSize) -> Effect {
        cardCursor.fit(count: opened?.card.lines.count ?? 0, page: cardRows(on: size))
        return place == .choosing ? finder.resized(to: size) : .nothing
    }

    // MARK: - Keys

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch place {
        case .introduction:
            switch menu.press(key, controls(on: size)) {
            case "N": return .answer(Answer(neverAskAgain: true))
            case "c":
                place = .choosing
                if !finder.list.isLoaded { return finder.start(on: size) }
            default: break
            }
        case .choosing: return pressInList(key, on: size)
        case .card: pressOnCard(key, on: size)
        case .confirmation:
            if key == .left { return back() }
            if key == .pageUp || key == .pageDown {
                _ = cursor.move(key, count: picked.count, page: room(on: size) - 1)
            }
            switch menu.press(key, controls(on: size)) {
            case "b": return back()
            case "y": return .approval(answer, isArmed: isArmed)
            default: break
            }
        }
        return .nothing
    }

    private mutating func pressInList(_ key: Key, on size: ScreenSize) -> Effect {
        if case .row = key {
            _ = finder.list.move(key, page: Finder.page(on: size))
            return pressInList(.tab, on: size)
        }
        // A contact that gives single values only is opened instead of marked.
        let row = finder.list.current
        if let row, row.isEnabled, !row.returns, key == .enter || key == .tab {
            // Return means what is picked already.
            if key == .enter, !picked.isEmpty { return confirm() }
            opening = row
            return .show(identifier: row.identifier)
        }
        if key == .tab, !prompt.isMultiple { finder.list.clearMarks() }
        switch finder.press(key, on: size) {
        case .effect(let effect): return effect
        case .goOn:
            if values.isEmpty { finder.takeCurrent() }
            return confirm()
        case .unused: if key == .left { place = .introduction }
        }
        return .nothing
    }

    private mutating func pressOnCard(_ key: Key, on size: ScreenSize) {
        guard let opened else { return }
        let lines = opened.card.lines
        isValueRefused = false
        let isClick = if case .row = key { true } else { false }
        if cardCursor.move(key, count: lines.count, page: cardRows(on: size)), !isClick { return }
        switch key {
        case .left:
            self.opened = nil
            place = .choosing
        case .row, .tab, .character(" "): toggleValue(opened.row, lines)
        case .enter:
            if values.isEmpty || !prompt.isMultiple { toggleValue(opened.row, lines, keeping: true) }
            if !isValueRefused { _ = confirm() }
        default: break
        }
    }

    /// - Parameter keeping: whether a picked value stays picked.
    private mutating func toggleValue(_ row: Row, _ lines: [Card.Line], keeping: Bool = false) {
        guard lines.indices.contains(cardCursor.place), lines[cardCursor.place].canChoose else { return }
        let value = Value(row: row, line: lines[cardCursor.place])
        if let index = values.firstIndex(of: value) {
            if !keeping { values.remove(at: index) }
        } else if finder.list.isFull {
            isValueRefused = true
        } else {
            if !prompt.isMultiple {
                values = []
                finder.list.clearMarks()
            }
            values.append(value)
        }
    }

    private mutating func confirm() -> Effect {
        guard !picked.isEmpty else { return .nothing }
        cursor = Cursor()
        menu = Menu()
        place = .confirmation
        return .nothing
    }

    private mutating func back() -> Effect {
        if !prompt.isMultiple {
            finder.list.clearMarks()
            values = []
        }
        place = opened == nil ? .choosing : .card
        return .nothing
    }

    private var answer: Answer {
        Answer(
            picked: finder.list.marked.map { Answer.Pick(contact: $0.identifier) }
                + values.map { .init(contact: $0.row.identifier, key: $0.line.key, value: $0.line.value) })
    }

    /// The picked contacts and values, as lines.
    private var picked: [(name: String, what: String)] {
        finder.list.marked.map { ($0.name, $0.detail ?? "") }
            + values.map { ($0.row.name, "\($0.line.label): \($0.line.text)") }
    }

    private func cardRows(on size: ScreenSize) -> Int { max(1, size.rows - 4) }
    private func room(on size: ScreenSize) -> Int { max(2, size.rows - 7) }
}

// MARK: - Lines on the screen

extension PickDialogue {
    private func controls(on size: ScreenSize) -> [Control] {
        switch place {
        case .introduction:
            return (prompt.isEmptyBook ? [] : [control("c", .pickContacts)]) + [control("N", .nothingEver)]
        case .confirmation:
            let give = names.text(.giveIt, count: picked.count)
            return [approval("y", give), control("b", .back)]
        case .choosing, .card: return []
        }
    }

    private func limited(_ phrase: Phrase, to limit: Int) -> String {
        names.text(phrase, [.count: names.number(limit)])
    }

    /// Describes which keys of a picked contact the app gets.
    private var extent: String {
        guard prompt.namesKeys else { return names.text(.allButNotes) }
        return GrantedKeys.words(for: prompt.keys, names) ?? names.text(.onlyThatPicked)
    }

    /// Whether the administrator lets the app read names.
    private var givesName: Bool {
        prompt.maximumKeys.map { ContactKeySet($0.compactMap(GrantKey.init)).contains(.givenName) } ?? true
    }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        switch place {
        case .introduction:
            let gets = StyledLine(names.text(.getsOnly, [.extent: extent])).wrapped(columns: words.columns - 1)
            let limit = finder.list.limit.map { [StyledLine(limited(.pickAtMost, to: $0))] } ?? []
            return question(
                .bold(words.text(prompt.isMultiple ? .asksPickMany : .asksPickOne)),
                words.strengthLines + gets.prefix(3) + limit + words.purpose + words.emptyBook + [words.process], menu,
                controls(on: size),
                on: size, isArmed: isArmed)
        case .choosing: return finder.lines(.bold(words.text(.whatShallGet)), on: size, names)
        case .card: return card(on: size)
        case .confirmation:
            let all = picked
            let lines = confirmed(all, at: cursor, room: room(on: size)) { confirmed($0.name, $0.what, on: size) }
            let gets = finder.list.marked.isEmpty && givesName ? names.text(.nameOnly) : extent
            return question(
                .bold(words.text(.giveThis)), lines + [.dim(Columns.clip("   " + gets, to: size.columns - 1))], menu,
                controls(on: size), on: size, isArmed: isArmed)
        }
    }

    private func card(on size: ScreenSize) -> [StyledLine] {
        guard let opened else { return [] }
        let all = opened.card.lines
        let rows = cardRows(on: size)
        let lines = cardCursor.visible(count: all.count, page: rows).map { place -> StyledLine in
            let line = all[place]
            let isPicked = values.contains(Value(row: opened.row, line: line))
            let sign = line.canChoose ? "[\(isPicked ? "x" : " ")]" : "   "
            let text = Columns.pad(line.label, to: 12) + " " + Columns.clip(line.text, to: max(8, size.columns - 22))
            let style: StyledLine.Style = line.canChoose ? (isPicked ? .bold : .plain) : .dim
            return .row(place, isCurrent: place == cardCursor.place, "\(sign) \(text)", style)
        }
        var nothing = all.contains(where: \.canChoose) ? [] : [StyledLine.warning("   " + names.text(.nothingToPick))]
        if isValueRefused, let limit = finder.list.limit {
            nothing = [.warning("   " + limited(.pickLimitReached, to: limit))]
        }
        return [.bold(Columns.clip(opened.card.name, to: size.columns - 1))] + lines.prefix(rows - nothing.count)
            + nothing
    }

    var hints: [Hint] {
        switch place {
        case .introduction: return menuHints(canGoBack: false)
        case .choosing:
            // A contact that gives single values only is opened: by Return, or by Tab once something is picked.
            let opens = finder.list.current.map { $0.isEnabled && !$0.returns } ?? false
            let mark: Phrase? = opens ? (picked.isEmpty ? nil : .hintOpen) : prompt.isMultiple ? .hintMark : nil
            return finder.hints(names, goOn: opens && picked.isEmpty ? .hintOpen : .goOn, refuse: refusal, mark: mark)
        case .card:
            return (prompt.isMultiple ? [names.hint("Tab", .hintMark)] : [])
                + [names.hint("Return", .goOn), names.hint("Esc", refusal), names.hint("←", .back)]
        case .confirmation: return menuHints()
        }
    }
}
