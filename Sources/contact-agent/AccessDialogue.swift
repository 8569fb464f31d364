import BrokerFormatting
import BrokerModel

/// The dialogue in which an app asks for access to contacts for the first time. The person chooses the
/// contacts that the app may see, and confirms them.
struct AccessDialogue: ListDialogue {
    enum Stage: String {
        /// Shows the app, its identity strength and its purpose.
        case introduction
        /// The person decides between some contacts, all and none.
        case choice
        /// The person searches for contacts and chooses results by number.
        case choosing
        /// The person confirms the chosen contacts.
        case confirmation
    }

    let prompt: Prompt
    let names: LocalizedNames
    private(set) var place = Stage.introduction
    var finder = Finder()
    private(set) var lifetime: LifetimeChoice
    /// The keys that the person turned on. Only keys that must be granted by name can be turned on: notes and
    /// groups.
    private(set) var given: ContactKeySet = []
    /// The position in the list of contacts to be confirmed.
    private var pages = Pages()

    var stage: String { place.rawValue }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
        lifetime = LifetimeChoice(offered: prompt.lifetimes)
    }

    var isChoosing: Bool { place == .choosing }

    mutating func rewind() { pages.rewind() }

    // MARK: - Keys

    func refuse() -> Effect { .answer(Answer(level: .denied)) }

    mutating func press(_ key: Character, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch (place, key) {
        case (.introduction, "N"): return .answer(Answer(level: .denied, neverAskAgain: true))
        case (.introduction, "c"): place = .choice
        case (.choice, "s"):
            place = .choosing
            return finder.start(on: size)
        case (.choice, "a") where prompt.allowsAll:
            return .approval(Answer(level: .full, keys: keys, lifetime: lifetime.chosen), isArmed: isArmed)
        case (.choice, "n") where offersNotes: given.formSymmetricDifference(.named)
        case (.choice, "g") where offersGroups: given.formSymmetricDifference(.groups)
        case (.choice, "t"): lifetime.change()
        case (.choosing, "b"): place = .choice
        case (.choosing, "c") where !chosen.isEmpty:
            pages.rewind()
            place = .confirmation
        case (.choosing, _): finder.list.toggle(key)
        case (.confirmation, "b"): place = .choosing
        case (.confirmation, "n"), (.confirmation, "p"):
            pages.turn(key, of: chosen.count, by: confirmedRows(on: size))
        case (.confirmation, "y"):
            return .approval(
                Answer(
                    level: .limited, identifiers: chosen.map(\.identifier), moreContacts: finder.list.moreContacts,
                    keys: keys, lifetime: lifetime.chosen),
                isArmed: isArmed)
        case (.introduction, _), (.choice, _), (.confirmation, _): break
        }
        return .nothing
    }

    private var chosen: [Row] { finder.list.chosen }
    private func confirmedRows(on size: ScreenSize) -> Int { max(1, size.rows - (offersGroups ? 9 : 8)) }

    private var offersNotes: Bool { GrantedKeys.asksByName(prompt.keys, for: .named) }
    private var offersGroups: Bool { GrantedKeys.asksByName(prompt.keys, for: .groups) }
    private var notesToo: Bool { given.isSuperset(of: .named) }
    private var groupsToo: Bool { given.isSuperset(of: .groups) }
    /// `nil` means all keys except those that must be granted by name.
    private var keys: [String]? { given.isEmpty ? nil : GrantedKeys.granted(given, of: prompt.keys) }
}

// MARK: - Lines on the screen

extension AccessDialogue {
    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        return switch place {
        case .introduction: introduction(words)
        case .choice: choice(words, isArmed: isArmed)
        case .choosing: selection(words, on: size)
        case .confirmation: confirmation(words, on: size, isArmed: isArmed)
        }
    }

    private func introduction(_ words: CallerWords) -> [StyledLine] {
        let wishes = GrantedKeys.words(for: prompt.keys, names).map { StyledLine(names.text(.wouldLike, [.keys: $0])) }
        return introduction(
            words, .accessAsks, [words.purpose] + (wishes.map { [$0] } ?? []), refuse: .dontAllow, never: .dontAllowEver
        )
    }

    private func choice(_ words: CallerWords, isArmed: Bool) -> [StyledLine] {
        let all =
            prompt.totalContacts == 0 ? names.text(.shareAllNone) : names.text(.shareAll, count: prompt.totalContacts)
        var lines: [StyledLine] = [
            .bold(words.text(.whatMaySee)),
            .dim(names.text(.canChangeLater)),
            words.readAtMost ?? "",
            choice("s", .selectContacts),
            prompt.allowsAll
                ? approving("a", all, isArmed: isArmed)
                : .dim("    " + names.text(.singleOnly)),
            choice("d", .dontAllow),
            "",
        ]
        var more: [StyledLine] = []
        if offersNotes { more.append(choice("n", notesToo ? .notesOn : .notesOff)) }
        if offersGroups { more.append(choice("g", groupsToo ? .groupsOn : .groupsOff)) }
        if let first = more.first { lines.append(more.dropFirst().reduce(first) { $0 + "   " + $1 }) }
        return lines + duration(lifetime, words)
    }

    private func selection(_ words: CallerWords, on size: ScreenSize) -> [StyledLine] {
        let count = "  " + names.text(.chosen, count: finder.list.chosenContacts)
        let next = chosen.isEmpty ? numbers(.choose) : choice("c", .goOn)
        return finder.lines(
            .bold(words.text(.whatMaySee, reserving: Columns.width(count))) + StyledLine(count),
            whileTyping: .typeToChoose,
            choices: next + "   " + choice("b", .back) + "   " + choice("d", .dontAllow), on: size, names)
    }

    private func confirmation(_ words: CallerWords, on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        var lines: [StyledLine] = [.bold(words.text(.shareWith, count: finder.list.chosenContacts))]
        lines += pages.lines(of: chosen, by: confirmedRows(on: size), names) {
            confirmed($0.name, $0.detail, on: size)
        }
        // One line for all terms is too long in some languages.
        let notes = names.text(notesToo ? .withNotes : .withoutNotes)
        let lasting = lifetime.chosen.map { [words.lifetime($0)] } ?? []
        let terms =
            offersGroups
            ? [[notes, names.text(groupsToo ? .withGroups : .withoutGroups)], lasting] : [[notes] + lasting]
        lines += terms.filter { !$0.isEmpty }.map { .dim("   " + names.list($0)) }
        return lines
            + confirmation(
                names.text(.shareThese, count: finder.list.chosenContacts), isArmed: isArmed, refuse: .dontAllow)
    }
}
