import BrokerFormatting
import BrokerModel

/// The dialogue in which an app offers a card. The person adds it, merges it into a contact, or declines. The
/// app's access does not change.
struct ProposeDialogue: Dialogue {
    enum Stage: String {
        /// Shows the app and its purpose.
        case introduction
        /// Shows the card.
        case card
        /// The person changes the card's texts, or leaves some out.
        case editing
        /// The person searches for the contact to merge into.
        case choosing
        /// The person compares the card with the contact, and confirms.
        case comparison
    }

    let prompt: Prompt
    let names: LocalizedNames
    private var card: Card
    private var editor: CardEditor
    private(set) var place = Stage.introduction
    var finder = Finder()
    private var menu = Menu()
    private var cursor = Cursor()
    /// A contact that the card probably belongs to, which the broker lists first.
    private var suggestion: Row?
    /// The contact to merge into, and its card.
    private var target: (row: Row, card: Card)?
    private var opening: Row?

    var stage: String { "\(place.rawValue) \(place == .comparison ? target?.row.identifier ?? "" : "")" }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
        let offered = prompt.proposed ?? WireContact(contact: Contact(), keys: [])
        card = Card(offered.contact, names)
        editor = CardEditor(offered, names)
        finder.list.shared = .ignored
    }

    var isTyping: Bool { place == .editing && editor.isTyping }
    var hasWork: Bool { editor.card != nil || editor.isTyping }
    var refusal: Phrase { .decline }

    mutating func begin(on size: ScreenSize) -> Effect { finder.start(on: size) }

    mutating func found(_ result: SearchResult) {
        finder.show(result)
        if finder.query.text.isEmpty, result.offset == 0 { suggestion = result.rows.first { $0.match != nil } }
    }

    mutating func shown(_ card: Card) {
        guard let row = opening else { return }
        target = (row, card)
        opening = nil
        go(to: .comparison)
    }

    mutating func resized(to size: ScreenSize) -> Effect { place == .choosing ? finder.resized(to: size) : .nothing }

    // MARK: - Keys

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch place {
        case .choosing:
            switch finder.press(key, on: size) {
            case .effect(let effect):
                // Only one contact can be chosen, so marking it opens it.
                guard let row = finder.list.marked.first else { return effect }
                return open(row)
            case .goOn: return finder.list.current.map { open($0) } ?? .nothing
            case .unused: if key == .left { go(to: .card) }
            }
        case .editing:
            guard !editor.press(key, on: size) else { break }
            if key == .left {
                if let changed = editor.card ?? prompt.proposed { card = Card(changed.contact, names) }
                go(to: .card)
            }
        case .introduction, .card, .comparison:
            if key == .left, place != .introduction {
                go(to: place == .card ? .introduction : .card)
                break
            }
            if key == .pageUp || key == .pageDown {
                _ = cursor.move(key, count: shownLines(on: size).count, page: rows(on: size) - 1)
                break
            }
            if let chosen = menu.press(key, controls) { return choose(chosen, on: size, isArmed: isArmed) }
        }
        return .nothing
    }

    private mutating func open(_ row: Row) -> Effect {
        finder.list.clearMarks()
        guard row.isEnabled else { return .nothing }
        opening = row
        return .show(identifier: row.identifier)
    }

    private mutating func choose(_ key: Character, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch (place, key) {
        case (.introduction, "N"): return .answer(Answer(neverAskAgain: true))
        case (.introduction, "c"): go(to: .card)
        case (.card, "a"): return .approval(Answer(addProposed: true, card: editor.card), isArmed: isArmed)
        case (.card, "e"): go(to: .editing)
        case (.card, "m"): return suggestion.map { open($0) } ?? .nothing
        case (.card, "o"): go(to: .choosing)
        case (.comparison, "b"): go(to: .card)
        case (.comparison, "y"):
            guard let target else { break }
            return .approval(Answer(mergeInto: target.row.identifier, card: editor.card), isArmed: isArmed)
        default: break
        }
        return .nothing
    }

    private mutating func go(to place: Stage) {
        self.place = place
        menu = Menu()
        cursor = Cursor()
    }

    private func rows(on size: ScreenSize) -> Int { max(2, size.rows - 3 - controls.count) }
}

// MARK: - Lines on the screen

extension ProposeDialogue {
    private var controls: [Control] {
        switch place {
        case .introduction: return [control("c", .lookAtIt), control("N", .declineEver)]
        case .card:
            let add = approval("a", names.text(.addCard))
            let merge = suggestion.flatMap { stillMatches($0) ? $0 : nil }.map { row in
                let name = Columns.clip(row.name, to: 24)
                return Control(key: "m", words: names.text(.mergeWith, [.name: name, .reason: reason(row)]))
            }
            // A contact that the person has already is more likely than a new one.
            let takes = (merge.map { [$0] } ?? []) + [add] + (prompt.isEmptyBook ? [] : [control("o", .mergeInto)])
            return (editor.isEmpty ? [] : takes) + [control("e", .editCard)]
        case .comparison:
            return [approval("y", names.text(.merge)), control("b", .back)]
        case .editing, .choosing: return []
        }
    }

    /// Whether the card still has what it had in common with the contact, after the person left out or changed texts.
    private func stillMatches(_ row: Row) -> Bool {
        guard let offered = prompt.proposed?.contact, let left = editor.card?.contact else { return true }
        switch row.match {
        case "email":
            let left = Set(left.emailAddresses.map { $0.value.lowercased() })
            return offered.emailAddresses.allSatisfy { left.contains($0.value.lowercased()) }
        case "phone":
            let left = Set(left.phoneNumbers.map(\.value))
            return offered.phoneNumbers.allSatisfy { left.contains($0.value) }
        default:
            return ContactKeySet.names.keys.allSatisfy { offered.text(of: $0) == left.text(of: $0) }
        }
    }

    private func reason(_ row: Row) -> String {
        switch row.match {
        case "email": names.text(.sameEmail)
        case "phone": names.text(.samePhone)
        default: names.text(.sameName)
        }
    }

    /// The lines of the card, or of both cards side by side.
    private func shownLines(on size: ScreenSize) -> [StyledLine] {
        guard place == .comparison, let target else {
            return card.lines.map { line in
                .dim("   \(Columns.pad(line.label, to: 12)) ")
                    + StyledLine(Columns.clip(line.text, to: size.columns - 18))
            }
        }
        // The contact's values, and those of the card that the contact lacks.
        let known = Set(target.card.lines.map(\.text))
        let kept = target.card.lines.map { (sign: " ", line: $0) }
        let added = card.lines.filter { !known.contains($0.text) }.map { (sign: "+", line: $0) }
        return (added + kept).map { sign, line in
            StyledLine(" \(sign) \(Columns.pad(line.label, to: 12)) ", sign == "+" ? .bold : .dim)
                + StyledLine(Columns.clip(line.text, to: size.columns - 18), sign == "+" ? .bold : .plain)
        }
    }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        func question(_ title: StyledLine, _ details: [StyledLine]) -> [StyledLine] {
            self.question(title, details, menu, controls, on: size, isArmed: isArmed)
        }
        // The card's name is in quotation marks, because the app chose it.
        let name = ShownText.quoted(card.name, columns: size.columns - 2, names)
        let warning = Lookalike.warning(card.name).map { [StyledLine.warning("  " + names.text($0))] } ?? []
        switch place {
        case .introduction:
            return question(
                .bold(words.text(.offersCard)), introduction(words, words.purpose + [StyledLine("  " + name)] + warning)
            )
        case .card:
            return question(.bold(name), confirmed(shownLines(on: size), at: cursor, room: rows(on: size)) { $0 })
        case .editing: return editor.lines(.bold(name), on: size)
        case .choosing: return finder.lines(.bold(names.text(.intoWhich)), on: size, names)
        case .comparison:
            let title = names.text(.mergeQuestion, [.name: Columns.clip(target?.row.name ?? "", to: size.columns / 2)])
            let lines = confirmed(shownLines(on: size), at: cursor, room: rows(on: size) - 1) { $0 }
            return question(.bold(title), lines + [.dim("   " + names.text(.mergeExplained))])
        }
    }

    var hints: [Hint] {
        switch place {
        case .introduction: menuHints(canGoBack: false)
        case .card, .comparison: menuHints()
        case .editing: editor.hints(refuse: refusal)
        case .choosing: finder.hints(names, refuse: refusal, mark: nil)
        }
    }
}
