import BrokerAccessControl
import BrokerBounds

/// Tracks how long each app of one user must wait before its next prompt. This type has no clock: every time
/// is an argument, in microseconds.
///
/// The first prompt that grants nothing causes no wait. The second one in a row causes a wait, and each
/// further one doubles the wait. An approval resets it.
package struct BackOff {
    private struct Entry {
        var failures = 0
        var until: Int64 = 0
        /// The identity of the caller that was counted last. Administrators use it to name the app.
        var strength: IdentityStrength
        var app: String
    }

    private let limits: Limits
    private var entries: [AppKey: Entry] = [:]

    init(limits: Limits) { self.limits = limits }

    /// Returns the seconds, rounded up, that the app must still wait; `nil` if it does not have to wait.
    func remaining(_ key: AppKey, now: Int64) -> Int? {
        entries[key].flatMap { BackOff.seconds(until: $0.until, now: now) }
    }

    /// Returns the same for an app given by its strength and identifier, which may not be running. If the
    /// app was counted last in several entries, the longest wait applies.
    func remaining(_ strength: IdentityStrength, _ app: String, now: Int64) -> Int? {
        let ends = entries.values.lazy.filter { $0.strength == strength && $0.app == app }.map(\.until)
        return ends.max().flatMap { BackOff.seconds(until: $0, now: now) }
    }

    static func seconds(until end: Int64, now: Int64) -> Int? {
        end > now ? Int((end - now + 999_999) / 1_000_000) : nil
    }

    /// Counts a prompt that granted nothing.
    ///
    /// - Parameter denied: whether the person denied the app before. If so, the wait can grow up to
    ///   ``Limits/longestBackOffWhenDenied``.
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

    /// Returns the wait after this many prompts in a row that granted nothing.
    func wait(after failures: Int, denied: Bool) -> Duration {
        DoublingWait.after(
            failures - 1, first: limits.backOff,
            longest: denied ? limits.longestBackOffWhenDenied : limits.longestBackOff)
    }

    mutating func approved(_ caller: Caller) { entries[AppKey(caller)] = nil }

    /// Resets the back-off of some apps.
    ///
    /// - Parameters:
    ///   - isMeant: whether to reset the app with this strength and identifier.
    ///   - keys: further apps to reset.
    /// - Returns: the apps whose entries were removed.
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
