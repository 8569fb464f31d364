import BrokerFormatting
import BrokerModel

/// An app asks for access to contacts, for the first time: who asks, what it may see, and exactly that confirmed.
struct AccessDialogue: Dialogue {
    enum Stage: String {
        /// Who asks, how sure we are, why.
        case introduction
        /// Some, all or none.
        case choice
        /// Looking for contacts, and choosing by number from what was found.
        case choosing
        /// Exactly what was chosen.
        case confirmation
    }

    let prompt: Prompt
    let names: LocalizedNames
    private(set) var place = Stage.introduction
    private(set) var finder = Finder()
    private(set) var list = ContactList()
    private(set) var lifetime: LifetimeChoice
    /// Of what is granted by name that which the person gives.
    private(set) var given: ContactKeySet = []
    /// Of those to be confirmed.
    private var pages = Pages()

    var stage: String { place.rawValue }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
        lifetime = LifetimeChoice(prompt.lifetimes)
    }

    func begin(on size: ScreenSize) -> Effect { .nothing }

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch place {
        case .introduction: pressInIntroduction(key)
        case .choice: pressInChoice(key, on: size, isArmed: isArmed)
        case .choosing: pressInList(key, on: size)
        case .confirmation: pressInConfirmation(key, on: size, isArmed: isArmed)
        }
    }

    mutating func found(_ result: SearchResult) { list.show(result) }

    mutating func resized(to size: ScreenSize) -> Effect {
        switch place {
        case .introduction, .choice: return .nothing
        case .confirmation:
            pages.rewind()
            return .nothing
        case .choosing: return finder.search(from: list.offset, on: size)
        }
    }

    // MARK: - Keys

    private var refusal: Effect { .answer(Answer(level: .denied)) }

    private mutating func pressInIntroduction(_ key: Key) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return refusal
        case .character("N"): return .answer(Answer(level: .denied, neverAskAgain: true))
        case .character("c"):
            place = .choice
            return .nothing
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private mutating func pressInChoice(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return refusal
        case .character("s"):
            place = .choosing
            finder.isTyping = true
            return finder.search(from: 0, on: size)
        case .character("a") where prompt.allowsAll:
            guard isArmed else { return .tooEarly }
            return .answer(
                Answer(level: .full, keys: keys, lifetime: lifetime.chosen))
        case .character("n"):
            if offersNotes { given.formSymmetricDifference(.named) }
            return .nothing
        case .character("g"):
            if offersGroups { given.formSymmetricDifference(.groups) }
            return .nothing
        case .character("t"):
            lifetime.change()
            return .nothing
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private mutating func pressInList(_ key: Key, on size: ScreenSize) -> Effect {
        if finder.isTyping {
            // A step of its own: what follows must see the query as it is then.
            let pressed = finder.type(key)
            return follow(pressed, on: size)
        }
        if let pressed = finder.press(key, in: list, on: size) { return follow(pressed, on: size) }
        switch key {
        case .character("b"): place = .choice
        case .character("c") where !list.chosen.isEmpty:
            pages.rewind()
            place = .confirmation
        case .character, .enter, .escape, .backspace, .erase, .paste, .other:
            if let number = key.number { list.toggle(number) }
        }
        return .nothing
    }

    private func follow(_ pressed: Finder.Pressed, on size: ScreenSize) -> Effect {
        switch pressed {
        case .search(let offset): finder.search(from: offset, on: size)
        case .refuse: refusal
        case .nothing: .nothing
        }
    }

    private mutating func pressInConfirmation(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return refusal
        case .character("b"):
            place = .choosing
            return .nothing
        case .character("n"), .character("p"):
            pages.turn(key, of: list.chosen.count, by: confirmedRows(on: size))
            return .nothing
        case .character("y"):
            guard isArmed else { return .tooEarly }
            return .answer(
                Answer(
                    level: .limited, identifiers: list.chosen.map(\.identifier), keys: keys,
                    lifetime: lifetime.chosen))
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private func confirmedRows(on size: ScreenSize) -> Int { max(1, size.rows - (offersGroups ? 9 : 8)) }

    private var offersNotes: Bool { GrantedKeys.asksByName(prompt.keys, for: .named) }
    private var offersGroups: Bool { GrantedKeys.asksByName(prompt.keys, for: .groups) }
    private var notesToo: Bool { given.isSuperset(of: .named) }
    private var groupsToo: Bool { given.isSuperset(of: .groups) }
    /// `nil`: everything but what is granted by name.
    private var keys: [String]? { given.isEmpty ? nil : GrantedKeys.granted(given, of: prompt.keys) }
}

// MARK: - What is shown

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
        var lines: [StyledLine] = [.bold(words.text(.accessAsks))]
        lines += words.sureness
        lines += [words.process, words.purpose]
        if let keys = GrantedKeys.words(for: prompt.keys, names) {
            lines.append(StyledLine(names.text(.wouldLike, [.keys: keys])))
        }
        return lines + [
            "",
            choice("d", .dontAllow) + "   " + choice("c", .goOn),
            choice("N", .dontAllowEver),
        ]
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
        if let chosen = lifetime.chosen {
            let text = words.lifetime(chosen)
            lines.append(lifetime.canChange ? choice("t", text) : .dim("    \(text)"))
        }
        return lines
    }

    private func selection(_ words: CallerWords, on size: ScreenSize) -> [StyledLine] {
        let count = list.chosen.count
        let chosen = "  " + names.text(.chosen, count: count)
        var lines: [StyledLine] = [
            .bold(words.text(.whatMaySee, reserving: Columns.width(chosen))) + StyledLine(chosen),
            finder.line(names),
        ]
        lines += list.lines(columns: size.columns, names)
        lines.append(list.place(Finder.limit(on: size), names))
        if finder.isTyping {
            lines.append(.dim(names.text(.typeToChoose)))
        } else {
            let next = count == 0 ? numbers(.choose) : choice("c", .goOn)
            lines.append(
                next + "   " + choice("b", .back) + "   " + choice("d", .dontAllow))
        }
        if let remark = list.remark(names) { lines.append(.warning(remark)) }
        return lines
    }

    private func confirmation(_ words: CallerWords, on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let chosen = list.chosen
        let page = confirmedRows(on: size)
        var lines: [StyledLine] = [.bold(words.text(.shareWith, count: chosen.count))]
        lines += pages.shown(of: chosen, by: page).map { row in
            "   \(Columns.clip(row.name, to: size.columns / 2))" + .dim("  \(row.detail ?? "")")
        }
        lines += pages.place(of: chosen.count, by: page, names)
        // All in one line would be too long for some languages.
        let notes = names.text(notesToo ? .withNotes : .withoutNotes)
        let lasting = lifetime.chosen.map { [words.lifetime($0)] } ?? []
        let terms =
            offersGroups
            ? [[notes, names.text(groupsToo ? .withGroups : .withoutGroups)], lasting] : [[notes] + lasting]
        lines += terms.filter { !$0.isEmpty }.map { .dim("   " + names.list($0)) }
        return lines + [
            "",
            approving("y", names.text(.shareThese, count: chosen.count), isArmed: isArmed),
            choice("b", .back) + "   " + choice("d", .dontAllow),
        ]
    }
}
