import Glibc

/// The same work done by the peer.
extension Benchmark {
    /// The peer's two ways: over D-Bus, and at its best.
    struct PeerAmounts {
        var overBus: Amount?
        var atBest: Amount?
    }

    /// Starts the peer and has it import the file that we imported.
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

    /// Does something with the peer, if there is one. If that fails, the run goes on without the peer and says so.
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
    ///   - count: how many times at most. The app stops sooner where that takes longer than some seconds.
    mutating func peerAmounts(_ task: String, count: Int, details name: String) -> PeerAmounts {
        let times = withPeer { peer in
            try [peer.overBus, peer.atBest].map { app in
                // Once before, so that everything is loaded.
                _ = try app.ask("\(task) 1", within: 120)
                return Samples(try app.ask("\(task) \(count)", within: 120))
            }
        }
        guard let times else { return PeerAmounts() }
        report.figures.append(Figure("peer: \(name)", times[0]))
        report.figures.append(Figure("peer at its best: \(name)", times[1]))
        return PeerAmounts(overBus: .p50(times[0]), atBest: .p50(times[1]))
    }

    /// A change that the peer's app makes. It writes over D-Bus, whatever way it reads.
    ///
    /// - Parameter task: the line for its app.
    mutating func peerWriting(_ task: String, details name: String) -> Amount? {
        guard let times = withPeer({ Samples(try $0.overBus.ask(task, within: 120)) }) else { return nil }
        report.figures.append(Figure("peer: \(name)", times))
        return .p50(times)
    }

    /// Memory of all of the peer's processes but its apps.
    mutating func peerMemory() -> Amount? { withPeer { .size(try $0.memory()) } }

    /// Several apps of the peer that fetch at once.
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

    /// Measures from a change until another app of the peer sees it.
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

    /// From a call to its answer where only the bus runs, and the app that has connected to nothing yet. Ends the peer.
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
