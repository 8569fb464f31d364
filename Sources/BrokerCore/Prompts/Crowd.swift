import BrokerAccessControl

/// The limits that weakly identified callers of one user share, because a program can make any number of them. It has
/// no clock: every time is an argument, in microseconds.
///
/// An approved caller has none of these limits. Only the exact program is approved: another file at its path is not.
struct Crowd {
    /// Whose limits apply to a prompt.
    enum Bucket: Hashable {
        /// Those of all callers that were never approved.
        case common
        /// Those of the callers in a terminal session in which the person approved a program.
        case session(SessionIdentity)
    }

    private struct Count {
        /// When the latest prompts were queued; at most ``Limits/weakPrompts``.
        var queued: [Int64] = []
        /// Prompts in a row whose callers withdrew them after an agent had shown them.
        var withdrawals = 0
        var lastWithdrawal: Int64 = 0
    }

    private let limits: Limits
    private var counts: [Bucket: Count] = [:]
    /// When the person last approved a program in a session.
    private var sessions: [SessionIdentity: Int64] = [:]
    /// When the person last approved exactly this caller. Grants are looked up elsewhere; this is for approvals that
    /// leave no grant.
    private var callers: [Principal: Int64] = [:]

    init(limits: Limits) { self.limits = limits }

    /// The bucket of this caller; `nil` if it has none of these limits.
    ///
    /// - Parameter hasGrant: the person or an administrator gave this caller access, and it has it still.
    func bucket(of caller: Caller, hasGrant: Bool) -> Bucket? {
        guard caller.strength.namesNobody, !hasGrant, exact(caller).map({ callers[$0] == nil }) ?? true else {
            return nil
        }
        guard let session = caller.session, sessions[session] != nil else { return .common }
        return .session(session)
    }

    /// An interpreter's approval is its process's only.
    private func exact(_ caller: Caller) -> Principal? {
        caller.principal(for: caller.isInterpreter ? .process : .untilRevoked)
    }

    /// Counts a prompt that is queued. Returns `false`, and counts nothing, if the bucket is empty: then no screen may
    /// be taken.
    mutating func take(from bucket: Bucket, now: Int64) -> Bool {
        var count = counts[bucket] ?? Count()
        count.queued.removeAll { now - $0 >= limits.weakPromptsPeriod.microseconds }
        guard count.queued.count < limits.weakPrompts else { return false }
        count.queued.append(now)
        counts[bucket] = count
        return true
    }

    /// Counts a prompt that its caller withdrew after an agent had shown it.
    mutating func withdrew(_ bucket: Bucket, now: Int64) {
        var count = counts[bucket] ?? Count()
        if now - count.lastWithdrawal >= limits.weakPromptsPeriod.microseconds { count.withdrawals = 0 }
        count.withdrawals += 1
        count.lastWithdrawal = now
        counts[bucket] = count
    }

    /// When the next prompt of this bucket may be shown.
    func heldUntil(_ bucket: Bucket) -> Int64 {
        guard let count = counts[bucket] else { return 0 }
        return count.lastWithdrawal + hold(after: count.withdrawals).microseconds
    }

    /// How long prompts are held after this many withdrawals in a row.
    func hold(after withdrawals: Int) -> Duration {
        let counted = withdrawals - limits.withdrawalsWithoutHold
        // With 2^10 steps the longest hold is reached whatever the first step is.
        return counted < 0 ? .zero : min(limits.withdrawalHold * (1 << min(counted, 10)), limits.longestWithdrawalHold)
    }

    /// The person approved a prompt of this caller.
    mutating func approved(_ caller: Caller, now: Int64) {
        guard caller.strength.namesNobody else { return }
        if let principal = exact(caller) {
            callers[principal] = now
            Self.removeOldest(of: &callers, beyond: limits.approvals)
        }
        guard let session = caller.session else { return }
        sessions[session] = now
        for removed in Self.removeOldest(of: &sessions, beyond: limits.approvedSessions) {
            counts[.session(removed)] = nil
        }
    }

    @discardableResult
    static func removeOldest<Key: Hashable>(of times: inout [Key: Int64], beyond maximum: Int) -> [Key] {
        var removed: [Key] = []
        while times.count > maximum, let oldest = times.min(by: { $0.value < $1.value })?.key {
            times[oldest] = nil
            removed.append(oldest)
        }
        return removed
    }

    /// Resets what was counted, and removes the approvals of some apps.
    ///
    /// - Parameter isMeant: whether to remove an app's approval, by its strength and identifier.
    mutating func reset(where isMeant: (IdentityStrength, String) -> Bool) {
        counts = [:]
        callers = callers.filter { !isMeant($0.key.strength, $0.key.app) }
    }
}
