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
    case search(query: String, offset: Int, limit: Int)
    /// The same, of what the app can see already.
    case searchShared(query: String, offset: Int, limit: Int)
    /// The dialogue wants one contact's card; it is given to ``Dialogue/shown(_:)``.
    case show(identifier: String)
    case answer(Answer)
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
    mutating func shown(_ card: Card) {}

    /// A choice that shares something: its key is named only once it counts.
    func approving(_ key: Character, _ words: String, isArmed: Bool) -> StyledLine {
        isArmed ? .bold("[\(key)]") + StyledLine(" \(words)") : .dim("[ ] \(words)")
    }

    func choice(_ key: Character, _ words: String) -> StyledLine {
        .bold("[\(key)]") + StyledLine(" \(words)")
    }

    func approving(_ key: Character, _ phrase: Phrase, isArmed: Bool) -> StyledLine {
        approving(key, names.text(phrase), isArmed: isArmed)
    }

    func choice(_ key: Character, _ phrase: Phrase) -> StyledLine { choice(key, names.text(phrase)) }

    /// What may be done with a number on the page.
    func numbers(_ phrase: Phrase) -> StyledLine { .dim("[1–9] \(names.text(phrase))") }

    func callerWords(on size: ScreenSize) -> CallerWords {
        CallerWords(prompt: prompt, columns: size.columns, names: names)
    }
}
