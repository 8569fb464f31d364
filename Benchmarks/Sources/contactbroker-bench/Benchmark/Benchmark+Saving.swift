import Glibc

/// Measures imports, saves and notifications.
extension Benchmark {
    private static let saves = 500
    private static let peerSaves = 200
    private static let notifications = 60

    /// Measures an import: contactbook reads a file of cards and saves the contacts. The peer imports the
    /// same file.
    mutating func measureImport() throws {
        let file = scratch.state + "/cards.vcf"
        try SampleCard.writeFile(file, 0..<size)
        let program = scratch.program("contactbook")
        // The person answers contactbook's prompt here, so that the time of the answer is not measured.
        let asking = try ChildProcess(program, ["list"], readsErrors: true, environment: scratch.environment)
        asking.waitForEnd()
        let start = Clock.now()
        let importing = try ChildProcess(program, ["import", file], environment: scratch.environment)
        let line = try importing.line(within: 300)
        let time = Clock.now() - start
        guard line.filter({ $0 != "," }).hasPrefix("added \(size) ") else { throw Failure("contactbook: \(line)") }
        importing.waitForEnd()
        report.comparisons.append(
            Comparison(
                work: "import of \(size)", ours: .p50(Samples([time])), peer: startPeer(file),
                floor: storage.map { .time($0.insertion) }, bar: .times(1.1)))
    }

    mutating func measureSaves(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        let floor = storage.map { Amount.time($0.commit) }
        let added = Samples(try app.ask("add \(Self.saves)", within: 60))
        // Contacts that are in neither book.
        let file = scratch.state + "/more.vcf"
        try SampleCard.writeFile(file, Self.millionContacts..<Self.millionContacts + Self.peerSaves)
        report.figures.append(Figure("add one, durable", added))
        report.comparisons.append(
            Comparison(
                work: "add one, durable", ours: .p50(added), peer: peerWriting("add \(file)", details: "add one"),
                floor: floor, bar: .times(1.1)))
        let changed = Samples(try app.ask("change \(Self.saves)", within: 60))
        report.figures.append(Figure("change one, durable", changed))
        report.comparisons.append(
            Comparison(
                work: "change one, durable", ours: .p50(changed),
                peer: peerWriting("change \(Self.peerSaves)", details: "change one"), floor: floor, bar: .times(1.5)))
        try measureBin(app, "change one, with the bin", contacts: 1, saves: 125)
        try measureBin(app, "change 500 at once, with the bin", contacts: 500, saves: 5)
    }

    /// Measures saves with the bin and, in turn, without it. With it a save may take 15 % longer.
    private mutating func measureBin(_ app: ChildProcess, _ work: String, contacts: Int, saves: Int) throws {
        var times: [Bool: [Int64]] = [:]
        for round in 0..<8 {
            let keeps = round % 2 == 0
            try scratch.restartBroker(keepingBin: keeps)
            _ = try app.ask("first")
            // The first saves open the book.
            _ = try app.ask("change 5 \(contacts)", within: 60)
            times[keeps, default: []] += try app.ask("change \(saves) \(contacts)", within: 60)
        }
        let (with, without) = (Samples(times[true, default: []]), Samples(times[false, default: []]))
        report.figures.append(Figure(work, with))
        report.figures.append(Figure("the same without the bin", without))
        report.comparisons.append(
            Comparison(
                work: work, ours: .p50(with), peer: nil, floor: .p50(without),
                bar: .atMost(.time(without.p50 * 1.15))))
    }

    // MARK: Notifications

    mutating func measureNotification(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        let pings = Samples(try app.ask("ping-slowly \(Self.notifications) 256 256 -1 -1"))
        report.figures.append(Figure("ping-pong of 256 bytes, after a pause", pings))
        let sqlite = try SQLiteFloor(folder: scratch.state, count: size)
        let commits = try sqlite.commits(durable: true, Self.notifications, pause: App.pause)
        report.figures.append(Figure("SQLite: commit of one row, durable, after a pause", commits))
        let ours = try measureNotified(app, "edit-slowly", "a change")
        _ = try measureNotified(app, "change-slowly", "a change of an unread contact")
        report.comparisons.append(
            Comparison(
                work: "another client sees a change", ours: .p50(ours), peer: peerNotification(Self.notifications),
                floor: .time(pings.p50 + commits.p50), bar: .times(1.2)))
        report.remarks.append(
            "The time until another client sees a change begins with the call, and has the save's sync in it. The changes are "
                + "\(App.pause / 1_000) ms apart, so broker and processor sleep in between, as in the two floors. The app reads the "
                + "contact right before it changes it, which wakes them; so does the peer's.")
    }

    private mutating func measureNotified(_ app: ChildProcess, _ task: String, _ text: String) throws -> Samples {
        // A connection answers one call at a time, and the watching call does not end, so each measurement
        // needs a new watcher.
        let watcher = try self.app(Role.program)
        _ = try watcher.ask("watch \(Self.notifications)")
        let changes = try app.ask("\(task) \(Self.notifications)")
        let told = try watcher.numbers()
        let saved = stride(from: 1, to: changes.count, by: 2).map { changes[$0] }
        let delays = Self.delays(changes: changes, told: told)
        report.figures.append(Figure("\(text), after a pause", Samples(saved)))
        report.figures.append(Figure("another client is told of \(text)", delays))
        return delays
    }

    /// - Parameters:
    ///   - changes: the time at which each change began, followed by its duration.
    ///   - told: the time at which the watcher was notified of each change.
    static func delays(changes: [Int64], told: [Int64]) -> Samples {
        let began = stride(from: 0, to: changes.count, by: 2).map { changes[$0] }
        return Samples(zip(began, told).map { $1 - $0 })
    }
}
