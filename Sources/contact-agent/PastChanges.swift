import BrokerFormatting

/// The part of a review in which the person looks at the saves of the app, and puts them back.
struct PastChanges {
    enum Stage: String {
        /// Lists the saves.
        case saves
        /// Lists the contacts of a save.
        case save
        /// The person confirms what putting back does.
        case putBack
    }

    private(set) var place = Stage.saves
    /// The newest first; `nil` until they were listed.
    private var saves: [PastSave]?
    /// The save on the screen, and what putting it back would do.
    private var opened: (save: PastSave, result: PutBackResult)?
    /// What the person is asked to confirm, and what it would do.
    private var asked: (request: PutBackRequest, result: PutBackResult)?
    private var cursor = Cursor()
    private var menu = Menu()
    /// What was put back last, in words.
    private(set) var done: String?
    let names: LocalizedNames

    init(_ names: LocalizedNames) { self.names = names }

    /// Identifies what the person would approve, as ``Dialogue/stage`` does.
    var stage: String {
        switch place {
        case .saves: place.rawValue
        case .save: "\(place.rawValue) \(opened?.save.number ?? 0)"
        case .putBack: asked.map { "\(place.rawValue) \($0.request)" } ?? place.rawValue
        }
    }

    mutating func listed(_ saves: [PastSave]) {
        self.saves = saves
        go(to: .saves)
    }

    /// Takes what a request would do.
    mutating func foreseen(_ request: PutBackRequest, _ result: PutBackResult) {
        if place == .saves, let save = saves?.first(where: { $0.number == request.save }) {
            opened = (save, result)
            go(to: .save)
        } else {
            asked = (request, result)
            go(to: .putBack)
        }
    }

    /// Takes what was put back.
    mutating func madeSo(_ result: PutBackResult) {
        done = names.text(.putBackDone, [.changes: result.words(names)])
    }

    private mutating func go(to place: Stage) {
        self.place = place
        cursor = Cursor()
        // Nothing is put back by one Return.
        menu = Menu(at: "b")
    }

    // MARK: - Keys

    /// - Returns: `nil` if the person goes back to the review.
    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect? {
        if place == .putBack {
            if key == .pageUp || key == .pageDown { move(key, on: size) }
            return choose(key == .left ? "b" : menu.press(key, controls), isArmed: isArmed)
        }
        switch key {
        case .left: return choose("b", isArmed: isArmed)
        case .enter: return open()
        // In line mode, the number can be that of no row.
        case .row(let index) where index >= count(on: size): break
        case .row:
            move(key, on: size)
            return open()
        case .character(let letter) where controls.contains { $0.key == letter }:
            return choose(letter, isArmed: isArmed)
        default: move(key, on: size)
        }
        return .nothing
    }

    private mutating func open() -> Effect {
        switch place {
        case .saves:
            guard let saves, saves.indices.contains(cursor.place) else { break }
            return .foresee(PutBackRequest(save: saves[cursor.place].number))
        case .save:
            guard let opened, opened.result.contacts.indices.contains(cursor.place) else { break }
            let contact = opened.result.contacts[cursor.place].identifier
            return .foresee(PutBackRequest(save: opened.save.number, contact: contact))
        case .putBack: break
        }
        return .nothing
    }

    private mutating func choose(_ key: Character?, isArmed: Bool) -> Effect? {
        switch (place, key) {
        case (.saves, "b"): return nil
        case (.save, "b"): go(to: .saves)
        case (.putBack, "b"): go(to: .save)
        case (.save, "u"): return opened.map { .foresee(PutBackRequest(save: $0.save.number)) } ?? .nothing
        case (.save, "e"):
            return opened.map { .foresee(PutBackRequest(save: $0.save.number, later: true)) } ?? .nothing
        case (.putBack, "f"):
            guard var request = asked?.request else { break }
            request.force = true
            return .foresee(request)
        case (.putBack, "y"):
            guard let request = asked?.request else { break }
            return isArmed ? .putBack(request) : .tooEarly
        default: break
        }
        return .nothing
    }

    private var controls: [Control] {
        func control(_ key: Character, _ phrase: Phrase, isApproval: Bool = false) -> Control {
            Control(key: key, words: names.text(phrase), isApproval: isApproval)
        }
        switch place {
        case .saves: return []
        case .save: return [control("u", .putBackSave), control("e", .putBackLater), control("b", .back)]
        case .putBack:
            guard let asked else { return [] }
            return (asked.result.changesAnything ? [control("y", .putBack, isApproval: true)] : [])
                + (asked.result.conflicts > 0 ? [control("f", .putBackForced)] : []) + [control("b", .back)]
        }
    }

    // MARK: - Lines on the screen

    private func count(on size: ScreenSize) -> Int {
        switch place {
        case .saves: saves?.count ?? 0
        case .save: opened?.result.contacts.count ?? 0
        case .putBack: (asked?.result.contacts.count ?? 0) + diff(on: size).count
        }
    }

    /// Value by value, what happens to the one contact that the person is asked about.
    private func diff(on size: ScreenSize) -> [StyledLine] {
        asked?.result.diff?.styledLines(columns: size.columns) ?? []
    }

    /// The lines for a list, with the title, the line of what happens, and the controls beside it.
    private func room(on size: ScreenSize) -> Int { max(2, size.rows - 7) }

    private mutating func move(_ key: Key, on size: ScreenSize) {
        let (room, count) = (room(on: size), count(on: size))
        _ = cursor.move(key, count: count, page: count > room ? room - 1 : room)
    }

    func lines(of review: ManageDialogue, on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = review.callerWords(on: size)
        let room = room(on: size)
        func list(_ rows: [String]) -> [StyledLine] {
            review.confirmed(Array(rows.enumerated()), at: cursor, room: room) { index, text in
                let isCurrent = index == cursor.place
                var line = StyledLine(
                    Columns.clip((isCurrent ? "› " : "  ") + text, to: size.columns - 1),
                    isCurrent ? .highlighted : .plain)
                line.action = .row(index: index)
                return line
            }
        }
        switch place {
        case .saves:
            let rows = (saves ?? []).map { save in
                "\(Columns.pad(names.moment(save.time), to: 14))  \(save.words(names))  \(names.list(save.contacts))"
            }
            let none = saves?.isEmpty == true ? [StyledLine("  " + names.text(.savesNone))] : []
            return [.bold(words.text(.changesOf)), ""] + list(rows) + none
        case .save:
            guard let opened else { return [] }
            let rows = opened.result.contacts.map {
                "\(Columns.pad($0.name, to: size.columns / 2 - 4))  \($0.detail(names))"
            }
            let title = words.text(.changesAt, [.time: names.moment(opened.save.time)])
            return [.bold(title)] + list(rows)
                + menu.lines(controls, columns: size.columns, room: 3, isArmed: isArmed, highlights: false)
        case .putBack:
            guard let asked else { return [] }
            let what = asked.result.words(names)
            let happens = what.isEmpty ? names.text(.putBackNothing) : names.text(.saveContacts, [.changes: what])
            let rows = asked.result.contacts.map { review.confirmed($0.name, $0.detail(names), on: size) }
            let contacts = review.confirmed(rows + diff(on: size), at: cursor, room: room - 2) { $0 }
            return review.question(
                .bold(question(asked.request, words)),
                StyledLine("  " + happens).wrapped(columns: size.columns - 1) + contacts, menu, controls, on: size,
                isArmed: isArmed)
        }
    }

    private func question(_ request: PutBackRequest, _ words: CallerWords) -> String {
        if request.contact != nil, let name = asked?.result.contacts.first?.name {
            return names.text(.putBackOneQuestion, [.name: name])
        }
        let time = names.moment(opened?.save.time ?? 0)
        if request.later { return names.text(.putBackLaterQuestion, [.time: time]) }
        return words.text(.putBackQuestion, [.time: time])
    }
}
