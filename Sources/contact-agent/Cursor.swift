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

    /// Scrolls a text of `count` lines, of which `page` are visible. No line is highlighted.
    ///
    /// - Returns: `false` if the key does not scroll.
    mutating func scroll(_ key: Key, count: Int, page: Int) -> Bool {
        switch key {
        case .up: top -= 1
        case .down: top += 1
        case .scrollUp: top -= 3
        case .scrollDown: top += 3
        case .pageUp: top -= max(1, page - 1)
        case .pageDown: top += max(1, page - 1)
        case .home: top = 0
        case .end: top = count
        default: return false
        }
        top = max(0, min(top, count - page))
        place = top
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
