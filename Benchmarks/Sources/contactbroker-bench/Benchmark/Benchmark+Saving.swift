import Glibc

/// Contacts that come and change, and what the broker itself takes.
extension Benchmark {
    private static let saves = 500
    private static let notifications = 60
    private static let starts = 15

    /// The person imports a file of cards: contactbook reads it and saves what is in it.
    mutating func measureImport(bar: Double, aim: Double) throws {
        let file = scratch.state + "/cards.vcf"
        try SampleCard.writeFile(file, count: size)
        let program = scratch.program("contactbook")
        // The person has been asked before, so that nobody's answer is measured.
        let asking = try ChildProcess(program, ["list"], readsErrors: true, environment: scratch.environment)
        asking.waitForEnd()
        let start = Clock.now()
        let importing = try ChildProcess(program, ["import", file], environment: scratch.environment)
        let line = try importing.line(within: 300)
        let time = Clock.now() - start
        guard line.hasPrefix("added \(size) ") else { throw Failure("contactbook: \(line)") }
        importing.waitForEnd()
        report.figures.append(
            Figure("import of \(size) cards by contactbook", Samples([time]), .seconds, bar: bar, aim: aim))
    }

    mutating func measureSaves(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        for (task, text) in [("add", "add one, durable"), ("change", "change one, durable")] {
            let times = try app.ask("\(task) \(Self.saves)")
            report.figures.append(Figure(text, Samples(times), .milliseconds, bar: 0.7))
        }
    }

    mutating func measureNotification(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        let pings = try app.ask("ping-slowly \(Self.notifications) 256 256 -1 -1")
        report.figures.append(Figure("ping-pong of 256 bytes, after a pause", Samples(pings)))
        let storage = try SQLiteFloor(folder: scratch.state, count: size, rowSize: 600)
        report.figures.append(
            Figure(
                "SQLite: commit of one row, durable, after a pause",
                try storage.commits(durable: true, Self.notifications, pause: App.pause)))
        try measureTold(app, "edit-slowly", "a change of what was read", bar: 1)
        try measureTold(app, "change-slowly", "a change unread")
        report.remarks.append(
            "Who watches is told once in 50 ms at most, so these changes come further apart, and find the broker and the processor "
                + "asleep, as the two floors do; the time is from the call on, the save's sync included. What an app changes it "
                + "has read right before, as the peer's is measured; unread, the broker wakes within the time.")
    }

    private mutating func measureTold(
        _ app: ChildProcess, _ task: String, _ text: String, bar: Double? = nil
    ) throws {
        // One call of a connection's is answered at a time, and this one goes on: each time another watcher.
        let watcher = try self.app(Role.program)
        _ = try watcher.ask("watch \(Self.notifications)")
        let changes = try app.ask("\(task) \(Self.notifications)")
        let told = try watcher.numbers()
        let sent = stride(from: 0, to: changes.count, by: 2).map { changes[$0] }
        let saved = stride(from: 1, to: changes.count, by: 2).map { changes[$0] }
        report.figures.append(Figure("\(text), after a pause", Samples(saved), .milliseconds))
        report.figures.append(
            Figure(
                "another client is told of \(text)", Samples(zip(sent, told).map { $1 - $0 }), .milliseconds, bar: bar))
    }

    // MARK: The broker itself

    /// Megabytes are of a million bytes.
    ///
    /// - Parameter pause: seconds without a call, after which the broker is idle.
    mutating func measureMemory(_ state: String, pause: UInt32 = 0, bar: Double? = nil) throws {
        sleep(pause)
        let memory = try Memory(of: scratch.brokerProcess)
        report.figures.append(Figure(name("memory, \(state)"), bytes: memory.resident, bar: bar))
        if let proportional = memory.proportional {
            report.remarks.append(
                name("Memory, \(state)")
                    + ": \(rounded(Double(proportional) / 1_000_000)) MB where pages that are shared "
                    + "count by their share.")
        }
    }

    mutating func measurePeak() throws {
        report.figures.append(Figure(name("memory, peak"), bytes: try Memory(of: scratch.brokerProcess).peak))
    }

    /// From starting the broker to its first contact at an app that waits for it.
    mutating func measureStart(_ app: ChildProcess, bar: Double?) throws {
        _ = try place(app, nil)
        let times = try (0..<Self.starts).map { _ in
            scratch.stopBroker()
            let start = Clock.now()
            try scratch.launchBroker()
            return try app.ask("first")[0] - start
        }
        report.figures.append(Figure(name("first answer, nothing running"), Samples(times), .milliseconds, bar: bar))
        guard size == Self.contacts else { return }
        report.remarks.append(
            "The first answer is from starting the broker, its files being in the page cache, to an app that tries to "
                + "connect every 0.1 ms; a socket that systemd holds is not measured yet.")
    }
}
