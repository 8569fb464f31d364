import Glibc

/// Measures look-ups in a book of a million contacts, and how long other clients wait meanwhile.
extension Benchmark {
    /// Increase this number with each change of the generated contacts, so that an older book is made again.
    private static let makerVersion = 1
    private static let folder = "bench-million"
    private static let contactsPerStep = 20_000
    private static let searchBar = Bar.atMost(.time(10_000))

    static func runMillion(_ build: String, _ report: inout Report) throws {
        let maker = "\(makerVersion) \(millionContacts)"
        let kept = try Scratch(build: build, kept: folder)
        let isMade = kept.maker == maker
        if !isMade { try kept.empty() }
        say(
            "\(isMade ? "using" : "making") a book of \(millionContacts) contacts in \(kept.state), kept for the next run"
        )
        kept.remove()
        try run(millionContacts, build, &report, kept: folder) { benchmark in
            let app = try benchmark.app(Role.program)
            _ = try app.ask("ask")
            if !isMade {
                try benchmark.makeBook(app)
                benchmark.scratch.maker = maker
            }
            try benchmark.measureMillion(app)
        }
    }

    /// Saves the contacts through the socket, as any app does.
    private func makeBook(_ app: ChildProcess) throws {
        let start = Clock.now()
        for first in stride(from: 0, to: size, by: Self.contactsPerStep) {
            _ = try app.ask("import \(first) \(Self.contactsPerStep)", within: 300)
            if first / Self.contactsPerStep % 5 == 4 {
                Self.say("\(first + Self.contactsPerStep) after \((Clock.now() - start) / 1_000_000_000) s")
            }
        }
        sleep(Self.untilIdle)
    }

    private mutating func measureMillion(_ app: ChildProcess) throws {
        guard try app.ask("learn", within: 120) == [Int64(size)] else { throw Failure("the book has another size") }
        report.figures.append(Figure(name("address book on the disk"), .size(scratch.bookSize)))
        try measureMemory("idle", pause: Self.untilIdle)
        try measureFound(app)
        try measureLookups(app)
        try measurePages(app)
        try measureSets()
        try measureWaiting(app)
        try measureMemory("after all reads")
        try measurePeak()
        try measureStart(app)
    }

    // MARK: Beginnings of names

    private static let kinds = [
        (task: "rare", name: "three letters with at most 1000 matches"),
        ("middling", "three letters with up to 50000 matches"),
        ("common", "three letters with 100000 matches or more"),
        ("short", "two letters with 100000 matches or more"),
        ("long", "four to six letters"),
        ("native", "three letters of other scripts"),
        ("characters", "names in characters"),
        ("pairs", "two words"),
    ]
    private static let searches = 150

    private mutating func measureFound(_ app: ChildProcess) throws {
        let counts = try app.ask("meet \(size)", within: 120)
        for (kind, (task, text)) in Self.kinds.enumerated() {
            guard counts[kind] > 0 else { throw Failure("the book has no beginnings of the kind \(task)") }
            _ = try app.ask("look-for \(kind)")
            let rounds = try doAndPing(app, "search", nil, count: Self.searches)
            let (ours, floor) = (Samples(rounds.answers), Samples(rounds.pings))
            report.figures.append(Figure(name(text + ", first 20"), ours))
            report.comparisons.append(
                Comparison(
                    work: name(text + ", first 20"), ours: .p50(ours), floor: .p50(floor), bar: Self.searchBar))
        }
        // The index of beginnings has the order that the person prefers, not this one.
        _ = try app.ask("look-for 0 1 2")
        _ = try app.ask("order 1")
        let times = try doAndPing(app, "search", nil, count: Self.searches / 3).answers
        report.figures.append(Figure(name("three letters, in the other order"), Samples(times)))
        _ = try app.ask("order 0")
        _ = try app.ask("look-for 0 1 2 5")
    }

    /// Measures apps that see a part of the book.
    private mutating func measureSets() throws {
        for (program, count) in [(Person.limitedApp, Person.chosen), (Person.largeLimitedApp, Person.manyChosen)] {
            Self.say("the person chooses \(count) contacts")
            let app = try self.app(scratch.copyProgram(as: program))
            _ = try app.ask("ask", within: 300)
            guard try app.ask("study", within: 60) == [Int64(count)] else { throw Failure("an app sees another set") }
            _ = try place(app, nil)
            let times = try doAndPing(app, "search", nil, count: 100).answers
            report.figures.append(
                Figure("three letters, app that sees \(count) of \(size)", Samples(times)))
            let pages = try app.ask("walk \(count / 100)", within: 60)[0]
            guard pages > 50 else { throw Failure("the set's list has only \(pages) places") }
            let page = try doAndPing(app, "page", nil, count: 200).answers
            report.figures.append(
                Figure("page of 50, app that sees \(count) of \(size)", Samples(page)))
        }
    }

    // MARK: Waiting

    private static let work = [
        (task: "list 1", name: "lists"), ("count", "counts matches of"), ("sort", "searches"),
    ]

    /// Measures one client's fetches while another client makes long requests.
    private mutating func measureWaiting(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        for (task, text) in Self.work {
            let other = try self.app(Role.program)
            _ = try other.ask("ask")
            try other.tell(task)
            var waits: [Int64] = []
            let start = Clock.now()
            while !other.hasLine(), Clock.now() < start + 60_000_000_000 {
                waits += try app.ask("fetch-once 200").dropFirst(2)
            }
            _ = try other.numbers(within: 60)
            let samples = Samples(waits)
            let others = "fetch while another \(text) everything, of \(size)"
            report.figures.append(Figure(others, samples))
            report.figures.append(
                Figure("\(others), the longest", Samples([waits.max() ?? 0])))
        }
    }
}
