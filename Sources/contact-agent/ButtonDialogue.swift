import BrokerFormatting

/// The dialogue of an access button: an app searches for contacts by name, number or address. The screen
/// shows the matches, and the person shares some of them or none.
struct ButtonDialogue: Dialogue {
    enum Stage: String {
        /// Waiting for the search result.
        case looking
        case noMatch, oneMatch, severalMatches
        /// For an app without access: shows the app and its identity strength once more before the person
        /// confirms.
        case confirmation
    }

    let prompt: Prompt
    let names: LocalizedNames
    private(set) var place = Stage.looking
    private(set) var list = ContactList()
    private(set) var lifetime: LifetimeChoice

    /// The contacts that the confirmation shows.
    private var confirmed: [Row] = []

    /// With one match, the stage includes the contact, so a different match is a different stage.
    var stage: String { place == .oneMatch ? "\(place.rawValue) \(list.rows.first?.identifier ?? "")" : place.rawValue }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
        lifetime = LifetimeChoice(offered: prompt.lifetimes)
    }

    func begin(on size: ScreenSize) -> Effect { search(from: 0, on: size) }

    mutating func found(_ result: SearchResult) {
        list.show(result)
        guard place != .confirmation else { return }
        place = result.total == 0 ? .noMatch : result.total == 1 ? .oneMatch : .severalMatches
    }

    mutating func resized(to size: ScreenSize) -> Effect { search(from: list.offset, on: size) }

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        if place == .noMatch { return key == .other ? .nothing : .answer(.dismissed) }
        if key.isRefusal { return .answer(.dismissed) }
        guard case .character(let character) = key else { return .nothing }
        switch (place, character) {
        case (.looking, _), (.noMatch, _): break
        case (_, "N"): return .answer(Answer(level: prompt.isUndecided ? .denied : nil, neverAskAgain: true))
        case (.oneMatch, "s"), (.severalMatches, "s"): return share(isArmed: isArmed)
        case (.confirmation, "y"): return .approval(approval, isArmed: isArmed)
        case (.confirmation, "t"): lifetime.change()
        case (.severalMatches, _):
            if let offset = list.offset(after: character, by: limit(on: size)) { return search(from: offset, on: size) }
            list.toggle(character)
        case (.oneMatch, _), (.confirmation, _): break
        }
        return .nothing
    }

    private mutating func share(isArmed: Bool) -> Effect {
        guard !toShare.isEmpty else { return .nothing }
        guard isArmed, !prompt.hasGrant else { return .approval(approval, isArmed: isArmed) }
        confirmed = toShare
        place = .confirmation
        return .nothing
    }

    /// The contacts that an approving key would share.
    private var toShare: [Row] {
        switch place {
        case .confirmation: confirmed
        case .oneMatch: list.rows.prefix(1).filter { $0.isEnabled && !$0.isGranted }
        case .looking, .noMatch, .severalMatches: list.chosen
        }
    }

    private var approval: Answer {
        Answer(level: .limited, identifiers: toShare.map(\.identifier), lifetime: lifetime.chosen)
    }

    private func search(from offset: Int, on size: ScreenSize) -> Effect {
        .search(query: prompt.query ?? "", offset: offset, limit: limit(on: size))
    }

    private func limit(on size: ScreenSize) -> Int { max(1, min(ContactList.maximumPage, size.rows - 9)) }
}

// MARK: - Lines on the screen

extension ButtonDialogue {
    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        let head = StyledLine.bold(looksFor(words, on: size))
        return switch place {
        case .looking: [head, .dim(names.text(.looking))]
        case .noMatch:
            [
                head, "",
                StyledLine(words.text(.noMatch)),
                .dim(names.text(.notToldSo)), "", StyledLine(names.text(.pressAnyKey)),
            ]
        case .oneMatch: oneMatch(words, head, on: size, isArmed: isArmed)
        case .severalMatches: severalMatches(words, head, on: size, isArmed: isArmed)
        case .confirmation: confirmation(words, on: size, isArmed: isArmed)
        }
    }

    private func looksFor(_ words: CallerWords, on size: ScreenSize) -> String {
        let room = size.columns - Columns.width(names.text(.looksFor, [.app: words.name, .query: ""])) - 1
        return names.text(
            .looksFor, [.app: words.name, .query: ShownText.quoted(prompt.query ?? "", columns: room)])
    }

    private var refusals: StyledLine {
        choice("d", .dontShare) + "   " + choice("N", prompt.isUndecided ? .neverAndDontAsk : .neverAsk)
    }

    private func oneMatch(
        _ words: CallerWords, _ head: StyledLine, on size: ScreenSize, isArmed: Bool
    ) -> [StyledLine] {
        guard let row = list.rows.first else { return [head] }
        var lines = [head, "   " + .bold(Columns.clip(row.name, to: size.columns / 2)) + .dim("  \(row.detail ?? "")")]
        lines += words.strengthLines
        lines += [words.process, ""]
        if toShare.isEmpty {
            lines.append(.warning(names.text(.cannotBeShared, [.reason: row.reason ?? names.text(.noReason)])))
        } else {
            let name = Columns.clip(row.name, to: size.columns / 3)
            lines.append(approving("s", words.text(.sharePerson, [.name: name], reserving: 4), isArmed: isArmed))
        }
        return lines + [refusals]
    }

    private func severalMatches(
        _ words: CallerWords, _ head: StyledLine, on size: ScreenSize, isArmed: Bool
    ) -> [StyledLine] {
        var lines = [head]
        lines += words.strengthLines
        lines += list.lines(columns: size.columns, names)
        lines.append(list.place(names))
        if toShare.isEmpty {
            lines.append(numbers(.chooseWhom))
        } else {
            let these =
                toShare.count == 1
                ? words.text(.sharePerson, [.name: Columns.clip(toShare[0].name, to: 28)], reserving: 4)
                : words.text(.shareSeveral, count: toShare.count, reserving: 4)
            lines.append(approving("s", these, isArmed: isArmed))
        }
        return lines + [refusals] + list.remark(names)
    }

    private func confirmation(_ words: CallerWords, on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        var lines: [StyledLine] = [
            .bold(words.text(prompt.isUndecided ? .neverHad : .youRefused))
        ]
        lines += words.strengthLines
        lines += [words.process, words.purpose]
        var terms: [StyledLine] = []
        if let most = words.readAtMost { terms.append(most) }
        terms += duration(lifetime, words)
        terms.append(approving("y", names.text(.yesShare), isArmed: isArmed) + "   " + choice("d", .dontShare))
        let room = max(1, size.rows - 2 - lines.count - terms.count)
        return lines + people(on: size, within: room) + terms
    }

    /// The names of all contacts to be shared, cut to `room` lines.
    private func people(on size: ScreenSize, within room: Int) -> [StyledLine] {
        let people = toShare.map { Columns.clip($0.name, to: size.columns / 2) }
        let text = names.text(.onlyThese, count: toShare.count, [.names: names.list(people)])
        let lines = StyledLine(text).wrapped(columns: size.columns - 1)
        guard lines.count > room else { return lines }
        return lines.prefix(room - 1) + [lines[room - 1] + "…"]
    }
}
