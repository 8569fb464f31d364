import BrokerAccessControl
import BrokerBounds

/// The limits that all weakly identified callers of one user share. Limits for each caller would have no
/// effect, because one program can create any number of such callers. This type has no clock: every time is
/// an argument, in microseconds.
///
/// These limits do not apply to an approved caller. An approval does not extend to a different file at the
/// same path.
struct Crowd {
    /// A group of callers that share one set of limits.
    enum Bucket: Hashable {
        /// All callers that were never approved, except those in ``session(_:)``.
        case common
        /// The callers in a terminal session in which the person has approved a program.
        case session(SessionIdentity)
    }

    private struct Count {
        /// The queued prompts.
        var queued = SlidingWindow()
        /// The number of prompts that were withdrawn after they had been sent to an agent. Starts again after
        /// a period without a withdrawal.
        var withdrawals = 0
        var lastWithdrawal: Int64 = 0
    }

    private let limits: Limits
    private var counts: [Bucket: Count] = [:]
    /// When the person last approved a program in a session.
    private var sessions: [SessionIdentity: Int64] = [:]
    /// When the person last approved a prompt of this principal. An approval such as a one-time pick creates
    /// no grant, so it must be remembered here.
    private var callers: [Principal: Int64] = [:]

    init(limits: Limits) { self.limits = limits }

    /// Returns the bucket of this caller; `nil` if these limits do not apply to the caller.
    ///
    /// - Parameter hasGrant: whether the caller currently has access.
    func bucket(of caller: Caller, hasGrant: Bool) -> Bucket? {
        guard caller.strength.sharesCrowd, !hasGrant, exact(caller).map({ callers[$0] == nil }) ?? true else {
            return nil
        }
        guard let session = caller.session, sessions[session] != nil else { return .common }
        return .session(session)
    }

    /// Returns the principal to which an approval of this caller applies. For an interpreter, this is the
    /// process.
    private func exact(_ caller: Caller) -> Principal? {
        caller.principal(for: caller.isInterpreter ? .process : .untilRevoked)
    }

    /// Counts a new prompt. Returns `false` and counts nothing if the bucket has reached its limit; the
    /// prompt must then be quiet.
    mutating func take(from bucket: Bucket, now: Int64) -> Bool {
        counts[bucket, default: Count()].queued
            .take(limits.weakPrompts, within: limits.weakPromptsPeriod, now: now) == nil
    }

    /// Counts a prompt that was withdrawn after it had been sent to an agent.
    mutating func withdrew(_ bucket: Bucket, now: Int64) {
        var count = counts[bucket] ?? Count()
        if now - count.lastWithdrawal >= limits.weakPromptsPeriod.microseconds { count.withdrawals = 0 }
        count.withdrawals += 1
        count.lastWithdrawal = now
        counts[bucket] = count
    }

    /// Returns the earliest time at which the next prompt of this bucket may be shown.
    func heldUntil(_ bucket: Bucket) -> Int64 {
        guard let count = counts[bucket] else { return 0 }
        return count.lastWithdrawal + hold(after: count.withdrawals).microseconds
    }

    /// Returns how long prompts are held after this many withdrawals.
    func hold(after withdrawals: Int) -> Duration {
        DoublingWait.after(
            withdrawals - limits.withdrawalsWithoutHold + 1, first: limits.withdrawalHold,
            longest: limits.longestWithdrawalHold)
    }

    /// Records that the person approved a prompt of this caller.
    mutating func approved(_ caller: Caller, now: Int64) {
        guard caller.strength.sharesCrowd else { return }
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

    /// Resets all counts, and removes the approvals of some apps.
    ///
    /// - Parameter isMeant: whether to remove the approval of the app with this strength and identifier.
    mutating func reset(where isMeant: (IdentityStrength, String) -> Bool) {
        counts = [:]
        callers = callers.filter { !isMeant($0.key.strength, $0.key.app) }
    }
}
