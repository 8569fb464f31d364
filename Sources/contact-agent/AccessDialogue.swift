import BrokerFormatting

/// The dialogue in which an app asks for access to contacts for the first time. The person chooses the
/// contacts that the app may see, and confirms them.
struct AccessDialogue: Dialogue {
    enum Stage: String {
        /// Shows the app, its identity strength and its purpose. The person decides between some contacts,
        /// all and none.
        case introduction
        /// The person searches for contacts and marks them.
        case choosing
        /// The person confirms the marked contacts.
        case confirmation
        /// The person confirms that the app may see all contacts.
        case everything
        /// The person chooses the keys that the app may read.
        case keys
    }

    let prompt: Prompt
    let names: LocalizedNames
    private(set) var place = Stage.introduction
    var finder = Finder()
    private var menu = Menu()
    private(set) var lifetime: LifetimeChoice
    private(set) var keys: KeyChoice
    private(set) var changes: ChangesChoice
    /// The position in the list of contacts to be confirmed.
    private var cursor = Cursor()
    /// The screen from which the person opened the keys.
    private var former = Stage.confirmation

    var stage: String { place.rawValue }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
        lifetime = LifetimeChoice(prompt)
        keys = KeyChoice(asked: prompt.keys, most: prompt.maximumKeys)
        changes = ChangesChoice(prompt)
    }

    var hasWork: Bool { finder.hasWork }
    var refusal: Phrase { .dontAllow }

    func refuse() -> Effect { .answer(Answer(level: .denied)) }

    var chosen: [Row] { marked }

    mutating func found(_ result: SearchResult) { finder.show(result) }
    mutating func resized(to size: ScreenSize) -> Effect { place == .choosing ? finder.resized(to: size) : .nothing }

    // MARK: - Keys

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch place {
        case .choosing:
            switch finder.press(key, on: size) {
            case .effect(let effect): return effect
            case .goOn: confirm()
            case .unused: if key == .left { go(to: .introduction) }
            }
            return .nothing
        case .keys:
            let isUsed = keys.press(key, on: size)
            if !isUsed, key == .left || key == .enter { go(to: former) }
            return .nothing
        case .confirmation where key == .left: go(to: .choosing)
        case .everything where key == .left: go(to: .introduction)
        case .confirmation where key == .pageUp || key == .pageDown:
            _ = cursor.move(key, count: marked.count, page: room(on: size) - 1)
        case .introduction, .confirmation, .everything:
            if let chosen = menu.press(key, controls(on: size)) { return choose(chosen, on: size, isArmed: isArmed) }
        }
        return .nothing
    }

    private mutating func choose(_ key: Character, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch (place, key) {
        case (.introduction, "N"): return .answer(Answer(level: .denied, neverAskAgain: true))
        case (.introduction, "a"): go(to: .everything)
        case (.introduction, "c"):
            go(to: .choosing)
            if !finder.list.isLoaded { return finder.start(on: size) }
        case (.confirmation, "b"): go(to: .choosing)
        case (.everything, "b"): go(to: .introduction)
        case (_, "t"): lifetime.change()
        case (_, "w"): changes.change()
        case (_, "n"): keys.toggleNotes()
        case (_, "k"):
            former = place
            go(to: .keys)
        case (.confirmation, "y"): return approve(limited, isArmed: isArmed)
        case (.everything, "y"):
            return approve(
                Answer(level: .full, keys: keys.keys, changes: changes.answer, lifetime: lifetime.chosen),
                isArmed: isArmed)
        default: break
        }
        return .nothing
    }

    private mutating func approve(_ answer: Answer, isArmed: Bool) -> Effect {
        // An app that may read nothing has no use of contacts.
        guard !keys.isNothing else {
            former = place
            go(to: .keys)
            return .nothing
        }
        return .approval(answer, isArmed: isArmed)
    }

    private var limited: Answer {
        Answer(
            level: .limited, identifiers: marked.map(\.identifier), moreContacts: finder.list.moreContacts,
            keys: keys.keys, changes: changes.answer, lifetime: lifetime.chosen)
    }

    private mutating func go(to place: Stage) {
        self.place = place
        // Full access is never one Return away.
        menu = Menu(at: place == .everything ? "b" : nil)
    }

    private mutating func confirm() {
        finder.takeCurrent()
        guard !marked.isEmpty else { return }
        cursor = Cursor()
        go(to: .confirmation)
    }

    private var marked: [Row] { finder.list.marked }

    /// The room for contacts to be confirmed: the screen without the title, the question and the controls.
    private func room(on size: ScreenSize) -> Int { max(2, size.rows - 3 - controls(on: size).count) }
}

// MARK: - Lines on the screen

extension AccessDialogue {
    private func controls(on size: ScreenSize) -> [Control] {
        let words = callerWords(on: size)
        switch place {
        case .introduction:
            return (prompt.isEmptyBook ? [] : [control("c", .chooseContacts)]) + shareAllControl()
                + [control("N", .dontAllowEver)]
        case .confirmation:
            let share = names.text(.shareThese, count: finder.list.markedContacts)
            return [approval("y", share)] + terms(words) + [control("b", .back)]
        case .everything:
            return [approval("y", names.text(.yesShareAll))] + terms(words)
                + [control("b", .back)]
        case .choosing, .keys: return []
        }
    }

    /// What else the person decides: the keys, notes if the app asked for them, what the app may change, and the lifetime.
    private func terms(_ words: CallerWords) -> [Control] {
        let notes = keys.hasNotes.map { isOn in
            let setting = names.text(isOn ? .settingOn : .settingOff, [.name: names.text(.keysNotes)])
            return [Control(key: "n", words: names.text(.change), setting: setting)]
        }
        return [control(keys)] + (notes ?? []) + control(changes, wholeCard: keys.isWholeCard)
            + control(lifetime, words)
    }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        func question(_ title: String, _ details: [StyledLine]) -> [StyledLine] {
            self.question(.bold(title), details, menu, controls(on: size), on: size, isArmed: isArmed)
        }
        switch place {
        case .introduction:
            let limits = [words.readAtMost, prompt.allowsAll ? nil : words.singleOnly]
            let asks = words.purpose + [words.wants] + words.wantsChanges + words.emptyBook
            return question(words.text(.accessAsks), introduction(words, asks + limits.compactMap { $0 }))
        case .choosing: return finder.lines(.bold(words.text(.whatMaySee)), on: size, names)
        case .keys:
            return keys.lines(.bold(words.text(.whatMayRead)), on: size, names)
        case .confirmation:
            let title = words.text(.shareWith, count: finder.list.markedContacts)
            let fixed = fixedLifetime(lifetime, words, indent: "   ")
            return question(
                title,
                confirmed(marked, at: cursor, room: room(on: size) - fixed.count) {
                    confirmed($0.name, $0.detail, on: size)
                } + fixed)
        case .everything:
            return shareAllQuestion(words, keys, [], menu, controls(on: size), on: size, isArmed: isArmed)
        }
    }

    var hints: [Hint] {
        switch place {
        case .introduction: menuHints(canGoBack: false, refusal: prompt.refusalNow)
        case .choosing: finder.hints(names, refuse: refusal)
        case .keys: [names.hint("Space", .hintOnOff), names.hint("Return", .back), names.hint("Esc", refusal)]
        case .confirmation, .everything: menuHints()
        }
    }
}
