import Glibc

/// The broker's memory and start time.
extension Benchmark {
    private static let starts = 15
    private static let peerStarts = 5
    /// The bar is for 100,000 contacts. A book with fewer contacts must not need more memory.
    static let idleBar = Bar.atMost(.size(48_000_000))
    static let readBar = Bar.atMost(.size(64_000_000))

    /// Measures the broker's memory. A megabyte is a million bytes.
    ///
    /// - Parameter pause: how many seconds to wait without a call before the measurement, so that the
    ///   broker is idle.
    mutating func measureMemory(_ state: String, pause: UInt32 = 0, bar: Bar? = nil) throws {
        sleep(pause)
        let memory = try Memory(of: scratch.brokerProcess)
        report.comparisons.append(
            Comparison(work: name("memory, \(state)"), ours: .size(memory.resident), peer: peerMemory(), bar: bar))
        if let proportional = memory.proportional {
            report.remarks.append(
                name("Memory, \(state)")
                    + ": \(Amount.size(proportional).text) of ours if a page that several processes share counts in parts."
            )
        }
    }

    mutating func measurePeak() throws {
        report.figures.append(Figure(name("memory, peak"), .size(try Memory(of: scratch.brokerProcess).peak)))
    }

    /// Measures from the start of the broker until a waiting app has its first contact.
    mutating func measureStart(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        let times = try (0..<Self.starts).map { _ in
            scratch.stopBroker()
            let start = Clock.now()
            try scratch.launchBroker()
            return try app.ask("first")[0] - start
        }
        let ours = Samples(times)
        report.figures.append(Figure(name("first answer, nothing running"), ours))
        guard size != Self.millionContacts else { return }
        report.comparisons.append(
            Comparison(
                work: name("first answer, nothing running"), ours: .p50(ours), peer: peerStart(Self.peerStarts),
                bar: usual(.times(4))))
        guard size == Self.contacts else { return }
        report.remarks.append(
            "The first answer is measured from the start of the broker to an app that runs already and tries to connect every "
                + "0.1 ms. The peer's app runs already too, and so does its bus. All files are in the page cache.")
    }
}
