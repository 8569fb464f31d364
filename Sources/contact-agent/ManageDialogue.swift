import BrokerFormatting
import BrokerModel
import Glibc

/// The dialogue in which the person reviews what one app can see, and changes it: the contacts, the keys, and
/// whether it sees all, some or none. The app or the person starts the review.
struct ManageDialogue: Dialogue {
    enum Stage: String {
        /// Shows the app and its access.
        case overview
        /// The person searches for contacts, and turns them on and off.
        case choosing
        /// The person confirms the exact changes.
        case confirmation
        /// The person confirms that the app may see all contacts.
        case everything
        /// The person chooses the keys that the app may read.
        case keys
        /// The person confirms the changed keys.
        case keysConfirmation
        /// The person chooses how long the app has access.
        case lifetime
        /// The person chooses what the app may change.
        case changes
        /// The person decides whether to revoke all access.
        case revocation
        /// The person looks at what the app changed, and puts it back.
        case past
    }

    private(set) var prompt: Prompt
    let names: LocalizedNames
    private(set) var place = Stage.overview
    var finder = Finder()
    private var menu = Menu()
    private var keys: KeyChoice
    private let lifetime: LifetimeChoice
    private let mayChange: ChangesChoice
    /// The position in the list of changes to be confirmed.
    private var cursor = Cursor()
    /// What the app changed.
    var past: PastChanges

    var stage: String { place == .past ? past.stage : place.rawValue }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
        keys = KeyChoice(asked: prompt.keys, granted: prompt.grantedKeys, most: prompt.maximumKeys)
        lifetime = LifetimeChoice(prompt)
        mayChange = ChangesChoice(prompt)
        past = PastChanges(names)
        finder.offersShared = isAdjusted
        finder.filter = isAdjusted && prompt.grantedContacts > 0 ? .shared : .all
        finder.list.shared = isAdjusted ? .removable : .ignored
        finder.list.markedSign = isAdjusted ? "+" : "x"
    }

    var hasWork: Bool { finder.list.hasChanges }
    var refusal: Phrase { .leaveAsIs }

    var chosen: [Row] { finder.list.marked }

    /// Takes the number of contacts that the app sees now, and of all contacts.
    mutating func update(contacts: Int?, of total: Int?) {
        prompt.grantedContacts = contacts ?? prompt.grantedContacts
        prompt.totalContacts = total ?? prompt.totalContacts
    }

    mutating func found(_ result: SearchResult) { finder.show(result) }
    mutating func resized(to size: ScreenSize) -> Effect { place == .choosing ? finder.resized(to: size) : .nothing }

    /// Whether the person edits a limited grant. For any other status, the person makes a new selection.
    private var isAdjusted: Bool { prompt.status == "limited" }

    // MARK: - Keys

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch place {
        case .choosing: return pressInList(key, on: size)
        case .past:
            if let effect = past.press(key, on: size, isArmed: isArmed) { return effect }
            go(to: .overview)
        case .keys:
            guard !keys.press(key, on: size) else { break }
            if key == .left { go(to: .overview) }
            if key == .enter { go(to: keys.isChanged ? .keysConfirmation : .overview) }
        case .overview, .confirmation, .everything, .keysConfirmation, .lifetime, .changes, .revocation:
            if key == .left { return back() }
            if place == .confirmation, key == .pageUp || key == .pageDown {
                _ = cursor.move(key, count: changes.count, page: room(on: size) - 1)
            }
            guard let chosen = menu.press(key, controls(on: size)) else { break }
            return choose(chosen, on: size, isArmed: isArmed)
        }
        return .nothing
    }

    private mutating func pressInList(_ key: Key, on size: ScreenSize) -> Effect {
        switch finder.press(key, on: size) {
        case .effect(let effect): return effect
        case .goOn:
            finder.takeCurrent()
            guard !changes.isEmpty else { break }
            cursor = Cursor()
            go(to: .confirmation)
        case .unused: if key == .left { go(to: .overview) }
        }
        return .nothing
    }

    private mutating func back() -> Effect {
        switch place {
        case .overview, .choosing, .past: break
        case .confirmation: go(to: .choosing)
        case .keysConfirmation: go(to: .keys)
        case .everything, .keys, .lifetime, .changes, .revocation: go(to: .overview)
        }
        return .nothing
    }

    private mutating func choose(_ key: Character, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch (place, key) {
        case (.overview, "N"): return .answer(Answer(neverAskAgain: true))
        case (.overview, "r"): return .answer(Answer(mayAskAgain: true))
        case (.overview, "c"):
            go(to: .choosing)
            if !finder.list.isLoaded { return finder.start(on: size) }
        case (.overview, "a"): go(to: .everything)
        case (.overview, "k"): go(to: .keys)
        case (.overview, "t"): go(to: .lifetime)
        case (.overview, "w"): go(to: .changes)
        case (.overview, "u"), (.changes, "u"):
            go(to: .past)
            return .listChanges
        case (.overview, "x"): go(to: .revocation)
        case (_, "b"): return back()
        case (.confirmation, "y"): return .approval(change, isArmed: isArmed)
        case (.everything, "y"): return .approval(Answer(level: .full), isArmed: isArmed)
        case (.keysConfirmation, "y"):
            return .approval(Answer(level: level, keys: keys.keys), isArmed: isArmed)
        case (.lifetime, let key):
            guard let chosen = otherLifetimes.first(where: { $0.key == key })?.lifetime else { break }
            return .approval(Answer(level: level, lifetime: chosen), isArmed: isArmed)
        case (.changes, let key):
            guard let chosen = otherChanges.first(where: { $0.key == key })?.right else { break }
            return .approval(Answer(level: level, changes: chosen), isArmed: isArmed)
        // Revoking needs no arming, because it shares nothing.
        case (.revocation, "y"): return .answer(Answer(level: .denied))
        default: break
        }
        return .nothing
    }

    private var level: Answer.Level { prompt.status == "full" ? .full : .limited }

    /// What the grant's lifetime can be changed to, with the keys of the controls.
    private var otherLifetimes: [(key: Character, lifetime: Lifetime)] {
        Array(zip("123456789", lifetime.offered.dropFirst().sorted { $0 != .untilRevoked && $1 == .untilRevoked }))
    }

    /// What else the app may be allowed to change, with the keys of the controls.
    private var otherChanges: [(key: Character, right: ChangeRight)] {
        Array(zip("1234", mayChange.offered.filter { $0 != mayChange.chosen }))
    }

    private var change: Answer {
        let removed = finder.list.removed.map(\.identifier)
        return Answer(
            level: .limited, identifiers: finder.list.marked.map(\.identifier), moreContacts: finder.list.moreContacts,
            removed: removed.isEmpty ? nil : removed, lessContacts: finder.list.removedContacts - removed.count)
    }

    private mutating func go(to place: Stage) {
        self.place = place
        menu = Menu(at: place == .everything || place == .changes || place == .revocation ? "b" : nil)
    }

    private var changes: [(mark: String, row: Row)] {
        finder.list.marked.map { ("+", $0) } + finder.list.removed.map { ("−", $0) }
    }

    private func room(on size: ScreenSize) -> Int { max(2, size.rows - 5) }
}

// MARK: - Lines on the screen

extension ManageDialogue {
    /// Describes the outcome in one line.
    static func words(for answer: Answer, _ app: String, _ names: LocalizedNames) -> String {
        if answer.neverAskAgain == true { return names.text(.asksNoMore, [.app: app]) }
        if answer.mayAskAgain == true { return names.text(.asksAgain, [.app: app]) }
        guard let level = answer.level else { return names.text(.staysAsIs, [.app: app]) }
        if level == .denied { return names.text(.seesNothingMore, [.app: app]) }
        if let lifetime = answer.lifetime {
            let end = lifetime.seconds.map { names.text(.untilDate, [.time: names.day(Int64(time(nil)) + $0)]) }
            return names.text(.lifetimeChanged, [.app: app, .lifetime: end ?? names.text(.untilRevoked)])
        }
        if let changes = answer.changes {
            let words = ChangesChoice.words(changes, wholeCard: true, names)
            return names.text(.changesChanged, [.app: app, .changes: words])
        }
        if let keys = answer.keys {
            let words = GrantedKeys.words(for: keys, names) ?? names.text(.nothing)
            return names.text(.keysChanged, [.app: app, .keys: words])
        }
        if level == .full { return names.text(.sharedAll, [.app: app]) }
        let changes = changes(
            added: answer.contacts, removed: (answer.removed?.count ?? 0) + answer.lessContacts, names)
        return names.text(.nowSees, [.app: app, .changes: changes])
    }

    private static func changes(added: Int, removed: Int, _ names: LocalizedNames) -> String {
        let parts = [
            added > 0 ? names.text(.changeMore, count: added) : nil,
            removed > 0 ? names.text(.changeLess, count: removed) : nil,
        ]
        return names.list(parts.compactMap { $0 })
    }

    private func controls(on size: ScreenSize) -> [Control] {
        switch place {
        case .overview:
            let asking = prompt.isSilenced ? [control("r", .letAskAgain)] : []
            // Without a grant there is nothing else to change.
            guard !prompt.isUndecided else { return asking }
            return (prompt.isEmptyBook ? [] : [control("c", isAdjusted ? .changeContacts : .chooseContacts)])
                + (prompt.status == "full" ? [] : shareAllControl())
                + (prompt.hasGrant && prompt.grantedKeys != nil ? [control(keys)] : [])
                + control(lifetime, callerWords(on: size)) + rights(on: size)
                + (rights(on: size).isEmpty ? [control("u", .whatItChanged)] : [])
                + (prompt.status == "denied" ? [] : [control("x", .revokeAll)])
                + (prompt.isOwn ? [] : [control("N", .leaveEver)]) + asking
        case .confirmation, .keysConfirmation: return [approval("y", names.text(.yesChange)), control("b", .back)]
        case .everything: return [approval("y", names.text(.yesShareAll)), control("b", .back)]
        case .revocation: return [control("y", .revoke), control("b", .back)]
        case .lifetime:
            let words = callerWords(on: size)
            return otherLifetimes.map { approval($0.key, words.lifetime($0.lifetime)) } + [control("b", .back)]
        case .changes:
            return otherChanges.map {
                approval($0.key, ChangesChoice.words($0.right, wholeCard: keys.isWholeCard, names))
            } + [control("u", .whatItChanged), control("b", .back)]
        case .choosing, .keys, .past: return []
        }
    }

    /// What the app may change. On a small screen, the line must fit beside another one.
    private func rights(on size: ScreenSize) -> [Control] {
        guard prompt.grantedChanges != nil, mayChange.canChange else { return [] }
        guard size.rows > ScreenSize.minimum.rows else { return [control("w", .whatItMayChange)] }
        return control(mayChange, wholeCard: keys.isWholeCard)
    }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        func question(_ title: String, _ details: [StyledLine]) -> [StyledLine] {
            self.question(.bold(title), details, menu, controls(on: size), on: size, isArmed: isArmed)
        }
        switch place {
        case .overview:
            let title = words.text(prompt.isOwn ? .whatMaySee : .asksReview)
            let use =
                [StyledLine("  " + seen)]
                + (prompt.isSilenced ? [StyledLine("  " + names.text(.mayNotAsk))] : []) + words.use + words.emptyBook
                + (prompt.isUndecided ? [] : fixedLifetime(lifetime, words, indent: "  "))
            return question(title, introduction(words, (prompt.isOwn ? [] : words.purpose) + use))
        case .choosing:
            let title = words.text(isAdjusted ? .whatMaySee : .whatFromNow)
            return finder.lines(.bold(title), on: size, names)
        case .confirmation:
            let counts = Self.changes(added: finder.list.markedContacts, removed: finder.list.removedContacts, names)
            let title = words.text(isAdjusted ? .willSee : .willSeeOnly, [.changes: counts])
            let added = finder.list.markedContacts
            let rights = added > 0 ? words.rights(wholeCard: keys.isWholeCard, count: added) : []
            return question(
                title,
                confirmed(changes, at: cursor, room: room(on: size) - rights.count) {
                    confirmed($0.row.name, $0.row.detail, mark: $0.mark, on: size)
                } + rights)
        case .keys: return keys.lines(.bold(words.text(.whatMayRead)), on: size, names)
        case .keysConfirmation:
            let reads = names.text(.settingReads, [.keys: keys.words(names)])
            return question(
                words.text(.changeKeysOf), StyledLine("  " + reads).wrapped(columns: size.columns - 1))
        case .lifetime:
            let now = lifetime.chosen.map { names.text(.settingLasts, [.lifetime: words.lifetime($0)]) } ?? ""
            return question(words.text(.howLong), [StyledLine("  " + now)])
        case .changes:
            let now = ChangesChoice.words(mayChange.chosen, wholeCard: keys.isWholeCard, names)
            let setting = StyledLine("  " + names.text(.settingChanges, [.changes: now]))
            return question(words.text(.whatMayChange), setting.wrapped(columns: size.columns - 1))
        case .everything:
            let lasts = lifetime.chosen.map { names.text(.settingLasts, [.lifetime: words.lifetime($0)]) }
            let terms = [names.text(.settingReads, [.keys: keys.words(names)]), lasts].compactMap { $0 }
            return shareAllQuestion(
                words, keys, terms.map { .dim(Columns.clip("   " + $0, to: size.columns - 1)) }, menu,
                controls(on: size), on: size, isArmed: isArmed)
        case .revocation: return question(words.text(.revokeFrom), [StyledLine("  " + seen)])
        case .past: return past.lines(of: self, on: size, isArmed: isArmed)
        }
    }

    private var seen: String {
        switch prompt.status {
        case "full": names.text(.seesAll)
        case "denied", "notDetermined": names.text(.seesNothing)
        default: names.text(.seesOf, count: prompt.grantedContacts, [.total: names.number(prompt.totalContacts)])
        }
    }

    var hints: [Hint] {
        switch place {
        case .choosing: finder.hints(names, refuse: refusal)
        case .keys:
            [
                names.hint("Space", .hintOnOff), names.hint("Return", .goOn), names.hint("Esc", refusal),
                names.hint("←", .back),
            ]
        case .overview: menuHints(canGoBack: false)
        case .confirmation, .everything, .keysConfirmation, .lifetime, .changes, .revocation, .past: menuHints()
        }
    }
}
