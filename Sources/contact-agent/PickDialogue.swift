import BrokerFormatting

/// The dialogue of a one-time pick: an app asks for contacts or single values. The person picks them; the
/// app's grant does not change.
struct PickDialogue: ListDialogue {
    enum Stage: String {
        /// Shows the app, and the kinds of data that it would get.
        case introduction
        /// The person searches for contacts and picks by number.
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
    private var values: [Value] = []
    /// The contact whose card is shown.
    private var opened: (row: Row, card: Card)?
    private var opening: Row?
    private var cardPages = Pages()
    private var pages = Pages()

    /// Each card is a separate stage, because the same number picks a different value on another card.
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
    }

    var isChoosing: Bool { place == .choosing }

    mutating func shown(_ card: Card) {
        guard let row = opening else { return }
        opened = (row, card)
        opening = nil
        cardPages.rewind()
        place = .card
    }

    mutating func rewind() {
        cardPages.rewind()
        pages.rewind()
    }

    // MARK: - Keys

    mutating func press(_ key: Character, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch (place, key) {
        case (.introduction, "N"): return .answer(Answer(neverAskAgain: true))
        case (.introduction, "c"):
            place = .choosing
            return finder.start(on: size)
        case (.choosing, "c"), (.card, "c"): confirm()
        case (.choosing, _): return choose(key)
        case (.card, "b"):
            opened = nil
            place = .choosing
        case (.card, "n"), (.card, "p"):
            cardPages.turn(key, of: opened?.card.lines.count ?? 0, by: cardRows(on: size))
        case (.card, _): pickValue(key, on: size)
        case (.confirmation, "b"):
            if !prompt.isMultiple {
                finder.list.clearChosen()
                values = []
            }
            place = opened == nil || prompt.isMultiple ? .choosing : .card
        case (.confirmation, "n"), (.confirmation, "p"):
            pages.turn(key, of: picked.count, by: confirmedRows(on: size))
        case (.confirmation, "y"):
            return .approval(
                Answer(
                    picked: chosen.map { Answer.Pick(contact: $0.identifier) }
                        + values.map { .init(contact: $0.row.identifier, key: $0.line.key, value: $0.line.value) }),
                isArmed: isArmed)
        case (.introduction, _), (.confirmation, _): break
        }
        return .nothing
    }

    /// Picks the row with this number, or opens its card.
    private mutating func choose(_ number: Character) -> Effect {
        guard let row = finder.list.row(number) else { return .nothing }
        if row.isEnabled, !row.returns {
            opening = row
            return .show(identifier: row.identifier)
        }
        if !prompt.isMultiple { finder.list.clearChosen() }
        finder.list.toggle(number)
        if !prompt.isMultiple, !chosen.isEmpty { confirm() }
        return .nothing
    }

    /// Picks the value with this number on the current page of the card.
    private mutating func pickValue(_ number: Character, on size: ScreenSize) {
        guard let opened, number.isASCII, let place = number.wholeNumberValue else { return }
        let shown = Array(cardPages.shown(of: opened.card.lines, by: cardRows(on: size)))
        guard shown.indices.contains(place - 1), shown[place - 1].canChoose else { return }
        toggle(Value(row: opened.row, line: shown[place - 1]))
    }

    private mutating func toggle(_ value: Value) {
        guard prompt.isMultiple else {
            values = [value]
            return confirm()
        }
        if let index = values.firstIndex(of: value) { values.remove(at: index) } else { values.append(value) }
    }

    private mutating func confirm() {
        guard !chosen.isEmpty || !values.isEmpty else { return }
        pages.rewind()
        place = .confirmation
    }

    private var chosen: [Row] { finder.list.chosen }

    private func cardRows(on size: ScreenSize) -> Int { max(1, min(ContactList.maximumPage, size.rows - 6)) }
    private func confirmedRows(on size: ScreenSize) -> Int { max(1, size.rows - 8) }

    /// The picked contacts and values, as lines.
    private var picked: [(name: String, what: String)] {
        chosen.map { ($0.name, $0.detail ?? "") }
            + values.map { ($0.row.name, "\($0.line.label): \($0.line.text)") }
    }
}

// MARK: - Lines on the screen

extension PickDialogue {
    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        return switch place {
        case .introduction: introduction(words)
        case .choosing: selection(words, on: size)
        case .card: card(on: size)
        case .confirmation: confirmation(words, on: size, isArmed: isArmed)
        }
    }

    /// Describes which keys of a picked contact the app gets.
    private var extent: String {
        guard prompt.namesKeys else { return names.text(.allButNotes) }
        return GrantedKeys.words(for: prompt.keys, names) ?? names.text(.onlyThatPicked)
    }

    private func introduction(_ words: CallerWords) -> [StyledLine] {
        let gets = StyledLine(names.text(.getsOnly, [.extent: extent])).wrapped(columns: words.columns - 1)
        return introduction(
            words, prompt.isMultiple ? .asksPickMany : .asksPickOne, Array(gets.prefix(3)), refuse: .nothingReturn,
            never: .nothingEver)
    }

    private func selection(_ words: CallerWords, on size: ScreenSize) -> [StyledLine] {
        let count = chosen.count + values.count
        let picked = prompt.isMultiple ? "  " + names.text(.picked, count: count) : ""
        let next = count == 0 ? numbers(.pick) : choice("c", .goOn)
        return finder.lines(
            .bold(words.text(.whatShallGet, reserving: Columns.width(picked))) + StyledLine(picked),
            whileTyping: .typeToPick, choices: next + "   " + choice("d", .nothingReturn), on: size, names)
    }

    private func card(on size: ScreenSize) -> [StyledLine] {
        guard let opened else { return [] }
        let page = cardRows(on: size)
        let all = opened.card.lines
        var lines: [StyledLine] = [.bold(Columns.clip(opened.card.name, to: size.columns - 1))]
        for (index, line) in cardPages.shown(of: all, by: page).enumerated() {
            let isPicked = values.contains(Value(row: opened.row, line: line))
            let text = Columns.pad(line.label, to: 12) + " " + Columns.clip(line.text, to: max(8, size.columns - 24))
            lines.append(
                line.canChoose
                    ? StyledLine(" \(index + 1) [\(isPicked ? "x" : " ")] \(text)", isPicked ? .bold : .plain)
                    : .dim("       \(text)"))
        }
        if !all.contains(where: \.canChoose) { lines.append(.warning("   " + names.text(.nothingToPick))) }
        lines += cardPages.place(of: all.count, by: page, names)
        let next = values.isEmpty ? numbers(.pick) : choice("c", .goOn)
        return lines + [next + "   " + choice("b", .back) + "   " + choice("d", .nothingReturn)]
    }

    private func confirmation(_ words: CallerWords, on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let all = picked
        var lines: [StyledLine] = [.bold(words.text(.giveThis))]
        lines += pages.lines(of: all, by: confirmedRows(on: size), names) { confirmed($0.name, $0.what, on: size) }
        lines.append(.dim("   " + (chosen.isEmpty ? names.text(.nameOnly) : extent)))
        return lines + confirmation(names.text(.giveIt, count: all.count), isArmed: isArmed, refuse: .nothingReturn)
    }
}
