import BrokerFormatting

/// A list of contacts, page by page, in which some are chosen by their number on the page.
struct ContactList: Hashable {
    /// One key chooses: there are nine of them.
    static let maximumPage = 9

    private(set) var rows: [Row] = []
    private(set) var total = 0
    private(set) var offset = 0
    /// Contacts that were chosen, whatever page they stand on, in the order of choosing.
    private(set) var chosen: [Row] = []
    /// The row that the last number would have chosen, had it been possible.
    private var refusedRow: Row?
    private var isRefusedShared = false
    var isLoaded = false

    mutating func show(_ result: SearchResult) {
        rows = Array(result.rows.prefix(Self.maximumPage))
        total = result.total
        offset = result.offset
        isLoaded = true
        refusedRow = nil
    }

    /// Turns the row of this number on the page on or off.
    ///
    /// - Parameter ignoringShared: what the app sees already can be chosen like any other.
    mutating func toggle(_ number: Int, ignoringShared: Bool = false) {
        refusedRow = nil
        guard rows.indices.contains(number - 1) else { return }
        let row = rows[number - 1]
        let isShared = row.isGranted && !ignoringShared
        guard row.isEnabled, !isShared else {
            (refusedRow, isRefusedShared) = (row, isShared)
            return
        }
        if let place = chosen.firstIndex(where: { $0.identifier == row.identifier }) {
            chosen.remove(at: place)
        } else {
            chosen.append(row)
        }
    }

    /// Where the next page starts; `nil` on the last one.
    var nextOffset: Int? { offset + rows.count < total && !rows.isEmpty ? offset + rows.count : nil }

    func previousOffset(_ limit: Int) -> Int? { offset > 0 ? max(0, offset - limit) : nil }

    mutating func forgetChosen() { chosen = [] }

    /// Why the last number chose nothing.
    func remark(_ names: LocalizedNames) -> String? {
        guard let row = refusedRow else { return nil }
        let reason = isRefusedShared ? names.text(.alreadyShared) : row.reason ?? names.text(.noReason)
        return names.text(.cannotBeChosen, [.name: row.name, .reason: reason])
    }

    func lines(columns: Int, _ names: LocalizedNames, ignoringShared: Bool = false) -> [StyledLine] {
        rows.enumerated().map { index, row in
            let isChosen = chosen.contains { $0.identifier == row.identifier }
            let isShared = row.isGranted && !ignoringShared
            let canChoose = row.isEnabled && !isShared
            let mark = isShared ? "=" : isChosen ? "x" : " "
            let name = Columns.pad(row.name, to: min(34, columns / 2 - 8))
            let rest =
                canChoose
                ? row.detail ?? "" : isShared ? names.text(.sharedAlready) : row.reason ?? names.text(.cannotChoose)
            let text = " \(index + 1) [\(mark)] \(name)  "
            return canChoose ? StyledLine(text, isChosen ? .bold : .plain) + .dim(rest) : .dim(text + rest)
        }
    }

    /// Which part of the whole is on this page.
    func place(_ limit: Int, _ names: LocalizedNames) -> StyledLine {
        guard total > 0 else { return isLoaded ? StyledLine("   " + names.text(.nobodyFound)) : .dim("   …") }
        let place = names.place(offset + 1, offset + rows.count, of: total)
        let pages = [
            nextOffset == nil ? nil : "[n] " + names.text(.next),
            previousOffset(limit) == nil ? nil : "[p] " + names.text(.previous),
        ].compactMap { $0 }.joined(separator: " ")
        return .dim("   \(place)  \(pages)")
    }
}
