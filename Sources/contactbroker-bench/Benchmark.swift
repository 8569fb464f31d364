import Glibc

/// One run: everything in the same minute, on the same machine, with the same contacts.
struct Benchmark {
    private static let contacts = 10_000
    private static let fetches = 8_000
    private static let turns = 10
    private static let clients = 8
    private static let stormMilliseconds = 3_000

    private let scratch: Scratch
    private let processors = Processors()
    private var report = Report()

    private init(scratch: Scratch) { self.scratch = scratch }

    /// - Parameter build: the folder in which scratch files and `bench.json` are put.
    static func run(broker: String, build: String) throws -> Report {
        let scratch = try Scratch(build: build)
        defer { scratch.remove() }
        var benchmark = Benchmark(scratch: scratch)
        try scratch.startBroker(broker)
        try benchmark.measure()
        return benchmark.report
    }

    private mutating func measure() throws {
        // Brothers and sisters: an agent that is kin to the app is not asked.
        let person = try ChildProcess(Role.program, [Role.person.rawValue, scratch.agent])
        _ = try person.line()
        let app = try self.app(Role.program)
        _ = try app.ask("ask")
        let time = try app.ask("import \(Self.contacts)", within: 60)
        guard try app.ask("learn") == [Int64(Self.contacts)] else { throw Failure("not every contact was imported") }

        try measureFetch(app)
        try measureLimited()
        try measureStorm(app)
        try measureList(app)
        let add = Samples(try app.ask("add 500"))
        report.figures.append(Figure("add one, durable", add, .milliseconds, bar: 0.7))
        report.figures.append(Figure("import of all, 500 a call", Samples(time), .milliseconds))
        withExtendedLifetime(person) {}
    }

    private func app(_ program: String) throws -> ChildProcess {
        try ChildProcess(program, [Role.app.rawValue, scratch.apps])
    }

    private enum Placing: String, CaseIterable {
        case oneCore = "one core"
        case twoCores = "two cores"
    }

    /// Where the app and the broker run.
    private func place(_ app: ChildProcess, _ placing: Placing?) throws -> (app: CInt, broker: CInt) {
        switch placing {
        case nil:
            try Processors.pin(process: scratch.brokerProcess, to: processors.allowed)
            _ = try app.ask("pin " + processors.allowed.map(String.init).joined(separator: " "))
            return (-1, -1)
        case .oneCore, .twoCores:
            let other = placing == .oneCore ? processors.first : processors.second
            try Processors.pin(process: scratch.brokerProcess, to: [processors.first])
            _ = try app.ask("pin \(other)")
            return (other, processors.first)
        }
    }

    /// What one way of placing both ends gave: the broker's answers and the floor, turn by turn, so that what else
    /// the machine does in that second hits both.
    private struct Turns {
        var call = 0
        var reply = 0
        var fetches: [Int64] = []
        var pings: [Int64] = []
    }

    private func fetchAndPing(_ app: ChildProcess, _ placing: Placing?, fetches: Int) throws -> Turns {
        let cores = try place(app, placing)
        var turns = Turns()
        for _ in 0..<Self.turns {
            let answer = try app.ask("fetch \(fetches / Self.turns)").map { Int($0) }
            (turns.call, turns.reply) = (answer[0], answer[1])
            turns.fetches += answer.dropFirst(2).map { Int64($0) }
            turns.pings += try app.ask(
                "ping \(fetches / Self.turns) \(turns.call) \(turns.reply) \(cores.app) \(cores.broker)")
        }
        return turns
    }

    private mutating func measureFetch(_ app: ChildProcess) throws {
        var figures: [Figure] = []
        var floors: [Double] = []
        for placing in Placing.allCases {
            let turns = try fetchAndPing(app, placing, fetches: Self.fetches)
            let floor = Samples(turns.pings)
            floors.append(floor.p50)
            report.figures.append(Figure("ping-pong of the same bytes, \(placing.rawValue)", floor))
            figures.append(
                Figure(
                    "fetch by identifier, \(placing.rawValue)", Samples(turns.fetches), bar: floor.p50 + Self.allowance)
            )
        }
        let anywhere = try fetchAndPing(app, nil, fetches: Self.fetches)
        let floor = Samples(anywhere.pings)
        report.figures.append(Figure("ping-pong of the same bytes, anywhere", floor))
        figures.append(Figure("fetch by identifier, anywhere", Samples(anywhere.fetches)))
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
        let storage = try SQLiteFloor(folder: scratch.state, count: Self.contacts, rowSize: rowSize)
        report.figures.append(Figure("SQLite: row by key", try storage.rowByKey()))
        report.figures.append(Figure("SQLite: every row", try storage.everyRow(), .milliseconds))
        report.figures.append(Figure("SQLite: commit of one row, not synced", try storage.commits(durable: false)))
        report.figures.append(Figure("SQLite: commit of one row, durable", try storage.commits(durable: true)))
    }

    private mutating func measureLimited() throws {
        let app = try self.app(scratch.copyProgram(as: Person.limitedApp))
        _ = try app.ask("ask")
        guard try app.ask("learn") == [Int64(Person.chosen)] else { throw Failure("the limited app sees another set") }
        for placing in Placing.allCases {
            let turns = try fetchAndPing(app, placing, fetches: Person.chosen)
            report.figures.append(
                Figure(
                    "the same for a limited app, \(placing.rawValue)", Samples(turns.fetches),
                    bar: Samples(turns.pings).p50 + Self.allowance))
        }
    }

    private mutating func measureStorm(_ app: ChildProcess) throws {
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

    private mutating func measureList(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        _ = try app.ask("list 3")
        let answer = try app.ask("list 30")
        report.figures.append(
            Figure("list of all \(Self.contacts)", Samples(Array(answer.dropFirst())), .milliseconds, bar: 25, aim: 15))
        report.remarks.append("The list is \(answer[0] / 1_024) KiB, every key but images.")
    }

    private func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
