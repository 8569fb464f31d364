import BrokerFormatting

/// A list of contacts, page by page, in which some are chosen by their number on the page.
struct ContactList: Hashable {
    /// What becomes of contacts that the app sees already.
    enum Shared {
        /// They are marked, and cannot be chosen.
        case fixed
        /// They are chosen like any other.
        case ignored
        /// They are on, and can be turned off.
        case removable
    }

    /// One key chooses: there are nine of them.
    static let maximumPage = 9

    var shared = Shared.fixed
    /// Before a row that was chosen.
    var chosenMark = "x"
    private(set) var rows: [Row] = []
    private(set) var total = 0
    private(set) var offset = 0
    /// Contacts that were chosen, whatever page they stand on, in the order of choosing.
    private(set) var chosen: [Row] = []
    /// Contacts that the app sees and that were turned off.
    private(set) var removed: [Row] = []
    /// The row that the last number would have chosen, had it been possible.
    private var refusedRow: Row?
    private var isLoaded = false

    mutating func show(_ result: SearchResult) {
        rows = Array(result.rows.prefix(Self.maximumPage))
        total = result.total
        offset = result.offset
        isLoaded = true
        refusedRow = nil
    }

    /// Turns the row of this number on the page on or off; does nothing for any other character.
    mutating func toggle(_ number: Character) {
        guard let row = row(number) else { return }
        refusedRow = nil
        if row.isGranted, shared == .removable {
            Self.toggle(row, in: &removed)
        } else if canChoose(row) {
            Self.toggle(row, in: &chosen)
        } else {
            refusedRow = row
        }
    }

    private static func toggle(_ row: Row, in rows: inout [Row]) {
        if let place = rows.firstIndex(where: { $0.identifier == row.identifier }) {
            rows.remove(at: place)
        } else {
            rows.append(row)
        }
    }

    /// The row of this number on the page.
    func row(_ number: Character) -> Row? {
        guard number.isASCII, let place = number.wholeNumberValue, rows.indices.contains(place - 1) else { return nil }
        return rows[place - 1]
    }

    private func canChoose(_ row: Row) -> Bool { row.isEnabled && !isFixed(row) }
    private func isFixed(_ row: Row) -> Bool { row.isGranted && shared == .fixed }

    mutating func forgetChosen() { chosen = [] }

    /// Where the page starts to which a key turns; `nil` for any other key, and where there is no such page.
    func offset(after key: Character, by limit: Int) -> Int? {
        switch key {
        case "n" where hasNext: offset + rows.count
        case "p" where offset > 0: max(0, offset - limit)
        default: nil
        }
    }

    private var hasNext: Bool { offset + rows.count < total && !rows.isEmpty }

    func lines(columns: Int, _ names: LocalizedNames) -> [StyledLine] {
        rows.enumerated().map { index, row in
            let isChosen = chosen.contains { $0.identifier == row.identifier }
            let isRemoved = removed.contains { $0.identifier == row.identifier }
            let isOn = row.isGranted && shared == .removable
            let mark = isFixed(row) ? "=" : isRemoved ? "−" : isChosen ? chosenMark : isOn ? "x" : " "
            let text = " \(index + 1) [\(mark)] \(Columns.pad(row.name, to: min(34, columns / 2 - 8)))  "
            guard canChoose(row) || isOn else {
                return .dim(
                    text + (isFixed(row) ? names.text(.sharedAlready) : row.reason ?? names.text(.cannotChoose)))
            }
            return StyledLine(text, isChosen || isRemoved ? .bold : .plain) + .dim(row.detail ?? "")
        }
    }

    /// Which part of the whole is on this page.
    func place(_ names: LocalizedNames) -> StyledLine {
        guard total > 0 else { return isLoaded ? StyledLine("   " + names.text(.nobodyFound)) : .dim("   …") }
        let place = names.place(offset + 1, offset + rows.count, of: total)
        let pages = [
            hasNext ? "[n] " + names.text(.next) : nil,
            offset > 0 ? "[p] " + names.text(.previous) : nil,
        ].compactMap { $0 }.joined(separator: " ")
        return .dim("   \(place)  \(pages)")
    }

    /// Why the last number chose nothing, where it did not.
    func remark(_ names: LocalizedNames) -> [StyledLine] {
        guard let row = refusedRow else { return [] }
        let reason = isFixed(row) ? names.text(.alreadyShared) : row.reason ?? names.text(.noReason)
        return [.warning(names.text(.cannotBeChosen, [.name: row.name, .reason: reason]))]
    }
}
