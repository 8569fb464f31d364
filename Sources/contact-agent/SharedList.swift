import BrokerFormatting

/// A list of contacts, page by page, of which each is on or off: those that the app sees now are on.
struct SharedList: Hashable {
    private(set) var page = ContactList()
    private(set) var added: [Row] = []
    private(set) var removed: [Row] = []
    /// Whether what the app sees already is on in the beginning.
    var countsShared = true

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty }

    mutating func show(_ result: SearchResult) { page.show(result) }

    /// Turns the row of this number on the page on or off.
    mutating func toggle(_ number: Int) {
        guard page.rows.indices.contains(number - 1) else { return }
        let row = page.rows[number - 1]
        guard countsShared, row.isGranted else {
            page.toggle(number, ignoringShared: true)
            added = page.chosen
            return
        }
        if let place = removed.firstIndex(where: { $0.identifier == row.identifier }) {
            removed.remove(at: place)
        } else {
            removed.append(row)
        }
    }

    func lines(columns: Int, _ names: LocalizedNames) -> [StyledLine] {
        page.rows.enumerated().map { index, row in
            let isShared = countsShared && row.isGranted
            let isAdded = added.contains { $0.identifier == row.identifier }
            let isRemoved = removed.contains { $0.identifier == row.identifier }
            let mark = isRemoved ? "−" : isAdded ? "+" : isShared ? "x" : " "
            let text = " \(index + 1) [\(mark)] \(Columns.pad(row.name, to: min(34, columns / 2 - 8)))  "
            guard row.isEnabled || isShared else { return .dim(text + (row.reason ?? names.text(.cannotChoose))) }
            return StyledLine(text, isAdded || isRemoved ? .bold : .plain) + .dim(row.detail ?? "")
        }
    }
}
