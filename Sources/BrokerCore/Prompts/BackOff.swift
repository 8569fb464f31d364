import BrokerAccessControl

/// How long each app of one user must wait before its next prompt. It has no clock: every time is an argument, in
/// microseconds.
///
/// The first prompt that granted nothing causes no wait. Then the wait doubles with each one, and an approval resets it.
struct BackOff {
    private struct Entry {
        var failures = 0
        var until: Int64 = 0
        /// The caller that was counted last, for the administrator.
        var strength: IdentityStrength
        var app: String
    }

    private let limits: Limits
    private var entries: [AppKey: Entry] = [:]

    init(limits: Limits) { self.limits = limits }

    /// Seconds, rounded up, that the app must still wait; `nil` if it need not wait.
    func remaining(_ key: AppKey, now: Int64) -> Int? {
        entries[key].flatMap { BackOff.seconds(until: $0.until, now: now) }
    }

    /// The same for an app that may not be running: the longest wait that callers with this identity caused.
    func remaining(_ strength: IdentityStrength, _ app: String, now: Int64) -> Int? {
        let ends = entries.values.lazy.filter { $0.strength == strength && $0.app == app }.map(\.until)
        return ends.max().flatMap { BackOff.seconds(until: $0, now: now) }
    }

    static func seconds(until end: Int64, now: Int64) -> Int? {
        end > now ? Int((end - now + 999_999) / 1_000_000) : nil
    }

    /// Counts a prompt that granted nothing, for whatever reason.
    ///
    /// - Parameter denied: whether the person denied the app before. If so, the app has an entry of its own,
    ///   so that its long wait does not affect other weakly identified apps.
    mutating func grantedNothing(_ caller: Caller, denied: Bool, now: Int64) {
        let key = AppKey(caller)
        if entries.count >= limits.backOffs, entries[key] == nil,
            // The new entry replaces the one that ends first. To displace entries, an app would need many
            // names, each with its own wait.
            let first = entries.min(by: { $0.value.until < $1.value.until })
        {
            entries[first.key] = nil
        }
        var entry = entries[key] ?? Entry(strength: caller.strength, app: caller.app)
        (entry.strength, entry.app) = (caller.strength, caller.app)
        entry.failures += 1
        entry.until = now + wait(after: entry.failures, denied: denied).microseconds
        entries[key] = entry
    }

    /// The wait after this many prompts in a row that granted nothing.
    func wait(after failures: Int, denied: Bool) -> Duration {
        guard failures > 1 else { return .zero }
        // With 2^20 steps the longest wait is reached whatever the first step is.
        return min(
            limits.backOff * (1 << min(failures - 2, 20)),
            denied ? limits.longestBackOffWhenDenied : limits.longestBackOff)
    }

    mutating func approved(_ caller: Caller) { entries[AppKey(caller)] = nil }

    /// Resets the back-off of some apps.
    ///
    /// - Parameters:
    ///   - isMeant: whether to reset the app with this strength and identifier.
    ///   - weak: whether to reset the shared entry of weakly identified apps too.
    /// - Returns: the apps whose own entries were removed.
    mutating func drop(
        where isMeant: (IdentityStrength, String) -> Bool, keys: Set<AppKey>
    ) -> [(strength: IdentityStrength, app: String)] {
        let found = entries.filter { keys.contains($0.key) || isMeant($0.value.strength, $0.value.app) }
        for key in found.keys { entries[key] = nil }
        return found.values.map { ($0.strength, $0.app) }
    }

    /// The number of entries, at most ``Limits/backOffs``.
    var count: Int { entries.count }
}

extension Duration {
    var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
