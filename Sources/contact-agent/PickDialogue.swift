import BrokerFormatting

/// An app wants contacts, or single values of them, for once. The person picks; the app's standing stays as it is.
struct PickDialogue: Dialogue {
    enum Stage: String {
        /// Who asks, and what it would get.
        case introduction
        /// Looking for contacts, and picking by number.
        case choosing
        /// One contact's card, to pick values of it.
        case card
        /// Exactly what would be handed over.
        case confirmation
    }

    /// A value as it was picked.
    private struct Value: Hashable {
        var row: Row
        var line: Card.Line
    }

    let prompt: Prompt
    let names: LocalizedNames
    private(set) var place = Stage.introduction
    private(set) var finder = Finder()
    private(set) var list = ContactList()
    private var values: [Value] = []
    /// The contact whose card is shown.
    private var opened: (row: Row, card: Card)?
    private var opening: Row?
    private var cardPages = Pages()
    private var confirmedPages = Pages()

    /// Each card is a stage of its own: a number on it picks something else.
    var stage: String {
        switch place {
        case .card: "\(place.rawValue) \(opened?.row.identifier ?? "")"
        case .introduction, .choosing, .confirmation: place.rawValue
        }
    }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
    }

    func begin(on size: ScreenSize) -> Effect { .nothing }

    mutating func found(_ result: SearchResult) { list.show(result) }

    mutating func shown(_ card: Card) {
        guard let row = opening else { return }
        opened = (row, card)
        opening = nil
        cardPages.rewind()
        place = .card
    }

    mutating func resized(to size: ScreenSize) -> Effect {
        cardPages.rewind()
        confirmedPages.rewind()
        switch place {
        case .introduction, .card, .confirmation: return .nothing
        case .choosing: return finder.search(from: list.offset, on: size)
        }
    }

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch place {
        case .introduction: pressInIntroduction(key, on: size)
        case .choosing: pressInList(key, on: size)
        case .card: pressInCard(key, on: size)
        case .confirmation: pressInConfirmation(key, on: size, isArmed: isArmed)
        }
    }

    // MARK: - Keys

    private mutating func pressInIntroduction(_ key: Key, on size: ScreenSize) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return .answer(.dismissed)
        case .character("N"): return .answer(Answer(neverAskAgain: true))
        case .character("c"):
            place = .choosing
            finder.isTyping = true
            return finder.search(from: 0, on: size)
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private mutating func pressInList(_ key: Key, on size: ScreenSize) -> Effect {
        if finder.isTyping {
            // A step of its own: what follows must see the query as it is then.
            let pressed = finder.type(key)
            return follow(pressed, on: size)
        }
        if let pressed = finder.press(key, in: list, on: size) { return follow(pressed, on: size) }
        if key == .character("c") { confirm() }
        return key.number.map { choose($0) } ?? .nothing
    }

    private func follow(_ pressed: Finder.Pressed, on size: ScreenSize) -> Effect {
        switch pressed {
        case .search(let offset): finder.search(from: offset, on: size)
        case .refuse: .answer(.dismissed)
        case .nothing: .nothing
        }
    }

    /// Picks the row of this number, or opens its card.
    private mutating func choose(_ number: Int) -> Effect {
        guard list.rows.indices.contains(number - 1) else { return .nothing }
        let row = list.rows[number - 1]
        if row.isEnabled, !row.returns {
            opening = row
            return .show(identifier: row.identifier)
        }
        if !prompt.isMultiple { list.forgetChosen() }
        list.toggle(number, ignoringShared: true)
        if !prompt.isMultiple, !list.chosen.isEmpty { confirm() }
        return .nothing
    }

    private mutating func pressInCard(_ key: Key, on size: ScreenSize) -> Effect {
        guard let opened else { return .nothing }
        let page = cardRows(on: size)
        switch key {
        case .character("d"), .enter, .escape: return .answer(.dismissed)
        case .character("b"):
            self.opened = nil
            place = .choosing
            return .nothing
        case .character("n"), .character("p"):
            cardPages.turn(key, of: opened.card.lines.count, by: page)
            return .nothing
        case .character("c"):
            confirm()
            return .nothing
        case .character(let digit):
            let shown = cardPages.shown(of: opened.card.lines, by: page)
            guard let number = digit.wholeNumberValue, digit.isASCII, (1...max(1, shown.count)).contains(number),
                let line = shown.dropFirst(number - 1).first, line.canChoose
            else { return .nothing }
            toggle(Value(row: opened.row, line: line))
            return .nothing
        case .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private mutating func toggle(_ value: Value) {
        guard prompt.isMultiple else {
            values = [value]
            return confirm()
        }
        if let index = values.firstIndex(of: value) { values.remove(at: index) } else { values.append(value) }
    }

    private mutating func confirm() {
        guard !list.chosen.isEmpty || !values.isEmpty else { return }
        confirmedPages.rewind()
        place = .confirmation
    }

    private mutating func pressInConfirmation(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return .answer(.dismissed)
        case .character("b"):
            if !prompt.isMultiple {
                list.forgetChosen()
                values = []
            }
            place = opened == nil || prompt.isMultiple ? .choosing : .card
            return .nothing
        case .character("n"), .character("p"):
            confirmedPages.turn(key, of: picked.count, by: confirmedRows(on: size))
            return .nothing
        case .character("y"):
            guard isArmed else { return .tooEarly }
            return .answer(
                Answer(
                    picked: list.chosen.map { Answer.Pick(contact: $0.identifier) }
                        + values.map { .init(contact: $0.row.identifier, key: $0.line.key, value: $0.line.value) }))
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private func cardRows(on size: ScreenSize) -> Int { max(1, min(ContactList.maximumPage, size.rows - 6)) }
    private func confirmedRows(on size: ScreenSize) -> Int { max(1, size.rows - 8) }

    /// What is picked, as lines: whose, and which value.
    private var picked: [(name: String, what: String)] {
        list.chosen.map { ($0.name, $0.detail ?? "") }
            + values.map { ($0.row.name, "\($0.line.label): \($0.line.text)") }
    }
}

// MARK: - What is shown

extension PickDialogue {
    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        return switch place {
        case .introduction: introduction(words)
        case .choosing: selection(words, on: size)
        case .card: card(words, on: size)
        case .confirmation: confirmation(words, on: size, isArmed: isArmed)
        }
    }

    /// What it gets of a contact that is picked.
    private var extent: String {
        guard prompt.namesKeys else { return names.text(.allButNotes) }
        return GrantedKeys.words(for: prompt.keys, names) ?? names.text(.onlyThatPicked)
    }

    private func introduction(_ words: CallerWords) -> [StyledLine] {
        let asks = words.text(prompt.isMultiple ? .asksPickMany : .asksPickOne)
        let gets = StyledLine(names.text(.getsOnly, [.extent: extent])).wrapped(columns: words.columns - 1)
        return [.bold(asks)] + words.sureness + [words.process] + gets.prefix(3)
            + ["", choice("d", .nothingReturn) + "   " + choice("c", .goOn), choice("N", .nothingEver)]
    }

    private func selection(_ words: CallerWords, on size: ScreenSize) -> [StyledLine] {
        let count = list.chosen.count + values.count
        let picked = prompt.isMultiple ? "  " + names.text(.picked, count: count) : ""
        var lines: [StyledLine] = [
            .bold(words.text(.whatShallGet, reserving: Columns.width(picked))) + StyledLine(picked),
            finder.line(names),
        ]
        lines += list.lines(columns: size.columns, names, ignoringShared: true)
        lines.append(list.place(Finder.limit(on: size), names))
        if finder.isTyping {
            lines.append(.dim(names.text(.typeToPick)))
        } else {
            let next = count == 0 ? numbers(.pick) : choice("c", .goOn)
            lines.append(next + "   " + choice("d", .nothingReturn))
        }
        if let remark = list.remark(names) { lines.append(.warning(remark)) }
        return lines
    }

    private func card(_ words: CallerWords, on size: ScreenSize) -> [StyledLine] {
        guard let opened else { return [] }
        let page = cardRows(on: size)
        let all = opened.card.lines
        var lines: [StyledLine] = [.bold(Columns.clip(opened.card.name, to: size.columns - 1))]
        for (index, line) in cardPages.shown(of: all, by: page).enumerated() {
            let isPicked = values.contains(Value(row: opened.row, line: line))
            let label = Columns.pad(line.label, to: 12)
            let text = Columns.clip(line.text, to: max(8, size.columns - 24))
            lines.append(
                line.canChoose
                    ? StyledLine(" \(index + 1) [\(isPicked ? "x" : " ")] \(label) \(text)", isPicked ? .bold : .plain)
                    : .dim("       \(label) \(text)"))
        }
        if !all.contains(where: \.canChoose) { lines.append(.warning("   " + names.text(.nothingToPick))) }
        lines += cardPages.place(of: all.count, by: page, names)
        let next = values.isEmpty ? numbers(.pick) : choice("c", .goOn)
        return lines + [next + "   " + choice("b", .back) + "   " + choice("d", .nothingReturn)]
    }

    private func confirmation(_ words: CallerWords, on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let all = picked
        let page = confirmedRows(on: size)
        var lines: [StyledLine] = [.bold(words.text(.giveThis))]
        lines += confirmedPages.shown(of: all, by: page).map { name, what in
            "   \(Columns.clip(name, to: size.columns / 2))" + .dim("  \(what)")
        }
        lines += confirmedPages.place(of: all.count, by: page, names)
        lines.append(.dim("   " + (list.chosen.isEmpty ? names.text(.nameOnly) : extent)))
        return lines + [
            "",
            approving("y", names.text(.giveIt, count: all.count), isArmed: isArmed),
            choice("b", .back) + "   " + choice("d", .nothingReturn),
        ]
    }
}
