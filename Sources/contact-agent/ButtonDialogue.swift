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
    private(set) var changes: ChangesChoice
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
        changes = ChangesChoice(prompt)
    }

    var hasWork: Bool { finder.hasWork }
    var refusal: Phrase { .dontShare }
    var chosen: [Row] { place == .oneMatch ? match.map { [$0] } ?? [] : toShare }

    mutating func begin(on size: ScreenSize) -> Effect { finder.start(on: size) }

    mutating func found(_ result: SearchResult) {
        finder.show(result)
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
        case (.confirmation, "w"): changes.change()
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
        Answer(
            level: .limited, identifiers: rows.map(\.identifier), changes: prompt.hasGrant ? nil : changes.answer,
            lifetime: lifetime.chosen)
    }
}

// MARK: - Lines on the screen

extension ButtonDialogue {
    private func controls(on size: ScreenSize) -> [Control] {
        let words = callerWords(on: size)
        let never = Control(
            key: "N", words: names.text(prompt.hasGrant ? .neverAsk : .neverAndDontAsk))
        switch place {
        case .oneMatch:
            let name = Columns.clip(match?.name ?? "", to: size.columns / 3)
            let share = words.text(.sharePerson, [.name: name], reserving: 8)
            return [approval("s", share), control("/", .searchOn), never]
        case .confirmation:
            return [approval("y", names.text(.shareThese, count: toShare.count))]
                + (prompt.hasGrant ? [] : control(changes, wholeCard: prompt.getsWholeCard)) + control(lifetime, words)
                + [control("b", .back), never]
        case .looking, .choosing: return []
        }
    }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        switch place {
        case .looking: return [.bold(asks(words, on: size)), .dim(names.text(.looking))]
        case .choosing:
            let lines = finder.lines(.bold(asks(words, on: size)), on: size, names)
            return finder.list.isLoaded && finder.list.total == 0 ? lines + [""] + noMatch(words, on: size) : lines
        case .oneMatch:
            let name = Columns.clip(match?.name ?? "", to: size.columns / 2)
            let person = "  " + Matches.line(name, finder.query.text, .bold) + .dim("  \(match?.detail ?? "")")
            let rights = prompt.hasGrant ? terms(words, count: 1, on: size) : []
            return question(
                .bold(asks(words, on: size)), [person] + rights + introduction(words, []), menu, controls(on: size),
                on: size, isArmed: isArmed)
        case .confirmation:
            let title = words.text(.shareWith, count: toShare.count)
            let status = words.text(prompt.hasGrant ? .seesSome : prompt.isUndecided ? .neverHad : .isDenied)
            let about = introduction(words, words.purpose + [StyledLine("  " + status)])
            let limit = terms(words, count: toShare.count, on: size) + (words.readAtMost.map { [$0] } ?? [])
            let fixed = fixedLifetime(lifetime, words, indent: "  ")
            let controls = controls(on: size)
            let room = size.rows - 3 - controls.count - about.count - limit.count - fixed.count
            return question(
                .bold(title), people(on: size, within: max(1, room)) + limit + fixed + about, menu, controls, on: size,
                isArmed: isArmed)
        }
    }

    /// What the app gets of each of these contacts, and what else it may do with them.
    private func terms(_ words: CallerWords, count: Int, on size: ScreenSize) -> [StyledLine] {
        let keys = KeyChoice(asked: nil, granted: prompt.grantedKeys, most: prompt.maximumKeys).words(names)
        let gets = Columns.clip("   " + names.text(.settingReads, [.keys: keys]), to: size.columns - 1)
        return [StyledLine(gets)] + words.rights(wholeCard: prompt.getsWholeCard, count: count)
    }

    /// Says that nobody was found, and what to do.
    private func noMatch(_ words: CallerWords, on size: ScreenSize) -> [StyledLine] {
        guard !prompt.isEmptyBook else { return words.emptyBook }
        let query = ShownText.quoted(finder.query.text, columns: size.columns / 2, names)
        // Contacts that the app sees already are not listed.
        let nobody = names.text(prompt.hasGrant ? .noNewMatch : .noMatch, [.query: query])
        return StyledLine(nobody).wrapped(columns: size.columns - 1)
            + [StyledLine(words.text(.notTold)), .dim(names.text(.searchOrLeave))]
    }

    private func asks(_ words: CallerWords, on size: ScreenSize) -> String {
        let room = size.columns - Columns.width(names.text(.looksFor, [.app: words.name, .query: ""])) - 1
        return names.text(.looksFor, [.app: words.name, .query: ShownText.quoted(query, columns: room, names)])
    }

    /// The names of all contacts to be shared, cut to `room` lines. What else is known about a contact follows if it is
    /// the only one, or if another one that was found has the same name.
    private func people(on size: ScreenSize, within room: Int) -> [StyledLine] {
        let known = Set((finder.list.rows + toShare).map { [$0.name, $0.identifier] })
        let people = toShare.map { row in
            let name = Columns.clip(row.name, to: size.columns / 2)
            let isAlone = toShare.count == 1 || known.count { $0[0] == row.name } > 1
            guard isAlone, let detail = row.detail, !detail.isEmpty else { return name }
            return name + " (\(Columns.clip(detail, to: size.columns / 3)))"
        }
        let text = names.text(.onlyThese, count: toShare.count, [.names: names.list(people)])
        let lines = StyledLine(text).wrapped(columns: size.columns - 1)
        guard lines.count > room else { return lines }
        return lines.prefix(room - 1) + [lines[room - 1] + "…"]
    }

    var hints: [Hint] {
        switch place {
        case .looking: [names.hint("Esc", refusal)]
        case .choosing: finder.hints(names, refuse: refusal)
        case .oneMatch: menuHints(canGoBack: false)
        case .confirmation: menuHints()
        }
    }
}
