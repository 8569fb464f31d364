import BrokerFormatting

/// The size of the terminal.
struct ScreenSize: Hashable, Sendable {
    var columns: Int
    var rows: Int

    /// The smallest size in which a prompt is completely readable.
    static let minimum = ScreenSize(columns: 60, rows: 12)

    var isLargeEnough: Bool { columns >= Self.minimum.columns && rows >= Self.minimum.rows }
}

/// An action that a dialogue asks the agent to carry out, for example after a key press.
enum Effect: Hashable {
    case nothing
    /// The person pressed an approving key before the screen was visible for the arming time.
    case tooEarly
    /// Fetch a page of contacts for ``Dialogue/found(_:)``.
    case search(query: String, offset: Int, limit: Int, sharedOnly: Bool = false)
    /// Fetch one contact's card for ``Dialogue/shown(_:)``.
    case show(identifier: String)
    case answer(Answer)

    static func approval(_ answer: Answer, isArmed: Bool) -> Effect { isArmed ? .answer(answer) : .tooEarly }
}

/// One prompt on the screen: its lines and its reaction to keys. A dialogue has no side effects; the agent
/// carries out the effects that it returns.
protocol Dialogue {
    var prompt: Prompt { get }
    /// Texts in the person's language.
    var names: LocalizedNames { get }

    /// Identifies the content that the person would approve. When the stage changes, earlier key presses do
    /// not count.
    var stage: String { get }

    /// Returns the effect to carry out before the dialogue is shown.
    func begin(on size: ScreenSize) -> Effect

    /// - Parameter isArmed: whether the stage has been visible for the arming time. Approving keys count only
    ///   then.
    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect

    mutating func found(_ result: SearchResult)
    mutating func shown(_ card: Card)

    /// Adapts the dialogue to a new terminal size.
    mutating func resized(to size: ScreenSize) -> Effect

    /// Returns the lines from the top, at most ``ScreenSize/rows`` minus 2.
    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine]
}

extension Dialogue {
    func begin(on size: ScreenSize) -> Effect { .nothing }
    mutating func shown(_ card: Card) {}
}

/// A dialogue in which the person searches for contacts and chooses them by number.
protocol ListDialogue: Dialogue {
    var finder: Finder { get set }
    /// Whether the list is on the screen.
    var isChoosing: Bool { get }

    /// Handles a character that is not a refusal and that the finder does not use.
    mutating func press(_ character: Character, on size: ScreenSize, isArmed: Bool) -> Effect

    /// Returns the effect of the refusing keys.
    mutating func refuse() -> Effect

    /// Returns to the first page of every paged list, except the list of contacts.
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

// MARK: - Lines that dialogues share

extension Dialogue {
    func callerWords(on size: ScreenSize) -> CallerWords {
        CallerWords(prompt: prompt, columns: size.columns, names: names)
    }

    /// A choice that shares something. The screen shows its key only after the stage is armed.
    func approving(_ key: Character, _ words: String, isArmed: Bool) -> StyledLine {
        isArmed ? choice(key, words) : .dim("[ ] \(words)")
    }

    func choice(_ key: Character, _ words: String) -> StyledLine {
        .bold("[\(key)]") + StyledLine(" \(words)")
    }

    func choice(_ key: Character, _ phrase: Phrase) -> StyledLine { choice(key, names.text(phrase)) }

    /// Describes the number keys of this page.
    func numbers(_ phrase: Phrase) -> StyledLine { .dim("[1–9] \(names.text(phrase))") }

    /// The grant's lifetime, if one is offered, and the key to change it if there are several.
    func duration(_ lifetime: LifetimeChoice, _ words: CallerWords) -> [StyledLine] {
        guard let chosen = lifetime.chosen else { return [] }
        let text = words.lifetime(chosen)
        return [lifetime.canChange ? choice("t", text) : .dim("    \(text)")]
    }

    /// The introduction: the app, its request, and the choice to go on or refuse.
    func introduction(
        _ words: CallerWords, _ question: Phrase, _ details: [StyledLine], refuse: Phrase, goOn: Phrase = .goOn,
        never: Phrase
    ) -> [StyledLine] {
        [.bold(words.text(question))] + words.strengthLines + [words.process] + details
            + ["", choice("d", refuse) + "   " + choice("c", goOn), choice("N", never)]
    }

    /// One line of a list to be confirmed.
    func confirmed(_ name: String, _ detail: String?, mark: String = " ", on size: ScreenSize) -> StyledLine {
        " \(mark) \(Columns.clip(name, to: size.columns / 2))" + .dim("  \(detail ?? "")")
    }

    /// The end of a screen that asks for confirmation.
    func confirmation(_ words: String, isArmed: Bool, refuse: Phrase) -> [StyledLine] {
        ["", approving("y", words, isArmed: isArmed), choice("b", .back) + "   " + choice("d", refuse)]
    }
}
