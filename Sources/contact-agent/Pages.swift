import BrokerFormatting

/// A position in a list that is shown page by page.
struct Pages: Hashable {
    private(set) var start = 0

    /// Returns to the first page.
    mutating func rewind() { start = 0 }

    /// Turns to the next page on `n`, and to the previous one on `p`.
    mutating func turn(_ key: Character, of count: Int, by page: Int) {
        if key == "n", start + page < count { start += page }
        if key == "p" { start = max(0, start - page) }
    }

    func shown<Item>(of items: [Item], by page: Int) -> ArraySlice<Item> { items.dropFirst(start).prefix(page) }

    /// The lines of the page, and its position in the whole list.
    func lines<Item>(
        of items: [Item], by page: Int, _ names: LocalizedNames, _ line: (Item) -> StyledLine
    ) -> [StyledLine] {
        shown(of: items, by: page).map(line) + place(of: items.count, by: page, names)
    }

    /// The position of the page; empty if one page shows everything.
    func place(of count: Int, by page: Int, _ names: LocalizedNames) -> [StyledLine] {
        guard count > page else { return [] }
        let place = names.place(start + 1, min(count, start + page), of: count)
        return [.dim("   \(place)  [n] \(names.text(.next)) [p] \(names.text(.previous))")]
    }
}
