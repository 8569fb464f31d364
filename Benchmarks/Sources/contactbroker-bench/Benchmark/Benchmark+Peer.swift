import Glibc

/// Measures the same work by the peer.
extension Benchmark {
    /// The peer's amounts: over D-Bus, and at its best, where the app reads the book's file itself.
    struct PeerAmounts {
        var overBus: Amount?
        var atBest: Amount?
    }

    /// Starts the peer and has it import the file that contactbook imported.
    ///
    /// - Returns: how long the import took.
    mutating func startPeer(_ file: String) -> Amount? {
        do {
            let started = try Peer(scratch)
            peer = started
            report.conditions.append("The peer is evolution-data-server \(started.version).")
        } catch {
            report.conditions.append("The peer is NOT measured: \(error).")
            return nil
        }
        return withPeer { [size] peer in
            let time = try peer.overBus.ask("import \(file)", within: 300)
            try peer.learn(size)
            return .p50(Samples(time))
        }
    }

    /// Does something with the peer, if there is one. If that fails, the run continues without the peer and
    /// the report says so.
    mutating func withPeer<Value>(_ work: (Peer) throws -> Value) -> Value? {
        guard let peer else { return nil }
        do {
            return try work(peer)
        } catch {
            report.conditions.append("The peer is NOT measured further: \(error).")
            stopPeer()
            return nil
        }
    }

    mutating func stopPeer() {
        peer?.end()
        peer = nil
    }

    /// Has the peer do a task over D-Bus and at its best.
    ///
    /// - Parameters:
    ///   - task: the line for its app, without the count that follows.
    ///   - count: the maximum number of times. The app stops earlier if that takes more than four seconds.
    mutating func peerAmounts(_ task: String, count: Int, details name: String) -> PeerAmounts {
        let times = withPeer { peer in
            try [peer.overBus, peer.atBest].map { app in
                // One run comes before, so that everything is loaded.
                _ = try app.ask("\(task) 1", within: 120)
                return Samples(try app.ask("\(task) \(count)", within: 120))
            }
        }
        guard let times else { return PeerAmounts() }
        report.figures.append(Figure("peer: \(name)", times[0]))
        report.figures.append(Figure("peer at its best: \(name)", times[1]))
        return PeerAmounts(overBus: .p50(times[0]), atBest: .p50(times[1]))
    }

    /// Measures a change that the peer's app makes. The peer always writes over D-Bus.
    ///
    /// - Parameter task: the line for its app.
    mutating func peerWriting(_ task: String, details name: String) -> Amount? {
        guard let times = withPeer({ Samples(try $0.overBus.ask(task, within: 120)) }) else { return nil }
        report.figures.append(Figure("peer: \(name)", times))
        return .p50(times)
    }

    /// Returns the memory of the peer's processes without its apps.
    mutating func peerMemory() -> Amount? { withPeer { .size(try $0.memory()) } }

    /// Measures several apps of the peer that fetch at the same time.
    mutating func peerStorm(_ way: String, clients: Int, milliseconds: Int) -> Amount? {
        withPeer { peer in
            let apps = try (0..<clients).map { _ in try peer.client() }
            for app in apps {
                _ = try app.ask("open \(way)", within: 60)
                _ = try app.ask("learn", within: 120)
            }
            return .perSecond(try Self.storm(apps, milliseconds: milliseconds))
        }
    }

    /// Measures the time from a change until another app of the peer sees it.
    mutating func peerNotification(_ count: Int) -> Amount? {
        let times = withPeer { peer in
            let watcher = try peer.client()
            _ = try watcher.ask("open dbus", within: 60)
            _ = try watcher.ask("watch \(count)", within: 60)
            return Self.delays(
                changes: try peer.overBus.ask("change-slowly \(count)", within: 60),
                told: try watcher.numbers(within: 60))
        }
        guard let times else { return nil }
        report.figures.append(Figure("peer: another client is told of a change", times))
        return .p50(times)
    }

    /// Measures the time from a call to its answer. Before the call only the bus and the app run, and the app
    /// has no connection. Ends the peer.
    mutating func peerStart(_ count: Int) -> Amount? {
        let times = withPeer { peer in
            try peer.overBus.tell("name")
            let identifier = try peer.overBus.line()
            peer.overBus.end()
            peer.atBest.end()
            return Samples(
                try (0..<count).map { _ in
                    try peer.stopServices()
                    let app = try peer.client()
                    _ = try app.ask("ready")
                    return try app.ask("first \(identifier)", within: 60)[0]
                })
        }
        stopPeer()
        guard let times else { return nil }
        report.figures.append(Figure("peer: first answer, nothing running", times))
        return .p50(times)
    }
}
