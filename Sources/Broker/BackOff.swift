import AccessControl

/// How long an app must wait before the person is asked for it again.
///
/// Doubles with each prompt that granted nothing, and starts anew with an approval.
struct BackOff {
    /// Callers whose names anybody of the user can take share one budget: a hundred copies gain nothing.
    enum Key: Hashable {
        case principal(uid: UInt32, IdentityStrength, app: String)
        case weak(uid: UInt32)

        var uid: UInt32 {
            switch self {
            case .principal(let uid, _, _), .weak(let uid): uid
            }
        }

        init(_ caller: Caller) {
            switch caller.strength {
            case .claimed, .unverified: self = .weak(uid: caller.uid)
            case .labelled, .sandboxed, .service, .installed:
                self = .principal(uid: caller.uid, caller.strength, app: caller.app)
            }
        }
    }

    private struct Entry {
        var failures: Int
        var until: Int64
    }

    private let limits: Limits
    private var entries: [Key: Entry] = [:]

    init(limits: Limits) {
        self.limits = limits
    }

    /// Whole seconds, rounded up, that the app must still wait; `nil` if it need not.
    func remaining(_ key: Key, now: Int64) -> Int? {
        guard let entry = entries[key], entry.until > now else { return nil }
        return Int((entry.until - now + 999_999) / 1_000_000)
    }

    /// A prompt granted nothing, for whatever reason.
    mutating func grantedNothing(_ key: Key, denied: Bool, now: Int64) {
        if entries.count >= limits.backOffs, entries[key] == nil,
            let first = entries.min(by: { $0.value.until < $1.value.until })
        {
            entries[first.key] = nil
        }
        let failures = (entries[key]?.failures ?? 0) + 1
        let longest = denied ? limits.longestBackOffWhenDenied : limits.longestBackOff
        // Past 2^20 the longest is reached whatever the first step is.
        let wait = min(limits.backOff * (1 << min(failures - 1, 20)), longest)
        entries[key] = Entry(failures: failures, until: now + wait.microseconds)
    }

    mutating func approved(_ key: Key) {
        entries[key] = nil
    }

    /// Everything that is remembered of a user.
    mutating func forget(_ uid: UInt32) {
        entries = entries.filter { $0.key.uid != uid }
    }
}

extension Duration {
    var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
