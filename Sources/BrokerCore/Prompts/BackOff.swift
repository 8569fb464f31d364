import BrokerAccessControl

/// How long an app must wait before the person is asked for it again.
///
/// Doubles with each prompt that granted nothing, and starts anew with an approval.
struct BackOff {
    /// Callers whose names anybody of the user can take share one budget: a hundred copies gain nothing.
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
    /// By user, so that one's crowd of apps makes nobody forget another's.
    private var entries: [UInt32: [Key: Entry]] = [:]

    init(limits: Limits) {
        self.limits = limits
    }

    /// Whole seconds, rounded up, that the app must still wait; `nil` if it need not.
    func remaining(_ uid: UInt32, _ strength: IdentityStrength, _ app: String, now: Int64) -> Int? {
        guard let entries = entries[uid] else { return nil }
        // A program without a lasting name that was denied has an entry of its own besides.
        let until = max(entries[Key(strength, app)]?.until ?? 0, entries[.app(strength, app)]?.until ?? 0)
        return until > now ? Int((until - now + 999_999) / 1_000_000) : nil
    }

    /// Whether the last prompt for this app, or its crowd, granted something, or there was none.
    func isFresh(_ caller: Caller) -> Bool { entries[caller.uid]?[Key(caller)] == nil }

    /// A prompt granted nothing, for whatever reason.
    ///
    /// - Parameter denied: the person denied the app before. It then waits for itself: one that is to wait a day must not
    ///   make others wait who have only the lack of a name in common with it.
    mutating func grantedNothing(_ caller: Caller, denied: Bool, now: Int64) {
        let key = denied ? Key.own(caller) : Key(caller)
        var entries = self.entries[caller.uid] ?? [:]
        if entries.count >= limits.backOffs, entries[key] == nil,
            // Whoever would make room for itself by names must have each of them wait as long as itself.
            let first = entries.min(by: { $0.value.until < $1.value.until })
        {
            entries[first.key] = nil
        }
        let failures = (entries[key]?.failures ?? 0) + 1
        let longest = denied ? limits.longestBackOffWhenDenied : limits.longestBackOff
        // Past 2^20 the longest is reached whatever the first step is.
        let wait = min(limits.backOff * (1 << min(failures - 1, 20)), longest)
        entries[key] = Entry(failures: failures, until: now + wait.microseconds)
        self.entries[caller.uid] = entries
    }

    mutating func approved(_ caller: Caller) {
        entries[caller.uid]?[Key(caller)] = nil
        entries[caller.uid]?[.own(caller)] = nil
        if entries[caller.uid]?.isEmpty ?? false { entries[caller.uid] = nil }
    }

    /// Forgets how long some apps of a user must wait.
    ///
    /// - Parameters:
    ///   - isMeant: whether an app is meant, by its strength and identifier.
    ///   - weak: the crowd of those without a lasting name is meant too, since one of them is.
    /// - Returns: the apps of whom something was forgotten; not the crowd.
    mutating func forget(
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

    /// Everything that is remembered of a user.
    mutating func forget(_ uid: UInt32) { entries[uid] = nil }

    /// Entries of one user; never more than ``Limits/backOffs``.
    func count(_ uid: UInt32) -> Int { entries[uid]?.count ?? 0 }
}

extension IdentityStrength {
    /// Any program of the user can go by such a name.
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
