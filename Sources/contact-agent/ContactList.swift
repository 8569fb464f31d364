import BrokerFormatting

/// A paged list of contacts, in which contacts are chosen by their number on the page.
struct ContactList: Hashable {
    /// The treatment of contacts that the app can already see.
    enum Shared {
        /// They are marked, and cannot be chosen.
        case fixed
        /// They can be chosen like any other contact.
        case ignored
        /// They are turned on, and can be turned off.
        case removable
    }

    /// The maximum number of rows on a page, because one digit key, 1 to 9, chooses a row.
    static let maximumPage = 9

    var shared = Shared.fixed
    /// The mark before a chosen row.
    var chosenMark = "x"
    private(set) var rows: [Row] = []
    private(set) var total = 0
    private(set) var offset = 0
    /// Chosen contacts on all pages, in the order of choosing.
    private(set) var chosen: [Row] = []
    /// The number of chosen contacts. A chosen group counts as all of its contacts.
    var chosenContacts: Int { chosen.count + moreContacts }
    /// How many contacts the chosen groups have, without one for each group.
    var moreContacts: Int { chosen.reduce(0) { $0 + $1.contacts - 1 } }
    /// Contacts that the app can see and that the person turned off.
    private(set) var removed: [Row] = []
    /// The row of the last number key, if that row cannot be chosen.
    private var refusedRow: Row?
    private var isLoaded = false

    mutating func show(_ result: SearchResult) {
        rows = Array(result.rows.prefix(Self.maximumPage))
        total = result.total
        offset = result.offset
        isLoaded = true
        refusedRow = nil
    }

    /// Turns the row with this number on or off. Ignores any other character.
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

    /// The row with this number on the page.
    func row(_ number: Character) -> Row? {
        guard number.isASCII, let place = number.wholeNumberValue, rows.indices.contains(place - 1) else { return nil }
        return rows[place - 1]
    }

    private func canChoose(_ row: Row) -> Bool { row.isEnabled && !isFixed(row) }
    private func isFixed(_ row: Row) -> Bool { row.isGranted && shared == .fixed }

    mutating func clearChosen() { chosen = [] }

    /// The offset of the page that the key turns to; `nil` if the key turns no page, or if there is no such
    /// page.
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

    /// The position of this page in the list.
    func place(_ names: LocalizedNames) -> StyledLine {
        guard total > 0 else { return isLoaded ? StyledLine("   " + names.text(.nobodyFound)) : .dim("   …") }
        let place = names.place(offset + 1, offset + rows.count, of: total)
        let pages = [
            hasNext ? "[n] " + names.text(.next) : nil,
            offset > 0 ? "[p] " + names.text(.previous) : nil,
        ].compactMap { $0 }.joined(separator: " ")
        return .dim("   \(place)  \(pages)")
    }

    /// The reason why the last number key chose no row; empty if it chose one.
    func remark(_ names: LocalizedNames) -> [StyledLine] {
        guard let row = refusedRow else { return [] }
        let reason = isFixed(row) ? names.text(.alreadyShared) : row.reason ?? names.text(.noReason)
        return [.warning(names.text(.cannotBeChosen, [.name: row.name, .reason: reason]))]
    }
}
