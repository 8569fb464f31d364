import Glibc

/// One run. It measures everything within a few minutes, on one machine, with the same contacts.
struct Benchmark {
    /// The number of contacts in the usual book.
    static let contacts = 10_000
    /// The number of contacts in the larger book, which shows how the figures depend on the size.
    static let manyContacts = 100_000
    /// The number of contacts in the largest book.
    static let millionContacts = 1_000_000
    static let rounds = 10
    /// In seconds. The broker releases the memory of saves after one second, and the memory of their threads
    /// after another 5.5 seconds.
    static let untilIdle: UInt32 = 7

    let scratch: Scratch
    /// The number of contacts in the book.
    let size: Int
    let processors = Processors()
    var report = Report()
    var peer: Peer?
    var storage: StorageFloor?

    /// The part of the benchmark to run.
    enum Extent: String {
        case usual = ""
        /// The usual measurements, and those of the larger book.
        case full
        /// Importing, saving and notifications only.
        case saves
        /// Reads only.
        case lookups
        /// The larger book only.
        case many
        /// Searches in a book of a million contacts.
        case million
        /// The audit only.
        case audit
        /// Identifying callers only.
        case callers
        /// Counting instructions only.
        case instructions
        /// Importing the larger book only.
        case manyImported = "import"
    }

    /// - Parameter build: the build folder of contactbroker. Scratch files are put there.
    static func run(build: String, _ extent: Extent) throws -> Report {
        var report = Report()
        report.conditions.append(
            "\(Processors().allowed.count) processors. Before the run: \(try Noise.measure().text).")
        report.conditions.append(try Latency.measure().text)
        switch extent {
        case .usual, .full: try run(contacts, build, &report) { try $0.measureAll() }
        case .saves: try run(contacts, build, &report) { try $0.measureWriting() }
        case .lookups: try run(contacts, build, &report) { try $0.measureReading() }
        case .many: try run(manyContacts, build, &report) { try $0.measureSize() }
        case .million: try runMillion(build, &report)
        case .callers: try measureCallers(build, &report)
        case .audit: try measureAudit(build, &report)
        case .instructions: try countInstructions(build, &report)
        case .manyImported: try run(manyContacts, build, &report) { try $0.measureImport() }
        }
        if extent == .usual || extent == .full {
            try measureAudit(build, &report)
            try countInstructions(build, &report)
        }
        if extent == .full { try run(manyContacts, build, &report) { try $0.measureSize() } }
        report.conditions.append("After the run: \(try Noise.measure().text).")
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

    /// - Parameter kept: see ``Scratch/init(build:kept:inMemory:)``.
    static func run(
        _ size: Int, _ build: String, _ report: inout Report, kept: String? = nil,
        _ measure: (inout Benchmark) throws -> Void
    ) throws {
        let scratch = try Scratch(build: build, kept: kept)
        defer { scratch.remove() }
        var benchmark = Benchmark(scratch: scratch, size: size, report: report)
        // The peer must end before its folders are removed.
        defer { benchmark.stopPeer() }
        try scratch.startBroker()
        // A child of this process, as the apps are, because the broker does not ask an agent that is an
        // ancestor or descendant of the app.
        let person = try ChildProcess(Role.program, [Role.person.rawValue, scratch.agent])
        _ = try person.line()
        try measure(&benchmark)
        report = benchmark.report
        withExtendedLifetime(person) {}
    }

    /// Imports the usual book. Returns an app that has full access and has read all identifiers.
    private mutating func imported() throws -> ChildProcess {
        try measureStorage()
        try measureImport()
        let app = try self.app(Role.program)
        _ = try app.ask("ask")
        guard try app.ask("learn") == [Int64(size)] else { throw Failure("not every contact was imported") }
        return app
    }

    private mutating func measureAll() throws {
        let app = try imported()
        try measureMemory("idle", pause: Self.untilIdle, bar: Self.idleBar)
        try measureFetch(app)
        try measureRecord(app)
        try measureLimited()
        try measureStorm(app)
        try measureLookups(app)
        try measurePages(app)
        try measureList(app)
        try measureAgent()
        try measureContacts()
        try measureMemory("after all reads", bar: Self.readBar)
        try measureSaves(app)
        try measureNotification(app)
        try measurePeak()
        try measureStart(app)
        try measureIdentification()
        try measureVisits()
        try measureCards()
    }

    private mutating func measureWriting() throws {
        let app = try imported()
        // The broker checkpoints the import's log meanwhile, as it does in a book with few saves.
        sleep(Self.untilIdle)
        try measureSaves(app)
        try measureNotification(app)
    }

    private mutating func measureReading() throws {
        let app = try imported()
        sleep(Self.untilIdle)
        try measureFetch(app)
        try measureRecord(app)
        try measureLookups(app)
        try measurePages(app)
        try measureList(app)
        try measureAgent()
        try measureStart(app)
    }

    /// Measures the figures that must not depend on the size of the book, and those that are bounded at this
    /// size.
    private mutating func measureSize() throws {
        try measureStorage()
        try measureImport()
        let app = try self.app(Role.program)
        _ = try app.ask("ask")
        try measureMemory("idle", pause: Self.untilIdle, bar: Self.idleBar)
        try measureLookups(app)
        try measurePages(app)
        try measureList(app)
        try measureMemory("after all reads", bar: Self.readBar)
        try measurePeak()
        try measureStart(app)
    }

    /// Returns the bar if the book has the usual size; otherwise `nil`.
    func usual(_ bar: Bar) -> Bar? { size == Self.contacts ? bar : nil }

    func app(_ program: String) throws -> ChildProcess {
        try ChildProcess(program, [Role.app.rawValue, scratch.apps])
    }

    enum Placing: String, CaseIterable {
        case oneCore = "one core"
        case twoCores = "two cores"
    }

    /// Pins the app and the broker to processors; `nil` lets both run anywhere. Returns their processors, or
    /// -1 for any.
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

    /// The broker's answers and the floor for one placing. Both are measured alternately, so that other load
    /// on the machine affects both.
    struct Rounds {
        var call = 0
        var reply = 0
        var answers: [Int64] = []
        var pings: [Int64] = []
    }

    /// - Parameter task: the line for the app, without the count that follows.
    func doAndPing(_ app: ChildProcess, _ task: String, _ placing: Placing?, count: Int) throws -> Rounds {
        let cores = try place(app, placing)
        var rounds = Rounds()
        for _ in 0..<Self.rounds {
            let answer = try app.ask("\(task) \(count / Self.rounds)").map { Int($0) }
            (rounds.call, rounds.reply) = (answer[0], answer[1])
            rounds.answers += answer.dropFirst(2).map { Int64($0) }
            rounds.pings += try app.ask(
                "ping \(count / Self.rounds) \(rounds.call) \(rounds.reply) \(cores.app) \(cores.broker)")
        }
        return rounds
    }

    /// Adds a measurement to the details, and the ping-pongs of the same size that were measured alternately
    /// with it.
    mutating func addFigures(_ name: String, _ ours: Samples, floor: Samples) {
        report.figures.append(Figure(name, ours))
        report.figures.append(Figure("\(name): its floor, a ping-pong", floor))
    }

    /// Returns the name of a figure, with the size of the book if it is not the usual one.
    func name(_ text: String) -> String { size == Self.contacts ? text : "\(text), of \(size)" }

    static func say(_ text: String) {
        let line = Array("contactbroker-bench: \(text)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}
