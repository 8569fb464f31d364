import BrokerFormatting

/// Lines of which a screen shows some at a time.
struct Pages: Hashable {
    private(set) var start = 0

    /// The place of the first page again.
    mutating func rewind() { start = 0 }

    /// Turns the page where the key says so.
    mutating func turn(_ key: Character, of count: Int, by page: Int) {
        if key == "n", start + page < count { start += page }
        if key == "p" { start = max(0, start - page) }
    }

    func shown<Item>(of items: [Item], by page: Int) -> ArraySlice<Item> { items.dropFirst(start).prefix(page) }

    /// The lines of the page, and which part of the whole it is.
    func lines<Item>(
        of items: [Item], by page: Int, _ names: LocalizedNames, _ line: (Item) -> StyledLine
    ) -> [StyledLine] {
        shown(of: items, by: page).map(line) + place(of: items.count, by: page, names)
    }

    /// Which part of the whole is shown; nothing where that is all of it.
    func place(of count: Int, by page: Int, _ names: LocalizedNames) -> [StyledLine] {
        guard count > page else { return [] }
        let place = names.place(start + 1, min(count, start + page), of: count)
        return [.dim("   \(place)  [n] \(names.text(.next)) [p] \(names.text(.previous))")]
    }
}
