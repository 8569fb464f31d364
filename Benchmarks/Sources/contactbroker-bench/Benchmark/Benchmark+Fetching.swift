/// Measures fetches by identifier, and of all contacts.
extension Benchmark {
    private static let fetches = 8_000
    private static let clients = 8
    private static let stormMilliseconds = 3_000

    mutating func measureFetch(_ app: ChildProcess) throws {
        let work = "one contact by identifier"
        for placing in Placing.allCases {
            let rounds = try doAndPing(app, "fetch", placing, count: Self.fetches)
            let (ours, floor) = (Samples(rounds.answers), Samples(rounds.pings))
            addFigures("\(work), \(placing.rawValue)", ours, floor: floor)
            guard placing == .twoCores else { continue }
            let peer = peerAmounts("fetch", count: Self.fetches / 4, details: work)
            report.comparisons.append(
                Comparison(
                    work: name("\(work), two cores"), ours: .p50(ours), peer: peer.overBus, peerAtBest: peer.atBest,
                    floor: storage.map { .time(floor.p50 + $0.rowByKey) }, bar: usual(.times(8, aheadOfBest: true))))
        }
        let anywhere = try doAndPing(app, "fetch", nil, count: Self.fetches)
        addFigures("\(work), not pinned", Samples(anywhere.answers), floor: Samples(anywhere.pings))
        report.remarks.append(
            "A fetch is \(anywhere.call) bytes there and \(anywhere.reply) back (median), with its audit record.")
    }

    mutating func measureLimited() throws {
        let app = try self.app(scratch.copyProgram(as: Person.limitedApp))
        _ = try app.ask("ask")
        guard try app.ask("learn") == [Int64(Person.chosen)] else { throw Failure("the limited app sees another set") }
        for placing in Placing.allCases {
            let rounds = try doAndPing(app, "fetch", placing, count: Person.chosen)
            report.figures.append(
                Figure("the same by a limited app, \(placing.rawValue)", Samples(rounds.answers)))
        }
    }

    mutating func measureStorm(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        let apps = try (0..<Self.clients).map { _ in try self.app(Role.program) }
        for app in apps { _ = try app.ask("learn") }
        let rate = try Self.storm(apps, milliseconds: Self.stormMilliseconds)
        report.remarks.append(
            "After the \(Self.clients) clients the audit's write-ahead log had \(scratch.auditLogSize / 1_024) KiB.")
        let (clients, time) = (Self.clients, Self.stormMilliseconds)
        report.comparisons.append(
            Comparison(
                work: name("the same, \(clients) clients"), ours: .perSecond(rate),
                peer: peerStorm("dbus", clients: clients, milliseconds: time),
                peerAtBest: peerStorm("direct", clients: clients, milliseconds: time), bar: usual(.times(6))))
    }

    /// Makes all apps fetch at the same time.
    ///
    /// - Returns: the fetches per second of all apps together.
    static func storm(_ apps: [ChildProcess], milliseconds: Int) throws -> Double {
        for (seed, app) in apps.enumerated() { try app.tell("storm \(milliseconds) \(seed)") }
        // Each app prints a line when it is ready, and then waits for a line.
        for app in apps { _ = try app.line() }
        for app in apps { try app.tell("go") }
        return try apps.map { app in
            let answer = try app.numbers()
            return Double(answer[0]) / (Double(answer[1]) / 1_000_000_000)
        }.reduce(0, +)
    }

    mutating func measureList(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        let isUsual = size == Self.contacts
        _ = try app.ask("list \(isUsual ? 3 : 1)")
        let answer = try app.ask("list \(isUsual ? 30 : 5)", within: 60)
        let ours = Samples(Array(answer.dropFirst()))
        report.figures.append(Figure(name("all contacts"), ours))
        let peer = peerAmounts("list", count: 20, details: name("all contacts"))
        report.comparisons.append(
            Comparison(
                work: name("all contacts, all keys but images"), ours: .p50(ours), peer: peer.overBus,
                peerAtBest: peer.atBest, floor: storage.map { .time($0.everyRow) },
                bar: usual(.times(6, aheadOfBest: true))))
        guard isUsual else { return }
        report.remarks.append("The list of all contacts is \(answer[0] / 1_024) KiB.")
    }
}
