import BrokerFormatting

/// A folder that the person declared, or is about to declare.
struct DeclaredFolder: Hashable, Sendable {
    /// The path without links, as the broker reports it.
    var path: String
    /// When the declaration ends, in seconds since 1970.
    var ends: Int64
}

/// The screen on which the person declares the folders of programs that they develop, and ends declarations.
struct FoldersScreen {
    enum Stage: Hashable {
        case list
        /// The person types a path. The text says why the broker did not accept the last one.
        case typing(LineEditor, problem: String?)
        case declaring(DeclaredFolder)
        case ending(DeclaredFolder)
    }

    enum Action: Hashable {
        case close
        /// Ask the broker about the folder at this path.
        case check(String)
        case declare(DeclaredFolder)
        case end(DeclaredFolder)
        /// The key was pressed before the screen could be read.
        case tooEarly
    }

    /// The longest path that can be typed, in characters.
    private static let longestPath = 1_000

    private(set) var stage = Stage.list
    private(set) var folders: [DeclaredFolder]
    private var cursor = Cursor()
    private var menu = Menu()
    /// The path with which typing begins: the folder in which the agent was started.
    private let workingFolder: String
    let names: LocalizedNames

    init(_ folders: [DeclaredFolder], workingFolder: String, _ names: LocalizedNames) {
        self.folders = folders
        self.workingFolder = workingFolder
        self.names = names
    }

    mutating func list(_ folders: [DeclaredFolder]) {
        self.folders = folders
        cursor.fit(count: folders.count, page: max(1, folders.count))
        go(to: .list)
    }

    /// The broker found the folder, and the person decides about it.
    mutating func found(_ folder: DeclaredFolder) { go(to: .declaring(folder)) }

    /// The broker does not accept the folder. The person can correct the path.
    mutating func refused(_ path: String, _ problem: String) {
        go(to: .typing(LineEditor(path, maximum: Self.longestPath), problem: problem))
    }

    private mutating func go(to stage: Stage) {
        self.stage = stage
        // A declaration is never one Return away.
        menu = Menu(at: "b")
    }

    // MARK: - Keys

    /// - Parameter isArmed: whether the screen was visible long enough to be read.
    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Action? {
        switch stage {
        case .list: return pressInList(key, on: size)
        case .typing(var line, let problem):
            switch key {
            case .enter: return line.text.isEmpty ? nil : .check(line.text)
            case .escape: go(to: .list)
            // In line mode, a slash at the beginning means a search, and does not arrive here.
            case .line(let path) where !path.hasPrefix("~"): _ = line.press(.line("/" + path))
            // A tilde has a meaning only at the beginning, so it replaces the path that is filled in.
            case .character("~") where line.text == workingFolder: _ = line.press(.line("~"))
            default: _ = line.press(key)
            }
            if case .typing = stage { stage = .typing(line, problem: problem) }
            return nil
        case .declaring(let folder): return confirm(key, .declare(folder), isArmed: isArmed)
        case .ending(let folder): return confirm(key, .end(folder), isArmed: isArmed)
        }
    }

    private mutating func pressInList(_ key: Key, on size: ScreenSize) -> Action? {
        switch key {
        case .escape, .left: return .close
        case .character("n"):
            go(to: .typing(LineEditor(workingFolder, maximum: Self.longestPath), problem: nil))
        case .enter where folders.isEmpty: return pressInList(.character("n"), on: size)
        case .enter: endCurrent()
        default:
            guard cursor.move(key, count: folders.count, page: page(on: size)), case .row = key else { return nil }
            endCurrent()
        }
        return nil
    }

    private mutating func endCurrent() {
        if folders.indices.contains(cursor.place) { go(to: .ending(folders[cursor.place])) }
    }

    private mutating func confirm(_ key: Key, _ action: Action, isArmed: Bool) -> Action? {
        guard key != .escape, key != .left else {
            go(to: .list)
            return nil
        }
        switch menu.press(key, controls) {
        case "y": return isArmed ? action : .tooEarly
        case "b": go(to: .list)
        default: break
        }
        return nil
    }

    private var controls: [Control] {
        let yes: Phrase
        switch stage {
        case .list, .typing: return []
        case .declaring: yes = .yesDeclare
        case .ending: yes = .yesEndFolder
        }
        return [
            Control(key: "y", words: names.text(yes), isApproval: true), Control(key: "b", words: names.text(.back)),
        ]
    }

    /// Whether the person sees another question than on the other screen. Keys that were pressed for that one do not count.
    func asksOtherwise(than other: FoldersScreen?) -> Bool {
        switch (stage, other?.stage) {
        case (.typing, .typing): false
        case (let stage, let former): stage != former
        }
    }

    // MARK: - Lines

    /// The rows for folders: the screen without the title, the heading, the meaning and the hints.
    private func page(on size: ScreenSize) -> Int { max(1, size.rows - 8) }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let columns = size.columns - 1
        func paragraph(_ phrase: Phrase, _ style: StyledLine.Style = .plain) -> [StyledLine] {
            StyledLine(names.text(phrase), style).wrapped(columns: columns)
        }
        func path(_ folder: DeclaredFolder) -> StyledLine {
            StyledLine("  " + names.isolated(Columns.clipMiddle(ShownText.line(folder.path), to: columns - 2)))
        }
        func question(_ title: String, _ folder: DeclaredFolder, _ meaning: Phrase) -> [StyledLine] {
            [.bold(title), path(folder), ""] + paragraph(meaning, .warning) + [""]
                + menu.lines(controls, columns: size.columns, room: 2, isArmed: isArmed)
        }
        switch stage {
        case .list:
            let meaning = [""] + paragraph(.foldersMeaning, .dim)
            guard !folders.isEmpty else { return [.bold(names.text(.foldersNone))] + meaning }
            let visible = cursor.visible(count: folders.count, page: page(on: size))
            return [.bold(names.text(.foldersTitle))] + visible.map { row($0, columns: columns) } + meaning
        case .typing(let line, let problem):
            // The end of a long path is what is being typed.
            let shown = Columns.clipMiddle(ShownText.line(line.text), to: columns - 3)
            return [.bold(names.text(.folderWhich)), StyledLine("  \(shown)▏"), ""]
                + (problem.map { StyledLine($0, .warning).wrapped(columns: columns) + [""] } ?? [])
                + paragraph(.foldersMeaning, .dim)
        case .declaring(let folder):
            let time = names.day(folder.ends)
            return question(names.text(.folderQuestion, [.time: time]), folder, .folderRisk)
        case .ending(let folder): return question(names.text(.endFolderQuestion), folder, .endFolderMeaning)
        }
    }

    private func row(_ place: Int, columns: Int) -> StyledLine {
        let end = names.text(.folderUntil, [.time: names.day(folders[place].ends)])
        let path = Columns.clipMiddle(
            ShownText.line(folders[place].path), to: max(16, columns - Columns.width(end) - 6))
        return .row(place, isCurrent: place == cursor.place, "\(names.isolated(path))   \(end)")
    }

    var hints: [Hint] {
        let back = names.hint("Esc", .back)
        switch stage {
        case .list:
            let declare = names.hint("n", .declareFolder)
            return (folders.isEmpty ? [] : [names.hint("Return", .hintEndFolder)]) + [declare, back]
        case .typing: return [names.hint("Return", .goOn), back]
        case .declaring, .ending: return [names.hint("Return", .hintChoose), back]
        }
    }
}
