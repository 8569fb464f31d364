import CBrokerLinux

/// A time on the monotonic clock, which no program can set, in nanoseconds.
struct Uptime: Comparable {
    let nanoseconds: Int64

    var microseconds: Int64 { nanoseconds / 1_000 }

    static let beginning = Uptime(nanoseconds: 0)

    static func now() -> Uptime { Uptime(nanoseconds: clinux_uptime()) }

    static func < (left: Uptime, right: Uptime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns the nanoseconds from `right` to `left`.
    static func - (left: Uptime, right: Uptime) -> Int64 { left.nanoseconds - right.nanoseconds }

    /// Adds a delay. A negative delay counts as zero, and a delay of more than a century as a century.
    static func + (moment: Uptime, delay: Duration) -> Uptime {
        Uptime(nanoseconds: moment.nanoseconds + delay.boundedNanoseconds)
    }
}

extension Duration {
    fileprivate var boundedNanoseconds: Int64 {
        let century: Int64 = 100 * 366 * 86_400
        let (seconds, attoseconds) = components
        guard seconds < century else { return century * 1_000_000_000 }
        return max(0, max(-1, seconds) * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
