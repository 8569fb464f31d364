import BrokerFormatting
import BrokerModel

/// The dialogue in which an app wants to save changes that its grant does not let it make, or more than apps that can be
/// imitated may change. The person sees each of them, and allows the save, or also others like it from now on, or refuses.
struct ChangeDialogue: Dialogue {
    enum Stage: String {
        /// Shows the app and the list of changes.
        case list
        /// Shows one change.
        case change
        /// The person confirms that the app may make such changes from now on.
        case always
    }

    let prompt: Prompt
    let names: LocalizedNames
    private(set) var place = Stage.list
    private var list = ContactList()
    private var menu = Menu()
    /// The change on the screen, and its lines for so many columns.
    private var opened: (row: Row, diff: ContactDiff?, columns: Int, lines: [StyledLine])?
    private var cursor = Cursor()

    var stage: String { place == .change ? "\(place.rawValue) \(opened?.row.identifier ?? "")" : place.rawValue }

    var top: Int { cursor.top }
    var refusal: Phrase { .dontAllow }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
    }

    func begin(on size: ScreenSize) -> Effect { search(from: 0) }

    mutating func found(_ result: SearchResult) { list.show(result) }

    mutating func shown(_ card: Card) {
        guard let opened, let change = opened.row.change else { return }
        let diff =
            switch change.kind {
            case .deleted: ContactDiff(from: card.contact, to: nil, photo: card.photo, names)
            case .changed: ContactDiff(from: card.former, to: card.contact, photo: card.photo, names)
            case .added, .joins, .leaves, .linked, .unlinked, .own, .notOwn:
                ContactDiff(from: nil, to: card.contact, photo: card.photo, names)
            }
        open(opened.row, diff, columns: opened.columns)
    }

    mutating func resized(to size: ScreenSize) -> Effect {
        if let opened { open(opened.row, opened.diff, columns: size.columns) }
        cursor.fit(count: opened?.lines.count ?? 0, page: Self.cardPage(on: size))
        list.fit(listPage(on: size))
        return loadMissing(on: size)
    }

    private func search(from offset: Int) -> Effect {
        .search(query: "", offset: offset, limit: ContactList.maximumLoaded)
    }

    private func loadMissing(on size: ScreenSize) -> Effect {
        list.missing(page: listPage(on: size)).map { search(from: $0) } ?? .nothing
    }

    // MARK: - Keys

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch place {
        case .list: return pressInList(key, on: size, isArmed: isArmed)
        case .change:
            if cursor.scroll(key, count: opened?.lines.count ?? 0, page: Self.cardPage(on: size)) { break }
            if key == .left || menu.press(key, controls) != nil { go(to: .list) }
        case .always:
            guard key != .left else {
                go(to: .list)
                break
            }
            switch menu.press(key, controls) {
            case "y": return .approval(Answer(allow: .always), isArmed: isArmed)
            case "b": go(to: .list)
            default: break
            }
        }
        return .nothing
    }

    private mutating func pressInList(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        switch key {
        case .enter: return open(on: size)
        // In line mode, the number can be that of no row.
        case .row(let index) where index >= list.total: return .nothing
        case .row:
            _ = list.move(key, page: listPage(on: size))
            return open(on: size)
        case .character(let letter) where controls.contains { $0.key == letter }:
            switch letter {
            case "y": return .approval(Answer(allow: .once), isArmed: isArmed)
            case "a": go(to: .always)
            case "N": return .answer(Answer(neverAskAgain: true))
            default: break
            }
            return .nothing
        default: return list.move(key, page: listPage(on: size)) ? loadMissing(on: size) : .nothing
        }
    }

    /// Opens the change at the cursor.
    private mutating func open(on size: ScreenSize) -> Effect {
        // In line mode, the number can be that of a row that is not loaded.
        guard let row = list.current, let change = row.change else { return loadMissing(on: size) }
        open(row, nil, columns: size.columns)
        cursor = Cursor()
        go(to: .change)
        return change.hasCard ? .show(identifier: row.identifier) : .nothing
    }

    private mutating func open(_ row: Row, _ diff: ContactDiff?, columns: Int) {
        opened = (row, diff, columns, diff?.styledLines(columns: columns) ?? whole(row, columns: columns))
    }

    /// A change without a card. The title cuts long names, so they follow as a whole.
    private func whole(_ row: Row, columns: Int) -> [StyledLine] {
        let words = row.change?.words(columns: .max / 2, names) ?? row.name
        let lines = Columns.width(words) < columns ? [] : ContactDiff.pieces(of: words, columns: columns - 4)
        let detail = row.detail ?? ""
        return lines.map { StyledLine("   " + $0) }
            + (detail.isEmpty ? [] : ContactDiff.pieces(of: detail, columns: columns - 4).map { .dim("   " + $0) })
    }

    private mutating func go(to place: Stage) {
        self.place = place
        // What holds for later, too, is never one Return away.
        menu = Menu(at: "b")
        if place == .list { opened = nil }
    }

    /// The right that the save needs beyond the app's own; `nil` if the person is asked for another reason.
    private var needed: ChangeRight? {
        guard let needed = prompt.wantedChanges, let granted = prompt.grantedChanges else { return nil }
        return needed > granted ? needed : nil
    }

    /// The right that the person can give the app from now on.
    private var offered: ChangeRight? { needed.flatMap { $0 <= prompt.maximumChanges ? $0 : nil } }
}

// MARK: - Lines on the screen

extension ChangeDialogue {
    private var controls: [Control] {
        switch place {
        case .list: listControls
        case .change: [control("b", .back)]
        case .always: [approval("y", names.text(.yesAlways)), control("b", .back)]
        }
    }

    private var listControls: [Control] {
        // The person must see what the app would do.
        let allow = list.total > 0 ? [approval("y", names.text(.allowSave))] : []
        let always = list.total > 0 && offered != nil ? [control("a", .allowAlways)] : []
        return allow + always + [control("N", .dontAllowEver)]
    }

    /// The parts of the first screen around the list, and the rows that are left for the list.
    private func frame(
        on size: ScreenSize, isArmed: Bool
    ) -> (head: [StyledLine], controls: [StyledLine], page: Int, isSpacious: Bool) {
        let words = callerWords(on: size)
        let controls = menu.lines(
            listControls, columns: size.columns, room: size.rows < 16 ? 1 : listControls.count, isArmed: isArmed,
            highlights: false)
        let room = size.rows - 2 - 1 - controls.count - counts(on: size).count
        // Without a row of the list, and without who asks, the screen would be of no use.
        let reason =
            (prompt.isIrreversible ? Phrase.binIsFull : needed == nil ? .manyChanged : nil)
            .map { StyledLine(names.text($0)).wrapped(columns: size.columns - 1) } ?? []
        let least = words.strengthLines.count + reason.count
        let most = max(0, min(room - 1, max(least, room - min(3, max(1, list.total)))))
        let details = introduction(words, reason + words.purpose).prefix(most)
        let isSpacious = details.count + 3 + 6 <= room
        let page = room - details.count - (isSpacious ? 3 : 0)
        return (
            [.bold(words.text(.changeAsks))] + (isSpacious ? [""] : []) + details, controls, max(1, page), isSpacious
        )
    }

    /// The number of rows on one page.
    private func listPage(on size: ScreenSize) -> Int { frame(on: size, isArmed: true).page }

    /// The number of lines of a change on one page: the screen without the title, the position, the control, and what
    /// separates them.
    private static func cardPage(on size: ScreenSize) -> Int { max(1, size.rows - 7) }

    /// How many contacts the save deletes, changes and adds, and how many other changes it makes. On one line if the
    /// position in the list has room beside it.
    private func counts(on size: ScreenSize) -> [String] {
        let counts = prompt.saveCounts
        let contacts = [
            (counts.deleted, Phrase.saveDeleted), (counts.changed, .saveChanged), (counts.added, .saveAdded),
        ]
        .filter { $0.0 > 0 }.map { names.text($0.1, count: $0.0) }
        let parts = [
            contacts.isEmpty ? nil : names.text(.saveContacts, [.changes: names.list(contacts)]),
            counts.other > 0 ? names.text(.saveOther, count: counts.other) : nil,
        ].compactMap { $0 }
        let line = "  " + parts.joined(separator: " · ")
        let place = names.place(list.total, list.total, of: list.total)
        guard Columns.width(line + place) + 2 >= size.columns else { return [line] }
        return ["  " + (parts.first ?? ""), "  " + parts.dropFirst().joined()]
    }

    /// The counts, and the position in the list.
    private func countLines(page: Int, on size: ScreenSize) -> [StyledLine] {
        let counts = counts(on: size)
        let place = list.place(page: page, names)
        let style: StyledLine.Style = prompt.saveCounts.deleted > 0 ? .warning : .bold
        let last = Columns.pad(counts.last ?? "", to: size.columns - Columns.width(place) - 1)
        return counts.dropLast().map { StyledLine(Columns.clip($0, to: size.columns - 1), style) }
            + [StyledLine(last, style) + .dim(place)]
    }

    private func line(for row: Row, _ place: Int, on size: ScreenSize) -> StyledLine {
        let change = row.change
        let sign = change?.kind == .deleted ? "−" : change?.kind == .added ? "+" : " "
        let warning = change?.warning.map { "  " + names.text($0) } ?? ""
        let words = change?.words(columns: size.columns - 5 - Columns.width(warning), names) ?? row.name
        let isCurrent = place == list.cursor.place
        let line = StyledLine.row(
            place, isCurrent: isCurrent, "\(sign) \(words)", change?.kind == .deleted ? .warning : .plain)
        let known = row.detail.map { $0.isEmpty ? "" : "  " + $0 } ?? ""
        let detail = Columns.clip(
            known, to: size.columns - Columns.width(line.text) - Columns.width(warning) - 1)
        return line + StyledLine(warning, isCurrent ? .highlighted : .warning)
            + StyledLine(detail, isCurrent ? .highlighted : .dim)
    }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        switch place {
        case .list:
            let frame = frame(on: size, isArmed: isArmed)
            let space: [StyledLine] = frame.isSpacious ? [""] : []
            let rows = list.visible(page: frame.page).map { line(for: $0.row, $0.place, on: size) }
            return frame.head + space + countLines(page: frame.page, on: size) + rows + space + frame.controls
        case .change:
            guard let opened else { return [] }
            let title = opened.row.change?.words(columns: size.columns - 1, names) ?? ""
            let page = Self.cardPage(on: size)
            let visible = cursor.visible(count: opened.lines.count, page: page)
            var lines = Array(opened.lines[visible])
            if opened.lines.count > page {
                let place = names.place(visible.lowerBound + 1, visible.upperBound, of: opened.lines.count)
                lines.append(.dim("   \(place)  [PgDn] [PgUp]"))
            }
            return question(.bold(title), lines, menu, controls, on: size, isArmed: isArmed)
        case .always:
            return question(
                .bold(words.text(.alwaysAsks)), StyledLine(extent(words.name)).wrapped(columns: size.columns - 1), menu,
                controls, on: size, isArmed: isArmed)
        }
    }

    /// What the app may do from now on, and to how many contacts.
    private func extent(_ app: String) -> String {
        let count = prompt.status == "full" ? prompt.totalContacts : prompt.grantedContacts
        switch offered {
        case .none?, nil: return ""
        case .own: return names.text(.alwaysOwn, [.app: app])
        case .edit: return names.text(.alwaysEdit, count: count, [.app: app])
        case .all:
            return names.text(
                prompt.getsWholeCard ? .alwaysAll : .alwaysAllButDelete, count: count, [.app: app])
        }
    }

    var hints: [Hint] {
        switch place {
        case .list:
            (list.total > 0 ? [names.hint("Return", .hintOpen)] : [])
                + [names.hint("Esc", refusal), names.hint("?", .hintHelp)]
        case .change, .always: menuHints()
        }
    }
}
