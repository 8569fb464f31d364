/// An app asks for access to contacts, for the first time: who asks, what it may see, and exactly that confirmed.
struct AccessDialogue: Dialogue {
    enum Stage: String {
        /// Who asks, how sure we are, why.
        case introduction
        /// Some, all or none.
        case choice
        /// Typing a query, with what it finds beneath.
        case searching
        /// Choosing by number from what was found.
        case choosing
        /// Exactly what was chosen.
        case confirmation
    }

    let prompt: Prompt
    private(set) var place = Stage.introduction
    private(set) var editor = LineEditor()
    private(set) var list = ContactList()
    private(set) var lifetime: LifetimeChoice
    private(set) var notesToo = false
    /// First contact shown of those to be confirmed.
    private var confirmedOffset = 0

    var stage: String { place == .searching ? Stage.choosing.rawValue : place.rawValue }

    init(_ prompt: Prompt) {
        self.prompt = prompt
        lifetime = LifetimeChoice(prompt.lifetimes)
    }

    func begin(on size: ScreenSize) -> Effect { .nothing }

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch place {
        case .introduction: pressInIntroduction(key)
        case .choice: pressInChoice(key, on: size, isArmed: isArmed)
        case .searching: pressInSearch(key, on: size)
        case .choosing: pressInList(key, on: size)
        case .confirmation: pressInConfirmation(key, on: size, isArmed: isArmed)
        }
    }

    mutating func found(_ result: SearchResult) { list.show(result) }

    mutating func resized(to size: ScreenSize) -> Effect {
        switch place {
        case .introduction, .choice: return .nothing
        case .confirmation:
            confirmedOffset = 0
            return .nothing
        case .searching, .choosing: return search(from: list.offset, on: size)
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
            place = .searching
            return search(from: 0, on: size)
        case .character("a") where prompt.allowsAll:
            guard isArmed else { return .tooEarly }
            return .answer(
                Answer(level: .full, keys: keys(withNotes: notesToo), lifetime: lifetime.chosen))
        case .character("n"):
            if offersNotes { notesToo.toggle() }
            return .nothing
        case .character("t"):
            lifetime.change()
            return .nothing
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private mutating func pressInSearch(_ key: Key, on size: ScreenSize) -> Effect {
        switch key {
        case .enter:
            place = .choosing
            return .nothing
        case .escape: return refusal
        case .character, .backspace, .erase, .paste, .other:
            return editor.press(key) ? search(from: 0, on: size) : .nothing
        }
    }

    private mutating func pressInList(_ key: Key, on size: ScreenSize) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return refusal
        case .character("/"):
            place = .searching
            return .nothing
        case .character("n"): return list.nextOffset.map { search(from: $0, on: size) } ?? .nothing
        case .character("p"): return list.previousOffset(limit(on: size)).map { search(from: $0, on: size) } ?? .nothing
        case .character("b"):
            place = .choice
            return .nothing
        case .character("c"):
            guard !list.chosen.isEmpty else { return .nothing }
            confirmedOffset = 0
            place = .confirmation
            return .nothing
        case .character(let digit):
            if let number = digit.wholeNumberValue, digit.isASCII { list.toggle(number) }
            return .nothing
        case .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private mutating func pressInConfirmation(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch key {
        case .character("d"), .enter, .escape: return refusal
        case .character("b"):
            place = .choosing
            return .nothing
        case .character("n"):
            if confirmedOffset + confirmedRows(on: size) < list.chosen.count {
                confirmedOffset += confirmedRows(on: size)
            }
            return .nothing
        case .character("p"):
            confirmedOffset = max(0, confirmedOffset - confirmedRows(on: size))
            return .nothing
        case .character("y"):
            guard isArmed else { return .tooEarly }
            return .answer(
                Answer(
                    level: .limited, identifiers: list.chosen.map(\.identifier), keys: keys(withNotes: notesToo),
                    lifetime: lifetime.chosen))
        case .character, .backspace, .erase, .paste, .other: return .nothing
        }
    }

    private func search(from offset: Int, on size: ScreenSize) -> Effect {
        .search(query: editor.text, offset: offset, limit: limit(on: size))
    }

    private func limit(on size: ScreenSize) -> Int { max(1, min(ContactList.maximumPage, size.rows - 7)) }

    private func confirmedRows(on size: ScreenSize) -> Int { max(1, size.rows - 8) }

    private var offersNotes: Bool { prompt.keys.contains("note") || prompt.keys.contains("extraProperties") }
}

// MARK: - What is shown

extension AccessDialogue {
    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = CallerWords(prompt: prompt, columns: size.columns)
        return switch place {
        case .introduction: introduction(words)
        case .choice: choice(words, isArmed: isArmed)
        case .searching, .choosing: selection(words, on: size)
        case .confirmation: confirmation(words, on: size, isArmed: isArmed)
        }
    }

    private func introduction(_ words: CallerWords) -> [StyledLine] {
        var lines: [StyledLine] = [.bold("\(words.name) asks to see your contacts.")]
        lines += words.sureness
        lines += [words.process, words.purpose]
        if let keys = GrantedKeys.words(for: prompt.keys) { lines.append("It would like: \(keys)") }
        return lines + [
            "",
            choice("d", "Don't allow (Return)") + "   " + choice("c", "Continue"),
            choice("N", "Don't allow, and never ask again"),
        ]
    }

    private func choice(_ words: CallerWords, isArmed: Bool) -> [StyledLine] {
        let all =
            switch prompt.totalContacts {
            case 0: "all contacts (there are none yet)"
            case 1: "all contacts (there is one)"
            default: "all \(prompt.totalContacts) contacts"
            }
        var lines: [StyledLine] = [
            .bold("What may \(words.name) see?"),
            .dim("You can change this later."),
            words.readAtMost ?? "",
            choice("s", "Select contacts…"),
            prompt.allowsAll
                ? approving("a", "Share \(all)", isArmed: isArmed)
                : .dim("    (your administrator lets it have single contacts only)"),
            choice("d", "Don't allow (Return)"),
            "",
        ]
        if offersNotes { lines.append(choice("n", "notes too: \(notesToo ? "on" : "off")")) }
        if let chosen = lifetime.chosen {
            let text = words.lifetime(chosen)
            lines.append(lifetime.canChange ? choice("t", text) : .dim("    \(text)"))
        }
        return lines
    }

    private func selection(_ words: CallerWords, on size: ScreenSize) -> [StyledLine] {
        let count = list.chosen.count
        var lines: [StyledLine] = [
            .bold("What may \(words.name) see?") + StyledLine("  \(count) chosen"),
            place == .searching
                ? .bold("Search: ") + StyledLine(editor.text + "_")
                : .dim("Search: \(ShownText.line(editor.text))   [/] change"),
        ]
        lines += list.lines(columns: size.columns)
        lines.append(list.place(limit(on: size)))
        if place == .searching {
            lines.append(.dim("Type a name; Return: choose from the list; Esc: don't allow"))
        } else {
            let next = count == 0 ? StyledLine.dim("[1–9] choose") : .bold("[c]") + " Continue"
            lines.append(
                next + "   " + choice("b", "Back") + "   " + choice("d", "Don't allow (Return)"))
        }
        if let remark = list.remark { lines.append(.warning(remark)) }
        return lines
    }

    private func confirmation(_ words: CallerWords, on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let chosen = list.chosen
        let page = confirmedRows(on: size)
        let end = min(chosen.count, confirmedOffset + page)
        let these = chosen.count == 1 ? "this contact" : "these \(chosen.count) contacts"
        var lines: [StyledLine] = [.bold("Share \(these) with \(words.name)?")]
        lines += chosen[confirmedOffset..<end].map { row in
            "   \(Columns.clip(row.name, to: size.columns / 2))" + .dim("  \(row.detail ?? "")")
        }
        if chosen.count > page {
            lines.append(.dim("   \(confirmedOffset + 1)–\(end) of \(chosen.count)  [n] next [p] previous"))
        }
        var terms = [notesToo ? "with notes" : "without notes"]
        if let lasting = lifetime.chosen { terms.append(words.lifetime(lasting)) }
        lines.append(.dim("   " + terms.joined(separator: ", ")))
        return lines + [
            "",
            approving("y", "Share \(these)", isArmed: isArmed),
            choice("b", "Back") + "   " + choice("d", "Don't allow (Return)"),
        ]
    }
}
