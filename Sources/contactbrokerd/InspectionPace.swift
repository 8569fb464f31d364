import BrokerPeerIdentity

/// Limits how often inspections of one ``InspectionPlace/Lane`` begin: a number of them at once, and then the
/// same number in each second. A program that connects again and again, on purpose or because it is broken, then
/// does not keep a processor busy that other users need.
struct InspectionPace {
    private let interval: Duration
    /// For each lane, when all inspections that have ended would have ended if they were spread evenly.
    private var dues: [InspectionPlace.Lane: ContinuousClock.Instant] = [:]

    init(perSecond most: Int) { interval = .seconds(1) / most }

    /// Counts an inspection that has ended.
    ///
    /// - Returns: for how long the lane must not begin another in its place. Not positive if it may at once.
    mutating func wait(after lane: InspectionPlace.Lane, now: ContinuousClock.Instant) -> Duration {
        // Look-ups of names are quick, and those of strangers must not delay a person who is not known yet.
        guard lane != .newcomers else { return .zero }
        dues = dues.filter { $0.value > now }
        let due = (dues[lane] ?? now) + interval
        dues[lane] = due
        return due - now - .seconds(1)
    }
}
