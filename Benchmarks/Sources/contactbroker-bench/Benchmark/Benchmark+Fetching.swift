/// Contacts by identifier, and all of them.
extension Benchmark {
    private static let fetches = 8_000
    private static let clients = 8
    private static let stormMilliseconds = 3_000

    mutating func measureFetch(_ app: ChildProcess) throws {
        var figures: [Figure] = []
        var floors: [Double] = []
        for placing in Placing.allCases {
            let turns = try doAndPing(app, "fetch", placing, count: Self.fetches)
            let floor = Samples(turns.pings)
            floors.append(floor.p50)
            report.figures.append(Figure("ping-pong of the same bytes, \(placing.rawValue)", floor))
            figures.append(
                Figure(
                    "fetch by identifier, \(placing.rawValue)", Samples(turns.answers), bar: floor.p50 + Self.allowance)
            )
        }
        let anywhere = try doAndPing(app, "fetch", nil, count: Self.fetches)
        let floor = Samples(anywhere.pings)
        report.figures.append(Figure("ping-pong of the same bytes, anywhere", floor))
        figures.append(Figure("fetch by identifier, anywhere", Samples(anywhere.answers)))
        let likeOneCore = floor.p50 < (floors[0] * floors[1]).squareRoot()
        report.remarks.append(
            "Unpinned, the socket was in its \(likeOneCore ? "one-core" : "two-core") mode: p50 \(rounded(floor.p50)) µs; "
                + "\(rounded(floors[0])) µs pinned to one core, \(rounded(floors[1])) µs to two.")
        report.remarks.append(
            "A fetch is \(anywhere.call) bytes there and \(anywhere.reply) back (median); its audit record is included."
        )
        try measureStorage(rowSize: anywhere.reply)
        report.figures += figures
    }

    /// What a fetch may take over a ping-pong of the same bytes, in microseconds.
    private static let allowance = 35.0

    private mutating func measureStorage(rowSize: Int) throws {
        let storage = try SQLiteFloor(folder: scratch.state, count: size, rowSize: rowSize)
        report.figures.append(Figure("SQLite: row by key", try storage.rowByKey()))
        report.figures.append(Figure("SQLite: every row", try storage.everyRow(), .milliseconds))
        report.figures.append(Figure("SQLite: commit of one row, not synced", try storage.commits(durable: false)))
        report.figures.append(Figure("SQLite: commit of one row, durable", try storage.commits(durable: true)))
    }

    mutating func measureLimited() throws {
        let app = try self.app(scratch.copyProgram(as: Person.limitedApp))
        _ = try app.ask("ask")
        guard try app.ask("learn") == [Int64(Person.chosen)] else { throw Failure("the limited app sees another set") }
        for placing in Placing.allCases {
            let turns = try doAndPing(app, "fetch", placing, count: Person.chosen)
            report.figures.append(
                Figure(
                    "the same for a limited app, \(placing.rawValue)", Samples(turns.answers),
                    bar: Samples(turns.pings).p50 + Self.allowance))
        }
    }

    mutating func measureStorm(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        let apps = try (0..<Self.clients).map { _ in try self.app(Role.program) }
        for app in apps { _ = try app.ask("learn") }
        for (seed, app) in apps.enumerated() { try app.tell("storm \(Self.stormMilliseconds) \(seed)") }
        for app in apps { _ = try app.line() }
        for app in apps { try app.tell("go") }
        var rate = 0.0
        for app in apps {
            let answer = try app.numbers()
            rate += Double(answer[0]) / (Double(answer[1]) / 1_000_000_000)
        }
        report.figures.append(
            Figure("fetch by identifier, \(Self.clients) clients", perSecond: rate, bar: 40_000, aim: 70_000))
        report.remarks.append(
            "After the \(Self.clients) clients the audit's write-ahead log had \(scratch.auditLogSize / 1_024) KiB.")
    }

    /// The bar is for the usual number of contacts.
    mutating func measureList(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        let isUsual = size == Self.contacts
        _ = try app.ask("list \(isUsual ? 3 : 1)")
        let answer = try app.ask("list \(isUsual ? 30 : 5)")
        report.figures.append(
            Figure(
                "list of all \(size)", Samples(Array(answer.dropFirst())), .milliseconds, bar: isUsual ? 25 : nil,
                aim: isUsual ? 15 : nil))
        guard isUsual else { return }
        report.remarks.append("The list is \(answer[0] / 1_024) KiB, every key but images.")
    }
}
