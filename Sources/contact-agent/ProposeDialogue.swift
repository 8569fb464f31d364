/// An app offers a card. The person adds it, merges it into a contact, or declines; the app sees no more than before.
struct ProposeDialogue: Dialogue {
    enum Stage: String {
        /// Who offers, and why.
        case introduction
        /// The card itself.
        case card
        /// Typing a query for the contact to merge into.
        case searching
        /// Choosing that contact by number.
        case choosing
        /// The contact that would be added to.
        case confirmation
    }

    let prompt: Prompt
    private let card: Card
    private(set) var place = Stage.introduction
    private(set) var editor = LineEditor()
    private(set) var list = ContactList()
    private var cardOffset = 0

    var stage: String { place == .searching ? Stage.choosing.rawValue : place.rawValue }

    init(_ prompt: Prompt) {
        self.prompt = prompt
        card = prompt.proposed ?? Card(name: "", lines: [])
    }

    func begin(on size: ScreenSize) -> Effect { .nothing }

    mutating func found(_ result: SearchResult) { list.show(result) }

    mutating func resized(to size: ScreenSize) -> Effect {
        cardOffset = 0
        switch place {
        case .introduction, .card, .confirmation: return .nothing
        case .searching, .choosing: return search(from: list.offset, on: size)
        }
    }

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch place {
        case .introduction: pressInIntroduction(key)
        case .card: pressInCard(key, on: size, isArmed: isArmed)
        case .searching: pressInSearch(key, on: size)
        case .choosing: pressInList(key, on: size)
        case .confirmation: pressInConfirmation(key, on: size, isArmed: isArmed)
        }
    }

    // MARK: - Keys

    private mutating func pressInIntroduction(_ key: Key) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return .answer(.dismissed)
        case .character("N"): return .answer(Answer(neverAskAgain: true))
        case .character("c"):
            place = .card
            return .nothing
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private mutating func pressInCard(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return .answer(.dismissed)
        case .character("n"):
            if cardOffset + cardRows(on: size) < card.lines.count { cardOffset += cardRows(on: size) }
            return .nothing
        case .character("p"):
            cardOffset = max(0, cardOffset - cardRows(on: size))
            return .nothing
        case .character("a"): return isArmed ? .answer(Answer(addProposed: true)) : .tooEarly
        case .character("m"):
            place = .searching
            return search(from: 0, on: size)
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private mutating func pressInSearch(_ key: Key, on size: ScreenSize) -> Effect {
        switch key {
        case .enter:
            place = .choosing
            return .nothing
        case .escape: return .answer(.dismissed)
        case .character, .backspace, .erase, .paste, .other:
            return editor.press(key) ? search(from: 0, on: size) : .nothing
        }
    }

    private mutating func pressInList(_ key: Key, on size: ScreenSize) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return .answer(.dismissed)
        case .character("/"):
            place = .searching
            return .nothing
        case .character("b"):
            place = .card
            return .nothing
        case .character("n"): return list.nextOffset.map { search(from: $0, on: size) } ?? .nothing
        case .character("p"): return list.previousOffset(limit(on: size)).map { search(from: $0, on: size) } ?? .nothing
        case .character(let digit):
            guard let number = digit.wholeNumberValue, digit.isASCII else { return .nothing }
            list.forgetChosen()
            list.toggle(number, ignoringShared: true)
            if !list.chosen.isEmpty { place = .confirmation }
            return .nothing
        case .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private mutating func pressInConfirmation(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return .answer(.dismissed)
        case .character("b"):
            place = .choosing
            return .nothing
        case .character("y"):
            guard let target = list.chosen.first else { return .nothing }
            return isArmed ? .answer(Answer(mergeInto: target.identifier)) : .tooEarly
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private func search(from offset: Int, on size: ScreenSize) -> Effect {
        .search(query: editor.text, offset: offset, limit: limit(on: size))
    }

    private func limit(on size: ScreenSize) -> Int { max(1, min(ContactList.maximumPage, size.rows - 7)) }
    private func cardRows(on size: ScreenSize) -> Int { max(1, size.rows - 7) }
}

// MARK: - What is shown

extension ProposeDialogue {
    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = CallerWords(prompt: prompt, columns: size.columns)
        return switch place {
        case .introduction: introduction(words)
        case .card: cardLines(on: size, isArmed: isArmed)
        case .searching, .choosing: selection(on: size)
        case .confirmation: confirmation(on: size, isArmed: isArmed)
        }
    }

    private func introduction(_ words: CallerWords) -> [StyledLine] {
        [.bold("\(words.name) offers you a card.")] + words.sureness + [
            words.process, words.purpose, "", choice("d", "Decline (Return)") + "   " + choice("c", "Look at it"),
            choice("N", "Decline, and never ask again"),
        ]
    }

    private func cardLines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let page = cardRows(on: size)
        let end = min(card.lines.count, cardOffset + page)
        var lines: [StyledLine] = [.bold(title(on: size))]
        lines += card.lines[cardOffset..<end].map { line in
            .dim("   \(Columns.pad(line.label, to: 12)) ") + StyledLine(Columns.clip(line.text, to: size.columns - 18))
        }
        if card.lines.count > page {
            lines.append(.dim("   \(cardOffset + 1)–\(end) of \(card.lines.count)  [n] next [p] previous"))
        }
        return lines + [
            "", approving("a", "Add as a new card", isArmed: isArmed) + "   " + choice("m", "Merge into…"),
            choice("d", "Decline (Return)"),
        ]
    }

    /// The card's name in quotation marks: it is the app's word until the person has taken it.
    private func title(on size: ScreenSize) -> String { ShownText.quoted(card.name, columns: size.columns - 2) }

    private func selection(on size: ScreenSize) -> [StyledLine] {
        var lines: [StyledLine] = [
            .bold("Into which contact?"),
            place == .searching
                ? .bold("Search: ") + StyledLine(editor.text + "_")
                : .dim("Search: \(ShownText.line(editor.text))   [/] change"),
        ]
        lines += list.lines(columns: size.columns, ignoringShared: true)
        lines.append(list.place(limit(on: size)))
        lines.append(
            place == .searching
                ? .dim("Type a name; Return: choose from the list; Esc: decline")
                : .dim("[1–9] choose") + "   " + choice("b", "Back") + "   " + choice("d", "Decline (Return)"))
        if let remark = list.remark { lines.append(.warning(remark)) }
        return lines
    }

    private func confirmation(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        guard let target = list.chosen.first else { return [] }
        return [
            .bold("Merge into this contact?"),
            "   \(Columns.clip(target.name, to: size.columns / 2))" + .dim("  \(target.detail ?? "")"),
            .dim("   What it has stays; what is new of the card is added."), "",
            approving("y", "Merge", isArmed: isArmed),
            choice("b", "Back") + "   " + choice("d", "Decline (Return)"),
        ]
    }
}
