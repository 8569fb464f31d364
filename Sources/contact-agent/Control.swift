import BrokerFormatting

/// One action on a screen, with the key that chooses it.
struct Control: Hashable {
    var key: Character
    var words: String
    /// The setting that the action changes, with its current value, such as `Lasts: this terminal session`.
    var setting: String?
    /// Whether the action shares something. Its key appears only after the arming time.
    var isApproval = false
}

/// The controls of a screen, one of which is highlighted. Return chooses the highlighted one.
struct Menu: Hashable {
    /// The key of the highlighted control; `nil` means the first one.
    private var highlighted: Character?

    init(at highlighted: Character? = nil) { self.highlighted = highlighted }

    /// - Returns: the key of the control that the person chose; `nil` if the key chooses none.
    mutating func press(_ key: Key, _ controls: [Control]) -> Character? {
        switch key {
        case .up, .backTab: move(by: -1, controls)
        case .down, .tab: move(by: 1, controls)
        case .enter: return current(controls)?.key
        case .character(" "): return current(controls).flatMap { $0.setting == nil ? nil : $0.key }
        case .character(let character): return controls.contains { $0.key == character } ? character : nil
        case .row(let index):
            // In line mode, a number can also be the key of a control.
            return controls.first { String($0.key) == String(index + 1) }?.key
        default: break
        }
        return nil
    }

    private func current(_ controls: [Control]) -> Control? {
        controls.first { $0.key == highlighted } ?? controls.first
    }

    private mutating func move(by step: Int, _ controls: [Control]) {
        guard let current = current(controls), let place = controls.firstIndex(of: current) else { return }
        highlighted = controls[(place + step + controls.count) % controls.count].key
    }

    // MARK: - Lines

    /// The controls, one below the other, or in a row if there is not enough room.
    ///
    /// - Parameter highlights: `false` if Return and the arrow keys belong to a list on the same screen.
    func lines(
        _ controls: [Control], columns: Int, room: Int, isArmed: Bool, highlights: Bool = true
    ) -> [StyledLine] {
        let current = highlights ? current(controls) : nil
        let all = controls.map { line(for: $0, isHighlighted: $0 == current, isArmed: isArmed) }
        guard all.count > room else { return all }
        var rows: [StyledLine] = []
        for line in all {
            let isWide = rows.last.map { Columns.width($0.text) + Columns.width(line.text) + 1 > columns } ?? true
            if isWide { rows.append(line) } else { rows[rows.count - 1] = rows[rows.count - 1].joined(line) }
        }
        return rows
    }

    private func line(for control: Control, isHighlighted: Bool, isArmed: Bool) -> StyledLine {
        let key = control.isApproval && !isArmed ? "[ ]" : "[\(control.key)]"
        let pointer = isHighlighted ? "› " : "  "
        let style: StyledLine.Style = isHighlighted ? .highlighted : .plain
        var line = StyledLine(pointer, style)
        if let setting = control.setting { line = line + StyledLine(setting + "   ", style) }
        line =
            line + StyledLine(key, isHighlighted ? .highlighted : control.isApproval && !isArmed ? .dim : .bold)
            + StyledLine(" " + control.words, control.isApproval && !isArmed && !isHighlighted ? .dim : style)
        line.action = .character(control.key)
        return line
    }
}

extension LocalizedNames {
    func hint(_ key: String, _ action: Phrase) -> Hint { Hint(key: key, words: text(action)) }
}

/// A key and its action, for the line of hints at the bottom.
struct Hint: Hashable {
    var key: String
    var words: String

    /// The hints that fit in one line: how to refuse, then the others from the first one. The order on the screen stays
    /// the same.
    static func line(_ hints: [Hint], columns: Int) -> StyledLine {
        var left = columns
        var fitting: Set<Hint> = []
        for hint in hints.filter({ $0.key == "Esc" }) + hints.filter({ $0.key != "Esc" }) {
            let width = Columns.width("[\(hint.key)] \(hint.words)") + (fitting.isEmpty ? 0 : 3)
            guard width <= left else { continue }
            left -= width
            fitting.insert(hint)
        }
        return hints.filter(fitting.contains).enumerated().reduce(StyledLine()) { line, shown in
            line + StyledLine(shown.offset == 0 ? "" : "   ") + .bold("[\(shown.element.key)]")
                + StyledLine(" " + shown.element.words)
        }
    }
}
