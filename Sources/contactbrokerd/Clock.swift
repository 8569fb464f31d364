import Glibc

/// The machine's clocks.
enum Clock {
    /// Microseconds since 1970.
    static func now() -> Int64 { read(CLOCK_REALTIME) }

    /// Microseconds since boot on a clock that nobody can set. The clock runs while the machine sleeps.
    static func uptime() -> Int64 { read(CLOCK_BOOTTIME) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // This call fails only for a clock that does not exist or for a bad pointer.
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
