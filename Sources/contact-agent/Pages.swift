import BrokerFormatting

/// Lines of which a screen shows some at a time.
struct Pages: Hashable {
    private(set) var start = 0

    /// The place of the first page again.
    mutating func rewind() { start = 0 }

    /// Turns the page where the key says so.
    mutating func turn(_ key: Key, of count: Int, by page: Int) {
        if key == .character("n"), start + page < count { start += page }
        if key == .character("p") { start = max(0, start - page) }
    }

    func shown<Line>(of lines: [Line], by page: Int) -> ArraySlice<Line> { lines.dropFirst(start).prefix(page) }

    /// Which part of the whole is shown; nothing where that is all of it.
    func place(of count: Int, by page: Int, _ names: LocalizedNames) -> [StyledLine] {
        guard count > page else { return [] }
        let place = names.place(start + 1, min(count, start + page), of: count)
        return [.dim("   \(place)  [n] \(names.text(.next)) [p] \(names.text(.previous))")]
    }
}
