import BrokerFormatting

/// A list of contacts with a cursor. The person moves the cursor and marks contacts.
///
/// Only a part of a long list is in memory, around the visible rows.
struct ContactList: Hashable {
    /// The treatment of contacts that the app can already see.
    enum Shared {
        /// They are labelled, and cannot be marked.
        case fixed
        /// They can be marked like any other contact.
        case ignored
        /// They are on, and can be turned off.
        case removable
    }

    /// The most rows that the broker returns at once.
    static let maximumLoaded = 200

    var shared = Shared.fixed
    /// The sign before a marked row.
    var markedSign = "x"
    /// The loaded rows. The first of them is at ``offset`` in the whole list.
    private(set) var rows: [Row] = []
    private(set) var offset = 0
    private(set) var total = 0
    private(set) var cursor = Cursor()
    /// Marked contacts, in the order of marking. They stay marked when the list shows other contacts.
    private(set) var marked: [Row] = []
    /// Contacts that the app can see and that the person turned off.
    private(set) var removed: [Row] = []
    /// The most rows that can be marked, and ``others`` together; `nil` if there is no limit.
    var limit: Int?
    /// The number of items that the person picked elsewhere, which count towards ``limit``.
    var others = 0
    /// The row that the person tried to mark last, if it cannot be marked.
    private(set) var refusedRow: Row?
    private(set) var isLoaded = false

    /// The number of marked contacts. A marked group counts as all of its contacts.
    var markedContacts: Int { marked.count + moreContacts }
    /// How many contacts the marked groups have, without one for each group.
    var moreContacts: Int { marked.reduce(0) { $0 + $1.contacts - 1 } }
    /// The number of contacts that the person turned off. A group counts as all of its contacts.
    var removedContacts: Int { removed.reduce(0) { $0 + $1.contacts } }
    /// Whether the person marked a contact or turned one off.
    var hasChanges: Bool { !marked.isEmpty || !removed.isEmpty }

    mutating func show(_ result: SearchResult) {
        rows = Array(result.rows.prefix(Self.maximumLoaded))
        offset = result.offset
        total = result.total
        isLoaded = true
        refusedRow = nil
    }

    /// Shows the marked contacts, the last one first, and those that were turned off. Without its mark, a contact stays
    /// until the list shows others.
    mutating func showMarked() {
        rows = marked.reversed() + removed
        offset = 0
        total = rows.count
        refusedRow = nil
    }

    /// Returns to the first row, for a new query.
    mutating func rewind() { cursor = Cursor() }

    // MARK: - Moving

    /// Moves the cursor, and scrolls so that it is visible on a page of so many rows.
    ///
    /// - Returns: `false` if the key does not move the cursor.
    mutating func move(_ key: Key, page: Int) -> Bool {
        guard cursor.move(key, count: total, page: page) else { return false }
        refusedRow = nil
        return true
    }

    /// Scrolls so that the cursor is visible on a page of so many rows.
    mutating func fit(_ page: Int) { cursor.fit(count: total, page: page) }

    /// The offset from which rows must be loaded to fill a page of so many rows; `nil` if they are loaded.
    func missing(page: Int) -> Int? {
        let visible = cursor.visible(count: total, page: page)
        guard visible.lowerBound < offset || visible.upperBound > offset + rows.count else { return nil }
        // Half of the loaded rows are above the page, so that the next keys need no search.
        return max(0, visible.lowerBound - max(0, Self.maximumLoaded - page) / 2)
    }

    // MARK: - Marking

    /// The row at the cursor.
    var current: Row? { row(at: cursor.place) }

    private func row(at place: Int) -> Row? {
        rows.indices.contains(place - offset) ? rows[place - offset] : nil
    }

    /// Marks the row at the cursor, or removes its mark.
    ///
    /// - Returns: `false` if the row stays as it was: it cannot be marked, or the limit is reached.
    mutating func toggle() -> Bool {
        guard let row = current else { return false }
        refusedRow = nil
        if row.isGranted, shared == .removable {
            Self.toggle(row, in: &removed)
        } else if canMark(row), isMarked(row) || !isFull {
            Self.toggle(row, in: &marked)
        } else {
            refusedRow = row
            return false
        }
        return true
    }

    /// Marks the row at the cursor, unless it is marked. A contact that is on stays on.
    mutating func mark() {
        guard let row = current, !(row.isGranted && shared == .removable), !isMarked(row) else { return }
        _ = toggle()
    }

    mutating func clearMarks() { marked = [] }

    func isMarked(_ row: Row) -> Bool { marked.contains { $0.identifier == row.identifier } }
    func canMark(_ row: Row) -> Bool { row.isEnabled && !isFixed(row) }
    /// Whether no further row can be marked.
    var isFull: Bool { limit.map { marked.count + others >= $0 } ?? false }
    private func isFixed(_ row: Row) -> Bool { row.isGranted && shared == .fixed }

    private static func toggle(_ row: Row, in rows: inout [Row]) {
        if let place = rows.firstIndex(where: { $0.identifier == row.identifier }) {
            rows.remove(at: place)
        } else {
            rows.append(row)
        }
    }
}

// MARK: - Lines on the screen

extension ContactList {
    /// The visible rows.
    func lines(page: Int, columns: Int, query: String, _ names: LocalizedNames) -> [StyledLine] {
        visible(page: page).map { place, row in
            var line = line(for: row, isCurrent: place == cursor.place, columns: columns, query: query, names)
            line.action = .row(index: place)
            return line
        }
    }

    /// The loaded rows of the page, each with its place in the whole list.
    func visible(page: Int) -> [(place: Int, row: Row)] {
        cursor.visible(count: total, page: page).compactMap { place in row(at: place).map { (place, $0) } }
    }

    private func line(
        for row: Row, isCurrent: Bool, columns: Int, query: String, _ names: LocalizedNames
    ) -> StyledLine {
        let isRemoved = removed.contains { $0.identifier == row.identifier }
        let isOn = row.isGranted && shared == .removable
        let sign = isFixed(row) ? "=" : isRemoved ? "−" : isMarked(row) ? markedSign : isOn ? "x" : " "
        let name = Columns.pad(row.name, to: max(16, min(40, columns / 2 - 8)))
        let canMark = canMark(row) || isOn
        let detail =
            canMark
            ? row.detail ?? ""
            : isFixed(row) ? names.text(.sharedAlready) : row.reason ?? names.text(.cannotChoose)
        let base: StyledLine.Style =
            isCurrent ? .highlighted : !canMark ? .dim : isMarked(row) || isRemoved ? .bold : .plain
        let head = StyledLine("\(isCurrent ? "›" : " ") [\(sign)] ", base)
        guard !isCurrent, canMark else { return head + StyledLine("\(name)  \(detail)", base) }
        return head + Matches.line(name, query, base) + "  " + Matches.line(detail, query, .dim)
    }

    /// The position of the page in the list: `1–19 of 312`; empty before the first result.
    func place(page: Int, _ names: LocalizedNames) -> String {
        guard total > 0 else { return isLoaded ? names.text(.noMatches) : "…" }
        let visible = cursor.visible(count: total, page: page)
        return names.place(visible.lowerBound + 1, visible.upperBound, of: total)
    }

    /// The marked contacts by name, or the reason why a row cannot be marked; empty if there is neither.
    func remark(columns: Int, _ names: LocalizedNames) -> [StyledLine] {
        if let row = refusedRow {
            // The row itself can be marked, so the limit is the reason.
            if canMark(row), let limit {
                return [.warning(names.text(.pickLimitReached, [.count: names.number(limit)]))]
            }
            let reason = isFixed(row) ? names.text(.alreadyShared) : row.reason ?? names.text(.noReason)
            return [.warning(names.text(.cannotBeChosen, [.name: row.name, .reason: reason]))]
        }
        guard hasChanges else { return [] }
        let changes =
            marked.reversed().map { shared == .removable ? "+ \($0.name)" : $0.name } + removed.map { "− \($0.name)" }
        let count = names.text(.markedCount, count: markedContacts + removedContacts)
        return [.bold(Columns.clip("\(count): \(names.list(changes))", to: columns - 1))]
    }
}
