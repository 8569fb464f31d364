import BrokerFormatting

/// The dialogue in which the person reviews the contacts that one app can see, and adds or removes contacts.
/// The app or the person starts the review.
struct ManageDialogue: ListDialogue {
    enum Stage: String {
        /// Shows the app that asks for the review.
        case introduction
        /// The person searches for contacts, and turns them on and off by number.
        case choosing
        /// The person confirms the exact changes.
        case confirmation
        /// The person decides whether to revoke all access.
        case revocation
    }

    let prompt: Prompt
    let names: LocalizedNames
    private(set) var place: Stage
    var finder = Finder()
    /// The position in the list of changes to be confirmed.
    private var pages = Pages()

    var stage: String { place.rawValue }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
        place = prompt.isOwn ? .choosing : .introduction
        finder.listsShared = prompt.status == "limited" && prompt.grantedContacts > 0
        finder.list.shared = isAdjusted ? .removable : .ignored
        finder.list.chosenMark = "+"
    }

    func begin(on size: ScreenSize) -> Effect { prompt.isOwn ? finder.search(from: 0, on: size) : .nothing }

    var isChoosing: Bool { place == .choosing }

    mutating func rewind() { pages.rewind() }

    // MARK: - Keys

    mutating func press(_ key: Character, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch (place, key) {
        case (.introduction, "N"): return .answer(Answer(neverAskAgain: true))
        case (.introduction, "c"):
            place = .choosing
            return finder.search(from: 0, on: size)
        case (.choosing, "s") where isAdjusted:
            finder.listsShared?.toggle()
            return finder.search(from: 0, on: size)
        case (.choosing, "x") where prompt.status != "denied": place = .revocation
        case (.choosing, "c") where !changes.isEmpty:
            pages.rewind()
            place = .confirmation
        case (.choosing, _): finder.list.toggle(key)
        case (.confirmation, "b"), (.revocation, "b"): place = .choosing
        case (.confirmation, "n"), (.confirmation, "p"):
            pages.turn(key, of: changes.count, by: changeRows(on: size))
        case (.confirmation, "y"):
            let removed = finder.list.removed.map(\.identifier)
            return .approval(
                Answer(
                    level: .limited, identifiers: finder.list.chosen.map(\.identifier),
                    moreContacts: finder.list.moreContacts,
                    removed: removed.isEmpty ? nil : removed),
                isArmed: isArmed)
        // Revoking needs no arming, because it shares nothing.
        case (.revocation, "y"): return .answer(Answer(level: .denied))
        case (.introduction, _), (.confirmation, _), (.revocation, _): break
        }
        return .nothing
    }

    /// Refusing the revocation returns to the list.
    mutating func refuse() -> Effect {
        guard place == .revocation else { return .answer(.dismissed) }
        place = .choosing
        return .nothing
    }

    /// Whether the person edits a limited grant. For any other status, the person makes a new selection.
    private var isAdjusted: Bool { prompt.status == "limited" }

    private func changeRows(on size: ScreenSize) -> Int { max(1, size.rows - 7) }

    private var changes: [(mark: String, row: Row)] {
        finder.list.chosen.map { ("+", $0) } + finder.list.removed.map { ("−", $0) }
    }
}

// MARK: - Lines on the screen

extension ManageDialogue {
    /// Describes the outcome in one line.
    static func words(for answer: Answer, _ app: String, _ names: LocalizedNames) -> String {
        if answer.neverAskAgain == true { return names.text(.asksNoMore, [.app: app]) }
        guard let level = answer.level else { return names.text(.staysAsIs, [.app: app]) }
        if level == .denied { return names.text(.seesNothingMore, [.app: app]) }
        let changes = changes(added: answer.contacts, removed: answer.removed?.count ?? 0, names)
        return names.text(.nowSees, [.app: app, .changes: changes])
    }

    private static func changes(added: Int, removed: Int, _ names: LocalizedNames) -> String {
        let parts = [
            added > 0 ? names.text(.changeMore, count: added) : nil,
            removed > 0 ? names.text(.changeLess, count: removed) : nil,
        ]
        return names.list(parts.compactMap { $0 })
    }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        return switch place {
        case .introduction: introduction(words)
        case .choosing: selection(words, on: size)
        case .confirmation: confirmation(words, on: size, isArmed: isArmed)
        case .revocation: revocation(words)
        }
    }

    private var seen: String {
        switch prompt.status {
        case "full": names.text(.seesAll)
        case "denied": names.text(.seesNothing)
        default: names.text(.seesOf, count: prompt.grantedContacts, [.total: String(prompt.totalContacts)])
        }
    }

    private func introduction(_ words: CallerWords) -> [StyledLine] {
        introduction(
            words, .lookThroughApp, [StyledLine(names.text(.asksYouTo, [.seen: seen]))], refuse: .leaveAsIs,
            never: .leaveEver)
    }

    private func selection(_ words: CallerWords, on size: ScreenSize) -> [StyledLine] {
        let title = words.text(isAdjusted ? .whatMaySee : .whatFromNow)
        let fits = Columns.width(title) + Columns.width(seen) + 2 <= size.columns
        let next = changes.isEmpty ? numbers(.onOrOff) : choice("c", .goOn)
        let revocation: StyledLine = prompt.status == "denied" ? "" : "   " + choice("x", .takeAllBack)
        return finder.lines(
            .bold(title) + .dim(fits ? "  " + seen : ""), heading: heading, whileTyping: .typeOrLeave,
            choices: next + "   " + choice("d", .leaveIt) + revocation, on: size, names)
    }

    private var heading: StyledLine {
        let query = ShownText.line(finder.query.text)
        let all: StyledLine = .dim(query.isEmpty ? names.text(.everybody) : "\(names.text(.search)) \(query)")
        let search = "   " + choice("/", .searchChoice)
        guard isAdjusted else { return all + search }
        return finder.listsShared == true
            ? .dim(names.text(.seesNow)) + "   " + choice("s", .showEverybody) + search
            : all + "   " + choice("s", .showSeesNow) + search
    }

    private func confirmation(_ words: CallerWords, on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let counts = Self.changes(
            added: finder.list.chosenContacts, removed: finder.list.removed.count, names)
        let title = isAdjusted ? words.text(.willSee, [.changes: counts]) : words.text(.willSeeOnly)
        return [.bold(title)]
            + pages.lines(of: changes, by: changeRows(on: size), names) {
                confirmed($0.row.name, $0.row.detail, mark: $0.mark, on: size)
            } + confirmation(names.text(.yesChange), isArmed: isArmed, refuse: .leaveAsIs)
    }

    private func revocation(_ words: CallerWords) -> [StyledLine] {
        [
            .bold(words.text(.takeAllBackFrom)), StyledLine(seen), "",
            choice("y", .takeAllBack), choice("b", .backReturn),
        ]
    }
}
