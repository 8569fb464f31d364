import BrokerFormatting

/// The screen while no prompt is shown: what happened last, and the apps with what each may see.
struct Home {
    enum Action: Hashable {
        case quit
        /// Review this app's access.
        case open(AppGrant)
        /// Open the first quiet prompt.
        case openQuiet
        case openFolders
        case folders(FoldersScreen.Action)
    }

    /// The most messages that are kept.
    private static let mostMessages = 50

    private(set) var messages: [StyledLine] = []
    private(set) var grants: [AppGrant] = []
    /// What follows from a mistake in the administrator's files; `nil` without one.
    private(set) var mistake: Phrase?
    private var cursor = Cursor()
    private(set) var isHelpShown = false
    /// The screen of declared folders, while it covers the list of apps.
    var folders: FoldersScreen?

    mutating func say(_ line: StyledLine) {
        messages.append(line)
        if messages.count > Self.mostMessages { messages.removeFirst() }
    }

    mutating func list(_ grants: [AppGrant], _ mistake: Phrase?) {
        let former = current
        // Those that the person used last, or decided about without using them, are the likeliest to be reviewed.
        self.grants = grants.sorted { ($0.lastUsedAt ?? "~") > ($1.lastUsedAt ?? "~") }
        self.mistake = mistake
        cursor.fit(count: grants.count, page: max(1, grants.count))
        // The cursor stays on its app.
        let place = former.flatMap { former in self.grants.firstIndex { $0.isSame(as: former) } }
        if let place { _ = cursor.move(.row(index: place), count: grants.count, page: max(1, grants.count)) }
    }

    /// - Parameter isArmed: whether the screen was visible long enough to be read.
    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Action? {
        if folders != nil { return folders?.press(key, on: size, isArmed: isArmed).map { .folders($0) } }
        if isHelpShown {
            isHelpShown = false
            return nil
        }
        if cursor.move(key, count: grants.count, page: page(on: size)) {
            guard case .row = key else { return nil }
            return current.map { .open($0) }
        }
        switch key {
        case .character("q"): return .quit
        case .character("o"): return .openQuiet
        case .character("d"): return .openFolders
        case .character("?"): isHelpShown = true
        case .enter: return current.map { .open($0) }
        default: break
        }
        return nil
    }

    private var current: AppGrant? { grants.indices.contains(cursor.place) ? grants[cursor.place] : nil }

    /// The newest messages, in a third of the screen at most. On a small screen they leave room for the list.
    private func messageLines(on size: ScreenSize) -> [StyledLine] {
        let most = grants.isEmpty ? max(3, size.rows / 3) : max(2, size.rows / 3 - 2)
        return messages.flatMap { $0.wrapped(columns: size.columns - 1) }.suffix(most)
    }

    /// The rows for apps: the screen without the title, what the program does, the headings, the list's position,
    /// a quiet prompt, the messages and the hints.
    private func page(on size: ScreenSize) -> Int { max(1, size.rows - 7 - messageLines(on: size).count) }

    // MARK: - Lines

    func lines(
        on size: ScreenSize, isConnected: Bool, once: Bool, isArmed: Bool, _ names: LocalizedNames
    ) -> [StyledLine] {
        if let folders {
            let last = messageLines(on: size)
            return folders.lines(on: size, isArmed: isArmed) + (last.isEmpty ? [] : [""]) + last
        }
        if isHelpShown { return HelpText.lines(names, columns: size.columns) }
        let last = messageLines(on: size)
        let state: StyledLine = .bold(names.text(isConnected ? .waiting : .brokerUnreachable))
        guard !once else { return [state, ""] + last }
        var table: [StyledLine] = []
        if grants.isEmpty {
            table = [.dim(names.text(.noGrants))]
        } else {
            // Since the last key, messages may have taken room.
            var cursor = cursor
            cursor.fit(count: grants.count, page: page(on: size))
            let visible = cursor.visible(count: grants.count, page: page(on: size))
            table = GrantsTable.lines(grants, visible, current: cursor.place, columns: size.columns - 1, names)
            if visible.count < grants.count {
                table.append(.dim("  " + names.place(visible.lowerBound + 1, visible.upperBound, of: grants.count)))
            }
        }
        if let mistake { table += StyledLine.warning(names.text(mistake)).wrapped(columns: size.columns - 1) }
        return [state] + table + (last.isEmpty ? [] : [""]) + last
    }

    /// - Parameter isSession: whether the broker runs in session mode, in which folders can be declared.
    func hints(once: Bool, hasQuiet: Bool, isSession: Bool, _ names: LocalizedNames) -> [Hint] {
        if let folders { return folders.hints }
        if isHelpShown { return [names.hint("Return", .back)] }
        let open = grants.isEmpty || once ? [] : [names.hint("Return", .hintReview)]
        let quiet = hasQuiet ? [names.hint("o", .hintOpenQuiet)] : []
        let declare = isSession && !once ? [names.hint("d", .hintFolders)] : []
        return open + quiet + declare + [names.hint("q", .quit), names.hint("?", .hintHelp)]
    }
}
