import Glibc

/// One run: everything in the same minutes, on the same machine, with the same contacts.
struct Benchmark {
    /// How many contacts most is measured with.
    static let contacts = 10_000
    /// How many it is measured with to see whether that matters.
    static let manyContacts = 100_000
    /// How many a search is measured with.
    static let millionContacts = 1_000_000
    static let turns = 10
    /// Seconds. The broker gives back what saves needed after one, and what their threads kept after another five and a half.
    static let untilIdle: UInt32 = 7

    let scratch: Scratch
    /// How many contacts the book has.
    let size: Int
    let processors = Processors()
    var report = Report()

    /// What is measured.
    enum Extent: String {
        case usual = ""
        case full
        /// Contacts that come and change, and nothing else.
        case saves
        /// What is looked for, and nothing else.
        case lookups
        /// What is measured with the larger number of contacts, and nothing else.
        case many
        /// What is looked for in a book of a million.
        case million
        /// How long it takes to identify a caller, and nothing else.
        case callers
        /// Importing the larger number, and nothing else.
        case manyImported = "import"
    }

    /// - Parameter build: the folder in which scratch files and `bench.json` are put.
    static func run(build: String, _ extent: Extent) throws -> Report {
        var report = Report()
        switch extent {
        case .usual, .full: try run(contacts, build, &report) { try $0.measureAll() }
        case .saves: try run(contacts, build, &report) { try $0.measureWriting() }
        case .lookups: try run(contacts, build, &report) { try $0.measureReading() }
        case .many: try run(manyContacts, build, &report) { try $0.measureSize() }
        case .million: try runMillion(build, &report)
        case .callers: try measureCallers(build, &report)
        case .manyImported: try run(manyContacts, build, &report) { try $0.measureImport(bar: 10, aim: 5) }
        }
        if extent == .full { try run(manyContacts, build, &report) { try $0.measureSize() } }
        return report
    }

    private static func measureCallers(_ build: String, _ report: inout Report) throws {
        let scratch = try Scratch(build: build)
        defer { scratch.remove() }
        var benchmark = Benchmark(scratch: scratch, size: 0, report: report)
        try benchmark.measureIdentification()
        try scratch.startBroker()
        try benchmark.measureVisits()
        report = benchmark.report
    }

    /// - Parameter kept: as ``Scratch/init(build:kept:)`` has it.
    static func run(
        _ size: Int, _ build: String, _ report: inout Report, kept: String? = nil,
        _ measure: (inout Benchmark) throws -> Void
    ) throws {
        let scratch = try Scratch(build: build, kept: kept)
        defer { scratch.remove() }
        var benchmark = Benchmark(scratch: scratch, size: size, report: report)
        try scratch.startBroker()
        // Brothers and sisters: an agent that is kin to the app is not asked.
        let person = try ChildProcess(Role.program, [Role.person.rawValue, scratch.agent])
        _ = try person.line()
        try measure(&benchmark)
        report = benchmark.report
        withExtendedLifetime(person) {}
    }

    /// The usual book, and an app that sees and knows all of it.
    private mutating func imported() throws -> ChildProcess {
        try measureImport(bar: 1.0, aim: 0.5)
        let app = try self.app(Role.program)
        _ = try app.ask("ask")
        guard try app.ask("learn") == [Int64(size)] else { throw Failure("not every contact was imported") }
        return app
    }

    private mutating func measureAll() throws {
        let app = try imported()
        try measureMemory("imported, idle", pause: Self.untilIdle)
        try measureFetch(app)
        try measureLimited()
        try measureStorm(app)
        try measureList(app)
        try measureContacts()
        try measureLookups(app)
        try measurePages(app)
        try measureMemory("after all reads")
        try measureSaves(app)
        try measureNotification(app)
        try measurePeak()
        try measureStart(app, bar: 30)
        try measureIdentification()
        try measureVisits()
        try measureCards()
    }

    private mutating func measureWriting() throws {
        let app = try imported()
        let storage = try SQLiteFloor(folder: scratch.state, count: size, rowSize: 600)
        report.figures.append(Figure("SQLite: commit of one row, durable", try storage.commits(durable: true)))
        // The import's log is emptied meanwhile, as it is where somebody saves now and then.
        sleep(Self.untilIdle)
        try measureSaves(app)
        try measureNotification(app)
    }

    private mutating func measureReading() throws {
        let app = try imported()
        sleep(Self.untilIdle)
        try measureFetch(app)
        try measureLookups(app)
        try measurePages(app)
        try measureStart(app, bar: 30)
    }

    /// What must cost the same whatever the size, and what must not cost too much at this one.
    private mutating func measureSize() throws {
        try measureImport(bar: 10, aim: 5)
        let app = try self.app(Role.program)
        _ = try app.ask("ask")
        try measureMemory("imported, idle", pause: Self.untilIdle, bar: 40)
        try measureLookups(app)
        try measurePages(app)
        try measureList(app)
        try measureMemory("after all reads", bar: 56)
        try measurePeak()
        try measureStart(app, bar: nil)
    }

    func app(_ program: String) throws -> ChildProcess {
        try ChildProcess(program, [Role.app.rawValue, scratch.apps])
    }

    enum Placing: String, CaseIterable {
        case oneCore = "one core"
        case twoCores = "two cores"
    }

    /// Where the app and the broker run.
    func place(_ app: ChildProcess, _ placing: Placing?) throws -> (app: CInt, broker: CInt) {
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
    struct Turns {
        var call = 0
        var reply = 0
        var answers: [Int64] = []
        var pings: [Int64] = []
    }

    /// - Parameter task: what the app does, as it is told; a count follows.
    func doAndPing(_ app: ChildProcess, _ task: String, _ placing: Placing?, count: Int) throws -> Turns {
        let cores = try place(app, placing)
        var turns = Turns()
        for _ in 0..<Self.turns {
            let answer = try app.ask("\(task) \(count / Self.turns)").map { Int($0) }
            (turns.call, turns.reply) = (answer[0], answer[1])
            turns.answers += answer.dropFirst(2).map { Int64($0) }
            turns.pings += try app.ask(
                "ping \(count / Self.turns) \(turns.call) \(turns.reply) \(cores.app) \(cores.broker)")
        }
        return turns
    }

    /// The name of a figure, with the size of the book where it is not the usual one.
    func name(_ text: String) -> String { size == Self.contacts ? text : "\(text), of \(size)" }

    static func say(_ text: String) {
        let line = Array("contactbroker-bench: \(text)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }

    func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
