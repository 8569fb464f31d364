/// What is looked for, and pages of the list.
extension Benchmark {
    private struct Lookup {
        let task: String
        let name: String
        /// What it may take over a ping-pong of the same bytes, in microseconds.
        let allowance: Double
    }

    private static let all = [
        Lookup(task: "search", name: "three letters, first 20 in order", allowance: 150),
        Lookup(task: "phone", name: "by phone number", allowance: 100),
        Lookup(task: "email", name: "by e-mail address", allowance: 60),
    ]
    private static let lookups = 1_000
    private static let pages = 1_000
    /// Microseconds, whatever the size.
    static let pageBar = 300.0

    mutating func measureLookups(_ app: ChildProcess) throws {
        if size != Self.millionContacts {
            guard try app.ask("study") == [Int64(size)] else { throw Failure("not every contact was imported") }
        }
        var sizes: [String] = []
        for lookup in Self.all {
            for placing in Placing.allCases {
                let turns = try doAndPing(app, lookup.task, placing, count: Self.lookups)
                // Of a million, names are searched in more than one way: see measureFound.
                let isSearch = size == Self.millionContacts && lookup.task == "search"
                report.figures.append(
                    Figure(
                        name("\(lookup.name), \(placing.rawValue)"), Samples(turns.answers),
                        bar: isSearch ? Self.searchBar * 1_000 : Samples(turns.pings).p50 + lookup.allowance))
                if placing == .twoCores { sizes.append("\(lookup.name) \(turns.reply)") }
            }
        }
        guard size == Self.contacts else { return }
        report.remarks.append(
            "Bytes of a reply: \(sizes.joined(separator: ", ")). Bars are p50 of a ping-pong of the same bytes plus "
                + Self.all.map { "\(Int($0.allowance))" }.joined(separator: ", ") + " µs.")
        report.remarks.append(
            "No question, page or contact comes again before the audit has closed its window for repeats, so each has its "
                + "record; but a limited app's \(Person.chosen) contacts come round sooner, and are counted.")
    }

    mutating func measurePages(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        let places = try app.ask("walk \(size / Self.pages)", within: 60)[0]
        guard places > Self.pages / 2 else { throw Failure("the list has only \(places) places") }
        let turns = try doAndPing(app, "page", nil, count: Self.pages)
        report.figures.append(Figure(name("page of 50 anywhere in order"), Samples(turns.answers), bar: Self.pageBar))
        guard size == Self.contacts else { return }
        let floor = rounded(Samples(turns.pings).p50)
        report.remarks.append("A page is \(turns.reply) bytes (median); a ping-pong of as many takes \(floor) µs.")
    }
}
