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
    /// In a review: fetch the saves of its app for ``PastChanges/listed(_:)``.
    case listChanges
    /// In a review: fetch what putting back would do, for ``PastChanges/foreseen(_:_:)``.
    case foresee(PutBackRequest)
    /// In a review: put back, for ``PastChanges/madeSo(_:)``, and list the saves again.
    case putBack(PutBackRequest)

    static func approval(_ answer: Answer, isArmed: Bool) -> Effect { isArmed ? .answer(answer) : .tooEarly }
}

/// One prompt: its lines and its reaction to keys. A dialogue has no side effects; the agent carries out the
/// effects that it returns.
///
/// The same keys have the same meaning in every dialogue: Return chooses what is highlighted, Escape refuses,
/// and the left arrow returns to the previous screen.
protocol Dialogue {
    var prompt: Prompt { get }
    /// Texts in the person's language.
    var names: LocalizedNames { get }

    /// Identifies the content that the person would approve. When the stage changes, earlier key presses do
    /// not count.
    var stage: String { get }

    /// Whether every character that the person types is text.
    var isTyping: Bool { get }

    /// Whether leaving would lose what the person marked or typed.
    var hasWork: Bool { get }

    /// Names what Escape does.
    var refusal: Phrase { get }

    /// The first visible line of a text that scrolls.
    var top: Int { get }

    /// The contacts that an answer would share.
    var chosen: [Row] { get }

    /// Returns the effect to carry out before the dialogue is shown.
    mutating func begin(on size: ScreenSize) -> Effect

    /// Handles a key, except Escape.
    ///
    /// - Parameter isArmed: whether the stage has been visible for the arming time. Approving keys count only
    ///   then.
    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect

    /// Returns the effect of Escape.
    func refuse() -> Effect

    mutating func found(_ result: SearchResult)
    mutating func shown(_ card: Card)

    /// Adapts the dialogue to a new terminal size.
    mutating func resized(to size: ScreenSize) -> Effect

    /// Returns the lines below the title, at most ``ScreenSize/rows`` minus 2.
    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine]

    /// The keys at the bottom of the screen, the most important first.
    var hints: [Hint] { get }
}

extension Dialogue {
    var isTyping: Bool { false }
    var hasWork: Bool { false }
    var top: Int { 0 }
    var chosen: [Row] { [] }
    func begin(on size: ScreenSize) -> Effect { .nothing }
    func refuse() -> Effect { .answer(.dismissed) }
    mutating func found(_ result: SearchResult) {}
    mutating func shown(_ card: Card) {}
    mutating func resized(to size: ScreenSize) -> Effect { .nothing }
}

// MARK: - Lines that dialogues share

extension Dialogue {
    func callerWords(on size: ScreenSize) -> CallerWords {
        // On a small screen, the keys and the choices need the room more.
        let purposeLines = max(1, min(3, size.rows - 12))
        return CallerWords(prompt: prompt, columns: size.columns, purposeLines: purposeLines, names: names)
    }

    func control(_ key: Character, _ phrase: Phrase) -> Control { Control(key: key, words: names.text(phrase)) }
    func approval(_ key: Character, _ words: String) -> Control { Control(key: key, words: words, isApproval: true) }

    /// Opens the question whether to share all contacts; none if the policy forbids that.
    func shareAllControl() -> [Control] {
        guard prompt.allowsAll else { return [] }
        let count = prompt.totalContacts
        let words = count == 0 ? names.text(.allowAdding) : names.text(.shareAllChoice, count: count)
        return [Control(key: "a", words: words)]
    }

    /// The question whether to share all contacts.
    ///
    /// - Parameter terms: what the person cannot change on this screen.
    func shareAllQuestion(
        _ words: CallerWords, _ keys: KeyChoice, _ terms: [StyledLine], _ menu: Menu, _ controls: [Control],
        on size: ScreenSize, isArmed: Bool
    ) -> [StyledLine] {
        let rights = words.rights(wholeCard: keys.isWholeCard, count: max(2, prompt.totalContacts))
        let later = StyledLine(names.text(.alsoLater)).wrapped(columns: size.columns - 1)
        return question(.bold(words.all), rights + later + terms, menu, controls, on: size, isArmed: isArmed)
    }

    /// The grant's lifetime, if there is only one.
    func fixedLifetime(_ lifetime: LifetimeChoice, _ words: CallerWords, indent: String) -> [StyledLine] {
        guard !lifetime.canChange, let chosen = lifetime.chosen else { return [] }
        return [.dim(indent + names.text(.settingLasts, [.lifetime: words.lifetime(chosen)]))]
    }

    /// The grant's lifetime, if there are several to choose from.
    func control(_ lifetime: LifetimeChoice, _ words: CallerWords) -> [Control] {
        guard lifetime.canChange, let chosen = lifetime.chosen else { return [] }
        let setting = names.text(.settingLasts, [.lifetime: words.lifetime(chosen)])
        return [Control(key: "t", words: names.text(.change), setting: setting)]
    }

    /// What the app may change.
    func control(_ changes: ChangesChoice, wholeCard: Bool) -> [Control] {
        let words = ChangesChoice.words(changes.chosen, wholeCard: wholeCard, names)
        let setting = names.text(.settingChanges, [.changes: words])
        return changes.canChange ? [Control(key: "w", words: names.text(.change), setting: setting)] : []
    }

    /// The keys that the app may read.
    func control(_ choice: KeyChoice) -> Control {
        let setting = names.text(.settingReads, [.keys: choice.words(names)])
        return Control(key: "k", words: names.text(.change), setting: setting)
    }

    /// The screen of a question: its text, details about it, and the controls. Empty lines separate them if
    /// the terminal has room for them. If there is little room, the last details are left out.
    func question(
        _ title: StyledLine, _ details: [StyledLine], _ menu: Menu, _ controls: [Control], on size: ScreenSize,
        isArmed: Bool
    ) -> [StyledLine] {
        let room = size.rows - 2
        let longest = size.columns - 12
        let controls = controls.map { control in
            var control = control
            control.setting = control.setting.map {
                Columns.clip($0, to: max(20, longest - Columns.width(control.words)))
            }
            return control
        }
        let menuLines = menu.lines(
            controls, columns: size.columns, room: max(1, room - 1 - details.count), isArmed: isArmed)
        let details = details.prefix(max(0, room - 1 - menuLines.count))
        let isSpacious = 1 + details.count + menuLines.count + 2 <= room
        return [title] + (isSpacious && !details.isEmpty ? [""] : []) + details + (isSpacious ? [""] : []) + menuLines
    }

    /// Who asks, for the first screen of a prompt.
    func introduction(_ words: CallerWords, _ more: [StyledLine]) -> [StyledLine] {
        // The process is the least important line, so it is the first to be left out.
        words.strengthLines + more + (prompt.isOwn ? [] : [words.process])
    }

    /// Hints for a screen with controls.
    func menuHints(canGoBack: Bool = true, refusal: Phrase? = nil) -> [Hint] {
        [names.hint("Return", .hintChoose), names.hint("Esc", refusal ?? self.refusal)]
            + (canGoBack ? [names.hint("←", .back)] : [])
            + [names.hint("?", .hintHelp)]
    }

    /// One contact or value to be confirmed.
    func confirmed(_ name: String, _ detail: String?, mark: String = " ", on size: ScreenSize) -> StyledLine {
        " \(mark) \(Columns.clip(name, to: size.columns / 2))" + .dim("  \(detail ?? "")")
    }

    /// The lines of a list to be confirmed, and its position if it is longer than `room`.
    func confirmed<Item>(
        _ items: [Item], at cursor: Cursor, room: Int, _ line: (Item) -> StyledLine
    ) -> [StyledLine] {
        guard items.count > room else { return items.map(line) }
        let visible = cursor.visible(count: items.count, page: room - 1)
        let place = names.place(visible.lowerBound + 1, visible.upperBound, of: items.count)
        return items[visible].map(line) + [.dim("   \(place)  [PgDn] [PgUp]")]
    }
}
