import AccessControl
import AccessStore
import Policy
import Varlink

/// What runs out is taken back at its time, and not at its next use: a grant's own end, and the one that the policy sets.
extension Broker {
    /// Wakes when the next grant runs out.
    func scheduleExpiry() {
        expiry?.cancel()
        let ends = access.principals.compactMap { principal -> Int64? in
            guard let grant = access.grant(of: principal), endedByPolicy[principal] != grant.revision else {
                return nil
            }
            return end(of: grant, principal)
        }
        guard let next = ends.min() else { return }
        let bound = LoopBound(self, loop: surroundings.loop)
        // At most a day ahead: clocks get set. What is over is not subtracted: the file may say any number.
        let now = seconds
        let wait = next > now ? min(next - now, 86_400) : 0
        expiry = surroundings.loop.schedule(after: .seconds(wait)) { bound.value.expire() }
    }

    /// A grant was met whose time is over. The timer runs on another clock, which stands still while the machine sleeps.
    func tellOfEnd(of grant: Grant, _ principal: Principal) {
        guard endedByPolicy[principal] != grant.revision else { return }
        let bound = LoopBound(self, loop: surroundings.loop)
        surroundings.loop.execute { bound.value.expire() }
    }

    /// What is over as the policy comes into force is no news.
    func notePastEnds() {
        endedByPolicy = [:]
        guard policy.limitsLifetimes else { return }
        for (principal, grant) in overByPolicy() { endedByPolicy[principal] = grant.revision }
    }

    /// When a grant runs out, by itself or by the policy, in seconds since 1970.
    func end(of grant: Grant, _ principal: Principal) -> Int64? {
        if policy.limitsLifetimes { return ruling(on: principal).end(of: grant) }
        if case .untilTime(let end) = grant.lifetime { return end }
        return nil
    }

    /// Grants that would hold on by themselves.
    private func overByPolicy() -> [(Principal, Grant)] {
        access.principals.compactMap { principal in
            guard let grant = access.grant(of: principal), let end = end(of: grant, principal), end <= seconds,
                !grant.hasExpired(at: seconds)
            else { return nil }
            return (principal, grant)
        }
    }

    private func expire() {
        for principal in access.expired(at: seconds) {
            access.endGrant(of: principal)
            ended(principal)
        }
        if policy.limitsLifetimes {
            for (principal, grant) in overByPolicy() where endedByPolicy[principal] != grant.revision {
                // It stays in the store: what the person decided counts again if the rule goes.
                endedByPolicy[principal] = grant.revision
                ended(principal)
            }
        }
        if access.hasUncommitted { turn.work(committed: {}) }
        scheduleExpiry()
    }

    private func ended(_ principal: Principal) {
        let standing = policy.standing(of: access.grant(of: principal), ruling(on: principal), at: seconds)
        turn.record(.revocation, of: principal, { $0.status = standing.status }, detail: "expired")
        narrowed(principal)
    }
}
