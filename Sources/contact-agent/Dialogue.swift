import BrokerFormatting

/// How large the terminal is.
struct ScreenSize: Hashable, Sendable {
    var columns: Int
    var rows: Int

    /// The least in which a prompt can be read whole.
    static let minimum = ScreenSize(columns: 60, rows: 12)

    var isLargeEnough: Bool { columns >= Self.minimum.columns && rows >= Self.minimum.rows }
}

/// What follows from a key.
enum Effect: Hashable {
    case nothing
    /// An approving key that came before the screen had been seen.
    case tooEarly
    /// The dialogue wants a page of contacts; it is given to ``Dialogue/found(_:)``.
    case search(query: String, offset: Int, limit: Int, sharedOnly: Bool = false)
    /// The dialogue wants one contact's card; it is given to ``Dialogue/shown(_:)``.
    case show(identifier: String)
    case answer(Answer)

    static func approval(_ answer: Answer, isArmed: Bool) -> Effect { isArmed ? .answer(answer) : .tooEarly }
}

/// One prompt on the screen: what it shows and what the person's keys do. It draws nothing and calls nobody.
protocol Dialogue {
    var prompt: Prompt { get }
    /// The words, in the person's language.
    var names: LocalizedNames { get }

    /// Changes whenever something else would be approved: what was pressed before that does not count.
    var stage: String { get }

    /// What it needs before it can be shown.
    func begin(on size: ScreenSize) -> Effect

    /// - Parameter isArmed: the stage has been visible long enough for an approving key to be meant.
    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect

    mutating func found(_ result: SearchResult)
    mutating func shown(_ card: Card)

    /// The terminal has another size now.
    mutating func resized(to size: ScreenSize) -> Effect

    /// The lines, from the top; at most ``ScreenSize/rows`` less 2.
    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine]
}

extension Dialogue {
    func begin(on size: ScreenSize) -> Effect { .nothing }
    mutating func shown(_ card: Card) {}
}

/// A dialogue in which the person looks for contacts, and chooses from a list of them by number.
protocol ListDialogue: Dialogue {
    var finder: Finder { get set }
    /// The list is on the screen.
    var isChoosing: Bool { get }

    /// A character that is not part of a query, and does not refuse.
    mutating func press(_ character: Character, on size: ScreenSize, isArmed: Bool) -> Effect

    /// What the keys do that refuse.
    mutating func refuse() -> Effect

    /// Shows the first page of everything that has pages, the list of contacts excepted.
    mutating func rewind()
}

extension ListDialogue {
    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        if isChoosing, let effect = finder.press(key, on: size) { return effect }
        if key.isRefusal { return refuse() }
        guard case .character(let character) = key else { return .nothing }
        return press(character, on: size, isArmed: isArmed)
    }

    mutating func refuse() -> Effect { .answer(.dismissed) }

    mutating func found(_ result: SearchResult) { finder.list.show(result) }

    mutating func resized(to size: ScreenSize) -> Effect {
        rewind()
        return isChoosing ? finder.search(from: finder.list.offset, on: size) : .nothing
    }
}

// MARK: - What dialogues show alike

extension Dialogue {
    func callerWords(on size: ScreenSize) -> CallerWords {
        CallerWords(prompt: prompt, columns: size.columns, names: names)
    }

    /// A choice that shares something: its key is named only once it counts.
    func approving(_ key: Character, _ words: String, isArmed: Bool) -> StyledLine {
        isArmed ? choice(key, words) : .dim("[ ] \(words)")
    }

    func choice(_ key: Character, _ words: String) -> StyledLine {
        .bold("[\(key)]") + StyledLine(" \(words)")
    }

    func choice(_ key: Character, _ phrase: Phrase) -> StyledLine { choice(key, names.text(phrase)) }

    /// What may be done with a number on the page.
    func numbers(_ phrase: Phrase) -> StyledLine { .dim("[1–9] \(names.text(phrase))") }

    /// How long the grant would last, where that is said; another one may be offered.
    func duration(_ lifetime: LifetimeChoice, _ words: CallerWords) -> [StyledLine] {
        guard let chosen = lifetime.chosen else { return [] }
        let text = words.lifetime(chosen)
        return [lifetime.canChange ? choice("t", text) : .dim("    \(text)")]
    }

    /// Who asks for what, and whether the person wants to go on.
    func introduction(
        _ words: CallerWords, _ question: Phrase, _ details: [StyledLine], refuse: Phrase, goOn: Phrase = .goOn,
        never: Phrase
    ) -> [StyledLine] {
        [.bold(words.text(question))] + words.sureness + [words.process] + details
            + ["", choice("d", refuse) + "   " + choice("c", goOn), choice("N", never)]
    }

    /// One of those about whom something is to be confirmed.
    func confirmed(_ name: String, _ detail: String?, mark: String = " ", on size: ScreenSize) -> StyledLine {
        " \(mark) \(Columns.clip(name, to: size.columns / 2))" + .dim("  \(detail ?? "")")
    }

    /// The end of a screen that asks for confirmation.
    func confirmation(_ words: String, isArmed: Bool, refuse: Phrase) -> [StyledLine] {
        ["", approving("y", words, isArmed: isArmed), choice("b", .back) + "   " + choice("d", refuse)]
    }
}
