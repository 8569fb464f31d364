import Glibc

/// One run: everything in the same minutes, on the same machine, with the same contacts.
struct Benchmark {
    /// Contacts in the usual book.
    static let contacts = 10_000
    /// Contacts in the book that shows what depends on the size.
    static let manyContacts = 100_000
    /// Contacts in the largest book that is searched.
    static let millionContacts = 1_000_000
    static let rounds = 10
    /// Seconds. The broker frees what saves needed after one second, and what their threads kept after another five and a half.
    static let untilIdle: UInt32 = 7

    let scratch: Scratch
    /// Contacts in the book.
    let size: Int
    let processors = Processors()
    var report = Report()
    var peer: Peer?
    var storage: StorageFloor?

    /// What is measured.
    enum Extent: String {
        case usual = ""
        /// The usual, and the larger book.
        case full
        /// Importing, saving and notifications only.
        case saves
        /// Reads only.
        case lookups
        /// The larger book only.
        case many
        /// Searches in a book of a million.
        case million
        /// Identifying callers only.
        case callers
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
        case .manyImported: try run(manyContacts, build, &report) { try $0.measureImport() }
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

    /// - Parameter kept: as ``Scratch/init(build:kept:)`` has it.
    static func run(
        _ size: Int, _ build: String, _ report: inout Report, kept: String? = nil,
        _ measure: (inout Benchmark) throws -> Void
    ) throws {
        let scratch = try Scratch(build: build, kept: kept)
        defer { scratch.remove() }
        var benchmark = Benchmark(scratch: scratch, size: size, report: report)
        // Before its folders are removed.
        defer { benchmark.stopPeer() }
        try scratch.startBroker()
        // A child of ours as the apps are, and not of theirs: the broker asks no agent that is kin to the app.
        let person = try ChildProcess(Role.program, [Role.person.rawValue, scratch.agent])
        _ = try person.line()
        try measure(&benchmark)
        report = benchmark.report
        withExtendedLifetime(person) {}
    }

    /// The usual book, and an app that sees and knows all of it.
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
        try measureLimited()
        try measureStorm(app)
        try measureLookups(app)
        try measurePages(app)
        try measureList(app)
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
        // The broker empties the import's log meanwhile, as it does in a book that is saved to now and then.
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
        try measureList(app)
        try measureStart(app)
    }

    /// What must not depend on the size, and what must not take too much at this one.
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

    /// A bar that is set for the usual book only.
    func usual(_ bar: Bar) -> Bar? { size == Self.contacts ? bar : nil }

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

    /// The broker's answers and the floor for one way of placing both ends. Both are measured turn by turn, so that what
    /// else the machine does in that second affects both.
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

    /// Adds what was measured to the details, and the ping-pongs of the same bytes that were measured in turn with it.
    mutating func addFigures(_ name: String, _ ours: Samples, floor: Samples) {
        report.figures.append(Figure(name, ours))
        report.figures.append(Figure("\(name): its floor, a ping-pong", floor))
    }

    /// The name of a figure, with the size of the book if it is not the usual one.
    func name(_ text: String) -> String { size == Self.contacts ? text : "\(text), of \(size)" }

    static func say(_ text: String) {
        let line = Array("contactbroker-bench: \(text)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}
