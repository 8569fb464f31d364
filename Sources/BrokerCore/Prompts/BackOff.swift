import BrokerAccessControl

/// How long an app must wait before its next prompt.
///
/// The wait doubles with each prompt that granted nothing, and an approval resets it.
struct BackOff {
    /// Any program of the user can take the name of a weakly identified caller, so these callers share one
    /// entry. A program therefore gains nothing from using many names.
    enum Key: Hashable {
        case app(IdentityStrength, String)
        case weak

        init(_ caller: Caller) { self.init(caller.strength, caller.app) }

        init(_ strength: IdentityStrength, _ app: String) {
            self = strength.namesNobody ? .weak : .app(strength, app)
        }

        static func own(_ caller: Caller) -> Key { .app(caller.strength, caller.app) }
    }

    private struct Entry {
        var failures: Int
        var until: Int64
    }

    private let limits: Limits
    /// Entries are grouped by user, so that one user's apps never displace the entries of another user's
    /// apps.
    private var entries: [UInt32: [Key: Entry]] = [:]

    init(limits: Limits) {
        self.limits = limits
    }

    /// The seconds, rounded up, that the app must still wait; `nil` if it need not wait.
    func remaining(_ uid: UInt32, _ strength: IdentityStrength, _ app: String, now: Int64) -> Int? {
        guard let entries = entries[uid] else { return nil }
        // A weakly identified app that was denied has an entry of its own as well.
        let until = max(entries[Key(strength, app)]?.until ?? 0, entries[.app(strength, app)]?.until ?? 0)
        return until > now ? Int((until - now + 999_999) / 1_000_000) : nil
    }

    /// Whether the caller's last prompt granted something, or the caller has had no prompt. Weakly identified
    /// callers count as one caller.
    func isFresh(_ caller: Caller) -> Bool { entries[caller.uid]?[Key(caller)] == nil }

    /// Counts a prompt that granted nothing, for whatever reason.
    ///
    /// - Parameter denied: whether the person denied the app before. If so, the app has an entry of its own,
    ///   so that its long wait does not affect other weakly identified apps.
    mutating func grantedNothing(_ caller: Caller, denied: Bool, now: Int64) {
        let key = denied ? Key.own(caller) : Key(caller)
        var entries = self.entries[caller.uid] ?? [:]
        if entries.count >= limits.backOffs, entries[key] == nil,
            // The new entry replaces the one that ends first. To displace entries, an app would need many
            // names, each with its own wait.
            let first = entries.min(by: { $0.value.until < $1.value.until })
        {
            entries[first.key] = nil
        }
        let failures = (entries[key]?.failures ?? 0) + 1
        let longest = denied ? limits.longestBackOffWhenDenied : limits.longestBackOff
        // The exponent is bounded to avoid an overflow. After 20 doublings, the longest wait is reached
        // anyway.
        let wait = min(limits.backOff * (1 << min(failures - 1, 20)), longest)
        entries[key] = Entry(failures: failures, until: now + wait.microseconds)
        self.entries[caller.uid] = entries
    }

    mutating func approved(_ caller: Caller) {
        entries[caller.uid]?[Key(caller)] = nil
        entries[caller.uid]?[.own(caller)] = nil
        if entries[caller.uid]?.isEmpty ?? false { entries[caller.uid] = nil }
    }

    /// Resets the back-off of some apps of a user.
    ///
    /// - Parameters:
    ///   - isMeant: whether to reset the app with this strength and identifier.
    ///   - weak: whether to reset the shared entry of weakly identified apps too.
    /// - Returns: the apps whose own entries were removed.
    mutating func drop(
        _ uid: UInt32, where isMeant: (IdentityStrength, String) -> Bool, weak: Bool
    ) -> [(strength: IdentityStrength, app: String)] {
        var found: [(strength: IdentityStrength, app: String)] = []
        for key in (entries[uid] ?? [:]).keys {
            switch key {
            case .app(let strength, let app) where isMeant(strength, app):
                found.append((strength, app))
                entries[uid]?[key] = nil
            case .weak where weak: entries[uid]?[key] = nil
            case .app, .weak: break
            }
        }
        if entries[uid]?.isEmpty ?? false { entries[uid] = nil }
        return found
    }

    /// Removes all entries of a user.
    mutating func drop(_ uid: UInt32) { entries[uid] = nil }

    /// The number of a user's entries, at most ``Limits/backOffs``.
    func count(_ uid: UInt32) -> Int { entries[uid]?.count ?? 0 }
}

extension IdentityStrength {
    /// Whether any program of the user can take a name of this strength.
    var namesNobody: Bool {
        switch self {
        case .claimed, .unverified: true
        case .labelled, .sandboxed, .service, .installed: false
        }
    }
}

extension Duration {
    var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
