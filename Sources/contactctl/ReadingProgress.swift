import BrokerCommandOutput

/// The line at a terminal that shows how much of the audit the broker has read, if that takes long.
struct ReadingProgress {
    private let began = ContinuousClock.now
    private var isShown = false
    /// Shorter work needs no progress.
    private static let after = Duration.milliseconds(900)

    mutating func show(_ percent: Int64?) {
        guard let percent, ContinuousClock.now - began >= Self.after else { return }
        isShown = true
        Speech.progress("reading the audit: \(percent) %")
    }

    mutating func hide() {
        if isShown { Speech.endProgress() }
        isShown = false
    }
}
