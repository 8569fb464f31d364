import BrokerFormatting

/// The dialogue of an access button: an app searches for contacts by name, number or address. The screen
/// shows the matches, and the person shares some of them, searches on, or shares none.
struct ButtonDialogue: Dialogue {
    enum Stage: String {
        /// Waiting for the search result.
        case looking
        /// One contact matches, and one key shares it.
        case oneMatch
        /// The list of matches. The person can change the query.
        case choosing
        /// The person confirms several contacts, or an app without access.
        case confirmation
    }

    let prompt: Prompt
    let names: LocalizedNames
    private(set) var place = Stage.looking
    var finder: Finder
    private var menu = Menu()
    private(set) var lifetime: LifetimeChoice
    /// The contacts that the confirmation shows.
    private var toShare: [Row] = []
    /// The query as the app sent it last.
    private(set) var query: String

    /// With one match, the stage includes the contact, so a different match is a different stage.
    var stage: String { place == .oneMatch ? "\(place.rawValue) \(match?.identifier ?? "")" : place.rawValue }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
        query = prompt.query ?? ""
        finder = Finder(query: query)
        lifetime = LifetimeChoice(prompt)
    }

    var isTyping: Bool { place == .choosing && finder.isTyping }
    var hasWork: Bool { finder.hasWork }
    var refusal: Phrase { .dontShare }

    mutating func begin(on size: ScreenSize) -> Effect { finder.start(on: size) }

    mutating func found(_ result: SearchResult) {
        finder.list.show(result)
        if place == .looking || !finder.isEdited, place != .confirmation {
            place = result.total == 1 && match != nil ? .oneMatch : .choosing
        }
    }

    mutating func resized(to size: ScreenSize) -> Effect { finder.resized(to: size) }

    /// Takes another query of the app. It has no effect once the person has moved, marked or typed.
    mutating func update(query: String, on size: ScreenSize) -> Effect {
        guard !finder.isEdited, place != .confirmation else { return .nothing }
        self.query = query
        finder = Finder(query: query)
        menu = Menu()
        place = .looking
        return finder.start(on: size)
    }

    /// The only match.
    private var match: Row? {
        finder.list.total == 1 ? finder.list.rows.first { finder.list.canMark($0) } : nil
    }

    // MARK: - Keys

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch place {
        case .looking: break
        case .choosing:
            switch finder.press(key, on: size) {
            case .effect(let effect): return effect
            case .goOn:
                finder.takeCurrent()
                share(finder.list.marked)
            case .unused: break
            }
        case .oneMatch, .confirmation:
            if key == .left, place == .confirmation || finder.isEdited {
                place = .choosing
                return .nothing
            }
            guard let chosen = menu.press(key, controls(on: size)) else { break }
            return choose(chosen, isArmed: isArmed)
        }
        return .nothing
    }

    private mutating func choose(_ key: Character, isArmed: Bool) -> Effect {
        switch (place, key) {
        case (_, "N"): return .answer(Answer(level: prompt.isUndecided ? .denied : nil, neverAskAgain: true))
        case (.oneMatch, "s"):
            guard let match else { break }
            if prompt.hasGrant { return .approval(approval(of: [match]), isArmed: isArmed) }
            share([match])
        case (.oneMatch, "/"), (.confirmation, "b"): place = .choosing
        case (.confirmation, "t"): lifetime.change()
        case (.confirmation, "y"): return .approval(approval(of: toShare), isArmed: isArmed)
        default: break
        }
        return .nothing
    }

    /// Asks the person to confirm these contacts.
    private mutating func share(_ rows: [Row]) {
        guard !rows.isEmpty else { return }
        toShare = rows
        menu = Menu()
        place = .confirmation
    }

    private func approval(of rows: [Row]) -> Answer {
        Answer(level: .limited, identifiers: rows.map(\.identifier), lifetime: lifetime.chosen)
    }
}

// MARK: - Lines on the screen

extension ButtonDialogue {
    private func controls(on size: ScreenSize) -> [Control] {
        let words = callerWords(on: size)
        let never = Control(
            key: "N", words: names.text(prompt.isUndecided ? .neverAndDontAsk : .neverAsk))
        switch place {
        case .oneMatch:
            let name = Columns.clip(match?.name ?? "", to: size.columns / 3)
            let share = words.text(.sharePerson, [.name: name], reserving: 8)
            return [Control(key: "s", words: share, isApproval: true), control("/", .searchOn), never]
        case .confirmation:
            return [Control(key: "y", words: names.text(.shareThese, count: toShare.count), isApproval: true)]
                + control(lifetime, words) + [control("b", .back), never]
        case .looking, .choosing: return []
        }
    }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        switch place {
        case .looking: return [.bold(asks(words, on: size)), .dim(names.text(.looking))]
        case .choosing:
            let none = finder.list.isLoaded && finder.list.total == 0
            let lines = finder.lines(.bold(asks(words, on: size)), on: size, names)
            return none ? lines + ["", StyledLine(words.text(.noMatch)), .dim(names.text(.searchOrLeave))] : lines
        case .oneMatch:
            let name = Columns.clip(match?.name ?? "", to: size.columns / 2)
            let person = "  " + Matches.line(name, finder.query.text, .bold) + .dim("  \(match?.detail ?? "")")
            return question(
                .bold(asks(words, on: size)), [person] + introduction(words, []), menu, controls(on: size), on: size,
                isArmed: isArmed)
        case .confirmation:
            let title = words.text(.shareWith, count: toShare.count)
            let status = words.text(prompt.hasGrant ? .seesSome : prompt.isUndecided ? .neverHad : .isDenied)
            let about = [StyledLine("  " + status)] + introduction(words, words.purpose)
            let limit = words.readAtMost.map { [$0] } ?? []
            let fixed = fixedLifetime(lifetime, words, indent: "  ")
            let controls = controls(on: size)
            let room = size.rows - 3 - controls.count - about.count - limit.count - fixed.count
            return question(
                .bold(title), people(on: size, within: max(1, room)) + limit + fixed + about, menu, controls, on: size,
                isArmed: isArmed)
        }
    }

    private func asks(_ words: CallerWords, on size: ScreenSize) -> String {
        let room = size.columns - Columns.width(names.text(.looksFor, [.app: words.name, .query: ""])) - 1
        return names.text(.looksFor, [.app: words.name, .query: ShownText.quoted(query, columns: room, names)])
    }

    /// The names of all contacts to be shared, cut to `room` lines.
    private func people(on size: ScreenSize, within room: Int) -> [StyledLine] {
        let people = toShare.map { Columns.clip($0.name, to: size.columns / 2) }
        let text = names.text(.onlyThese, count: toShare.count, [.names: names.list(people)])
        let lines = StyledLine(text).wrapped(columns: size.columns - 1)
        guard lines.count > room else { return lines }
        return lines.prefix(room - 1) + [lines[room - 1] + "…"]
    }

    var hints: [Hint] {
        switch place {
        case .looking: [Hint(key: "Esc", words: names.text(refusal))]
        case .choosing: finder.hints(names, goOn: names.text(.goOn), refuse: names.text(refusal))
        case .oneMatch: menuHints(canGoBack: false)
        case .confirmation: menuHints()
        }
    }
}
