import BrokerAccessControl
import BrokerModel

/// The policy as it is in force, and since when.
struct PolicyInForce {
    let policy: Policy
    /// From the store's counter: what rests on the policy is told apart from what rested on another one.
    let revision: Int64
    /// Seconds since 1970.
    let loadedAt: Int64
    /// Somebody may be there to ask for the person's password; whether they are shows when they are asked.
    private let hasAuthority: Bool
    /// What becomes of an answer that wants the password where nobody can ask for it; `nil` where nobody said.
    private let withoutAuthentication: Policy.WithoutAuthentication?

    init(_ policy: Policy, revision: Int64, loadedAt: Int64, _ surroundings: Surroundings) {
        self.policy = policy
        self.revision = revision
        hasAuthority = surroundings.wantsPasswords
        withoutAuthentication = Policy.stricter(policy.withoutAuthentication, surroundings.withoutAuthentication)
        self.loadedAt = loadedAt
    }

    func standing(of grant: Grant?, _ ruling: Ruling, at now: Int64) -> Standing {
        ruling.standing(of: grant, at: now, revision: revision, loadedAt: loadedAt)
    }

    /// Whether the person may be asked. Where nothing can be granted, there is nothing to ask.
    func mayPrompt(_ ruling: Ruling) -> Bool { ruling.mayPrompt && !ruling.isDenied && canGrant(ruling) }

    /// Whether anything can be granted, or a password is wanted that nobody can ask for.
    func canGrant(_ ruling: Ruling) -> Bool {
        hasAuthority || !ruling.requiresAuthentication || mayDoWithout
    }

    /// Whether an answer may share everything, or many contacts, if with a password.
    var allowsMuch: Bool { hasAuthority || withoutAuthentication != .refuse }

    /// Whether an answer that wants a password counts where nobody is there to ask for it.
    var mayDoWithout: Bool { withoutAuthentication == .allow }

    func offer(_ ruling: Ruling) -> PromptOffer {
        PromptOffer(
            allowsAll: mayShareAll(ruling), keys: ruling.maximumKeys, longest: ruling.maximumLifetime)
    }

    /// Whether an answer at a prompt may share all contacts.
    func mayShareAll(_ ruling: Ruling) -> Bool {
        !ruling.capsLevel && ruling.forcedLevel != .limited && ruling.forcedLevel != .denied && allowsMuch
    }
}

extension Policy.Problem {
    /// What the administrator does about it.
    public func advice(in mode: BrokerMode) -> String {
        switch (subject, mode) {
        case (.policy, _): "correct the file, then: contactctl reload"
        case (.settings, .system): "correct the file, then: systemctl restart contactbroker.service"
        case (.settings, .session): "correct the file, then restart contactbrokerd"
        }
    }
}

extension Standing {
    /// Allows less than the other one. Whatever it does not allow is to be taken back.
    func isNarrower(than other: Standing) -> Bool {
        switch (self, other) {
        case (.restricted, .restricted), (_, .restricted): false
        case (.restricted, _): true
        case (.granted(let grant), .granted(let former)): !grant.isAtLeast(former)
        case (.notDetermined, .granted(let former)): former.access != .denied
        case (_, .notDetermined): false
        }
    }
}
