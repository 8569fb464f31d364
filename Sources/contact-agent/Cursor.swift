/// A position in a list that is longer than the screen, and the first visible row.
struct Cursor: Hashable {
    private(set) var place = 0
    private(set) var top = 0

    /// Moves within a list of `count` rows, of which `page` are visible.
    ///
    /// - Returns: `false` if the key does not move the cursor.
    mutating func move(_ key: Key, count: Int, page: Int) -> Bool {
        switch key {
        case .up: place -= 1
        case .down: place += 1
        case .scrollUp: place -= 3
        case .scrollDown: place += 3
        case .pageUp: place -= max(1, page - 1)
        case .pageDown: place += max(1, page - 1)
        case .home: place = 0
        case .end: place = count - 1
        case .row(let index): place = index
        default: return false
        }
        fit(count: count, page: page)
        return true
    }

    /// Keeps the cursor in the list, and scrolls so that it is visible.
    mutating func fit(count: Int, page: Int) {
        place = max(0, min(place, count - 1))
        top = max(0, min(top, place, count - page))
        if place >= top + page { top = place - page + 1 }
    }

    /// The visible places of a list.
    func visible(count: Int, page: Int) -> Range<Int> { min(top, count)..<min(count, top + page) }
}
