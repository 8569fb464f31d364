import BrokerFormatting

/// An app offers a card. The person adds it, merges it into a contact, or declines; the app sees no more than before.
struct ProposeDialogue: Dialogue {
    enum Stage: String {
        /// Who offers, and why.
        case introduction
        /// The card itself.
        case card
        /// Looking for the contact to merge into, and choosing it by number.
        case choosing
        /// The contact that would be added to.
        case confirmation
    }

    let prompt: Prompt
    let names: LocalizedNames
    private let card: Card
    private(set) var place = Stage.introduction
    private(set) var finder = Finder()
    private(set) var list = ContactList()
    private var cardPages = Pages()

    var stage: String { place.rawValue }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
        card = prompt.proposed ?? Card(name: "", lines: [])
    }

    func begin(on size: ScreenSize) -> Effect { .nothing }

    mutating func found(_ result: SearchResult) { list.show(result) }

    mutating func resized(to size: ScreenSize) -> Effect {
        cardPages.rewind()
        switch place {
        case .introduction, .card, .confirmation: return .nothing
        case .choosing: return finder.search(from: list.offset, on: size)
        }
    }

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch place {
        case .introduction: pressInIntroduction(key)
        case .card: pressInCard(key, on: size, isArmed: isArmed)
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
        case .character("n"), .character("p"):
            cardPages.turn(key, of: card.lines.count, by: cardRows(on: size))
            return .nothing
        case .character("a"): return isArmed ? .answer(Answer(addProposed: true)) : .tooEarly
        case .character("m"):
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
        if key == .character("b") { place = .card }
        guard let number = key.number else { return .nothing }
        list.forgetChosen()
        list.toggle(number, ignoringShared: true)
        if !list.chosen.isEmpty { place = .confirmation }
        return .nothing
    }

    private func follow(_ pressed: Finder.Pressed, on size: ScreenSize) -> Effect {
        switch pressed {
        case .search(let offset): finder.search(from: offset, on: size)
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
        case .character("y"):
            guard let target = list.chosen.first else { return .nothing }
            return isArmed ? .answer(Answer(mergeInto: target.identifier)) : .tooEarly
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private func cardRows(on size: ScreenSize) -> Int { max(1, size.rows - 7) }
}

// MARK: - What is shown

extension ProposeDialogue {
    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        return switch place {
        case .introduction: introduction(words)
        case .card: cardLines(on: size, isArmed: isArmed)
        case .choosing: selection(on: size)
        case .confirmation: confirmation(on: size, isArmed: isArmed)
        }
    }

    private func introduction(_ words: CallerWords) -> [StyledLine] {
        [.bold(words.text(.offersCard))] + words.sureness + [
            words.process, words.purpose, "", choice("d", .decline) + "   " + choice("c", .lookAtIt),
            choice("N", .declineEver),
        ]
    }

    private func cardLines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let page = cardRows(on: size)
        var lines: [StyledLine] = [.bold(title(on: size))]
        lines += cardPages.shown(of: card.lines, by: page).map { line in
            .dim("   \(Columns.pad(line.label, to: 12)) ") + StyledLine(Columns.clip(line.text, to: size.columns - 18))
        }
        lines += cardPages.place(of: card.lines.count, by: page, names)
        return lines + [
            "", approving("a", .addCard, isArmed: isArmed) + "   " + choice("m", .mergeInto),
            choice("d", .decline),
        ]
    }

    /// The card's name in quotation marks: it is the app's word until the person has taken it.
    private func title(on size: ScreenSize) -> String { ShownText.quoted(card.name, columns: size.columns - 2) }

    private func selection(on size: ScreenSize) -> [StyledLine] {
        var lines: [StyledLine] = [
            .bold(names.text(.intoWhich)),
            finder.line(names),
        ]
        lines += list.lines(columns: size.columns, names, ignoringShared: true)
        lines.append(list.place(Finder.limit(on: size), names))
        lines.append(
            finder.isTyping
                ? .dim(names.text(.typeOrDecline))
                : numbers(.choose) + "   " + choice("b", .back) + "   " + choice("d", .decline))
        if let remark = list.remark(names) { lines.append(.warning(remark)) }
        return lines
    }

    private func confirmation(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        guard let target = list.chosen.first else { return [] }
        return [
            .bold(names.text(.mergeQuestion)),
            "   \(Columns.clip(target.name, to: size.columns / 2))" + .dim("  \(target.detail ?? "")"),
            .dim("   " + names.text(.mergeExplained)), "",
            approving("y", .merge, isArmed: isArmed),
            choice("b", .back) + "   " + choice("d", .decline),
        ]
    }
}
