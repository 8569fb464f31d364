import BrokerAccessControl
import BrokerModel

/// The policy in force, and since when.
struct PolicyInForce {
    let policy: Policy
    /// From the store's counter, so that a disclosure under this policy is distinguished from one under another
    /// policy.
    let revision: Int64
    /// Seconds since 1970.
    let loadedAt: Int64
    /// A password prompt is configured. Whether one can be shown is known only when it is tried.
    private let hasAuthority: Bool
    /// What happens to an answer that needs a password if nobody can ask for it; `nil` if nothing is configured.
    private let withoutAuthentication: Policy.WithoutAuthentication?

    init(_ policy: Policy, revision: Int64, loadedAt: Int64, _ surroundings: Surroundings) {
        self.policy = policy
        self.revision = revision
        hasAuthority = surroundings.wantsPasswords
        withoutAuthentication = Policy.stricter(policy.withoutAuthentication, surroundings.withoutAuthentication)
        self.loadedAt = loadedAt
    }

    func effectiveAccess(of grant: Grant?, _ ruling: Ruling, at now: Int64) -> EffectiveAccess {
        ruling.effectiveAccess(of: grant, at: now, revision: revision, loadedAt: loadedAt)
    }

    /// Whether the person may be prompted. If nothing can be granted, there is no prompt.
    func mayPrompt(_ ruling: Ruling) -> Bool { ruling.mayPrompt && !ruling.isDenied && canGrant(ruling) }

    /// Whether anything can be granted. Nothing can if a password is required and nobody can ask for it.
    func canGrant(_ ruling: Ruling) -> Bool {
        hasAuthority || !ruling.requiresAuthentication || mayDoWithout
    }

    /// Whether an answer may share all contacts, or many, perhaps after a password.
    var allowsMuch: Bool { hasAuthority || withoutAuthentication != .refuse }

    /// Whether an answer that needs a password is accepted if nobody can ask for it.
    var mayDoWithout: Bool { withoutAuthentication == .allow }

    func offer(_ ruling: Ruling) -> PromptOffer {
        PromptOffer(
            allowsAll: mayShareAll(ruling), keys: ruling.maximumKeys, longest: ruling.maximumLifetime)
    }

    /// Whether an answer to a prompt may share all contacts.
    func mayShareAll(_ ruling: Ruling) -> Bool {
        !ruling.capsLevel && ruling.forcedLevel != .limited && ruling.forcedLevel != .denied && allowsMuch
    }
}

extension Policy.Problem {
    /// What the administrator can do about the problem.
    public func advice(in mode: BrokerMode) -> String {
        switch (subject, mode) {
        case (.policy, _): "correct the file, then: contactctl reload"
        case (.settings, .system): "correct the file, then: systemctl restart contactbroker.service"
        case (.settings, .session): "correct the file, then restart contactbrokerd"
        }
    }
}

extension EffectiveAccess {
    /// Whether it allows less than the other one. What it no longer allows must be revoked.
    func isNarrower(than other: EffectiveAccess) -> Bool {
        switch (self, other) {
        case (.restricted, .restricted), (_, .restricted): false
        case (.restricted, _): true
        case (.granted(let grant), .granted(let former)): !grant.isAtLeast(former)
        case (.notDetermined, .granted(let former)): former.access != .denied
        case (_, .notDetermined): false
        }
    }
}
