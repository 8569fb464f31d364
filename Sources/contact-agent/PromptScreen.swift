import BrokerFormatting

/// A prompt's screen: its dialogue, and what may cover it.
struct PromptScreen {
    /// What covers the dialogue.
    enum Cover: String {
        /// The list of keys.
        case help
        /// The question whether to leave, although the person has marked contacts or typed.
        case leaving
    }

    var dialogue: any Dialogue
    private(set) var cover: Cover?

    init(_ prompt: Prompt, _ names: LocalizedNames) {
        var names = names
        names.nameOrder = prompt.nameOrder
        dialogue =
            switch prompt.kind {
            case .access: AccessDialogue(prompt, names)
            case .button: ButtonDialogue(prompt, names)
            case .manage: ManageDialogue(prompt, names)
            case .pick: PickDialogue(prompt, names)
            case .propose: ProposeDialogue(prompt, names)
            case .keys: KeysDialogue(prompt, names)
            case .change: ChangeDialogue(prompt, names)
            case nil: NoticeDialogue(prompt: prompt, names: names)
            }
    }

    var prompt: Prompt { dialogue.prompt }

    /// Identifies the content that the person would approve. When it changes, earlier key presses do not
    /// count.
    var stage: String { dialogue.stage + (cover.map { " " + $0.rawValue } ?? "") }

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch (cover, key) {
        case (.help, .other): break
        case (.help, _): cover = nil
        case (.leaving, .escape):
            cover = nil
            return dialogue.refuse()
        case (.leaving, .enter), (.leaving, .left): cover = nil
        case (.leaving, _): break
        case (nil, .escape):
            // Marked contacts must not be lost by one key.
            guard dialogue.hasWork else { return dialogue.refuse() }
            cover = .leaving
        case (nil, .character("?")) where !dialogue.isTyping: cover = .help
        case (nil, _): return dialogue.press(key, on: size, isArmed: isArmed)
        }
        return .nothing
    }

    /// Takes the number of contacts that the reviewed app sees now, and of all contacts. `nil`: it is not known.
    mutating func update(contacts: Int?, of total: Int?) {
        if prompt.isOwn { change { $0.update(contacts: contacts, of: total) } }
    }

    /// Changes what the app did, in a review.
    mutating func changePast(_ body: (inout PastChanges) -> Void) { change { body(&$0.past) } }

    private mutating func change(_ body: (inout ManageDialogue) -> Void) {
        guard var review = dialogue as? ManageDialogue else { return }
        body(&review)
        dialogue = review
    }

    // MARK: - Lines

    /// The lines below the title, at most ``ScreenSize/rows`` minus 2.
    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        switch cover {
        case nil: dialogue.lines(on: size, isArmed: isArmed)
        case .leaving:
            [.bold(names.text(.leaveQuestion)), ""]
                + StyledLine(names.text(.leaveExplained)).wrapped(columns: size.columns - 1)
        case .help: HelpText.lines(names, columns: size.columns)
        }
    }

    /// The keys at the bottom.
    var hints: [Hint] {
        switch cover {
        case nil: dialogue.hints
        case .leaving:
            [names.hint("Return", .backToList), names.hint("Esc", dialogue.refusal)]
        case .help: [names.hint("Return", .back)]
        }
    }

    private var names: LocalizedNames { dialogue.names }
}

/// The list of all keys.
enum HelpText {
    static func lines(_ names: LocalizedNames, columns: Int) -> [StyledLine] {
        let keys: [(String, Phrase)] = [
            ("↑ ↓ PgUp PgDn", .helpMove), ("Return", .helpReturn), ("Tab", .helpMark), ("A–Z Ctrl-U", .helpType),
            ("← →", .helpBack), ("Esc", .helpEscape), ("k n w t", .helpTerms), ("[x]", .helpKey), ("Ctrl-C", .helpQuit),
        ]
        return [.bold(names.text(.helpTitle))]
            + keys.map { key, phrase in
                StyledLine("  " + Columns.pad(key, to: 14))
                    + StyledLine(Columns.clip(names.text(phrase), to: columns - 17))
            }
    }
}
