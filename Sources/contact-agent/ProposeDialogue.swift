import BrokerFormatting

/// The dialogue in which an app offers a card. The person adds it, merges it into a contact, or declines. The
/// app's access does not change.
struct ProposeDialogue: ListDialogue {
    enum Stage: String {
        /// Shows the app and its purpose.
        case introduction
        /// Shows the card.
        case card
        /// The person searches for the contact to merge into, and chooses it by number.
        case choosing
        /// The person confirms the contact to merge into.
        case confirmation
    }

    let prompt: Prompt
    let names: LocalizedNames
    private let card: Card
    private(set) var place = Stage.introduction
    var finder = Finder()
    private var pages = Pages()

    var stage: String { place.rawValue }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
        card = prompt.proposed ?? Card(name: "", lines: [])
        finder.list.shared = .ignored
    }

    var isChoosing: Bool { place == .choosing }

    mutating func rewind() { pages.rewind() }

    // MARK: - Keys

    mutating func press(_ key: Character, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch (place, key) {
        case (.introduction, "N"): return .answer(Answer(neverAskAgain: true))
        case (.introduction, "c"): place = .card
        case (.card, "n"), (.card, "p"): pages.turn(key, of: card.lines.count, by: cardRows(on: size))
        case (.card, "a"): return .approval(Answer(addProposed: true), isArmed: isArmed)
        case (.card, "m"):
            place = .choosing
            return finder.start(on: size)
        case (.choosing, "b"): place = .card
        case (.choosing, _):
            guard finder.list.row(key) != nil else { break }
            finder.list.clearChosen()
            finder.list.toggle(key)
            if target != nil { place = .confirmation }
        case (.confirmation, "b"): place = .choosing
        case (.confirmation, "y"):
            guard let target else { break }
            return .approval(Answer(mergeInto: target.identifier), isArmed: isArmed)
        case (.introduction, _), (.card, _), (.confirmation, _): break
        }
        return .nothing
    }

    private var target: Row? { finder.list.chosen.first }
    private func cardRows(on size: ScreenSize) -> Int { max(1, size.rows - 7) }
}

// MARK: - Lines on the screen

extension ProposeDialogue {
    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        return switch place {
        case .introduction:
            introduction(
                words, .offersCard, [words.purpose], refuse: .decline, goOn: .lookAtIt, never: .declineEver)
        case .card: cardLines(on: size, isArmed: isArmed)
        case .choosing:
            finder.lines(
                .bold(names.text(.intoWhich)), whileTyping: .typeOrDecline,
                choices: numbers(.choose) + "   " + choice("b", .back) + "   " + choice("d", .decline), on: size, names)
        case .confirmation: confirmation(on: size, isArmed: isArmed)
        }
    }

    private func cardLines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        // The name is in quotation marks, because the app chose it.
        var lines: [StyledLine] = [.bold(ShownText.quoted(card.name, columns: size.columns - 2))]
        lines += pages.lines(of: card.lines, by: cardRows(on: size), names) { line in
            .dim("   \(Columns.pad(line.label, to: 12)) ") + StyledLine(Columns.clip(line.text, to: size.columns - 18))
        }
        return lines + [
            "", approving("a", names.text(.addCard), isArmed: isArmed) + "   " + choice("m", .mergeInto),
            choice("d", .decline),
        ]
    }

    private func confirmation(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        guard let target else { return [] }
        return [
            .bold(names.text(.mergeQuestion)), confirmed(target.name, target.detail, on: size),
            .dim("   " + names.text(.mergeExplained)),
        ] + confirmation(names.text(.merge), isArmed: isArmed, refuse: .decline)
    }
}
