/// A sliding window: at most so many events within any period. It has no clock; times are microseconds.
public struct SlidingWindow: Hashable, Sendable {
    /// The times of the events in the period.
    private var times: [Int64] = []

    public init() {}

    /// Counts an event, unless there were already `most` within the period.
    ///
    /// - Returns: `nil` if it was counted, or else how long it must wait.
    public mutating func take(_ most: Int, within period: Duration, now: Int64) -> Duration? {
        let period = period.microseconds
        times.removeAll { now - $0 >= period }
        if times.count >= most, let first = times.first { return .microseconds(first + period - now) }
        times.append(now)
        return nil
    }
}

/// A wait that doubles each time, up to a bound.
public enum DoublingWait {
    /// Returns the wait after so many events in a row: none after 0, the first wait after 1.
    public static func after(_ count: Int, first: Duration, longest: Duration) -> Duration {
        // The bound on the exponent prevents an overflow. A wait that doubled 20 times is a million times the first one.
        count < 1 ? .zero : min(first * (1 << min(count - 1, 20)), longest)
    }
}
