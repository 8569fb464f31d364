import BrokerAccessControl
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// The policy in force, and the time when it was loaded.
struct PolicyInForce {
    let policy: Policy
    /// A number from the store's counter. It distinguishes disclosures under this policy from those under
    /// other policies.
    let revision: Int64
    /// Seconds since 1970.
    let loadedAt: Int64
    /// Whether an authority that asks for passwords is expected. Only a request shows whether the authority
    /// can ask.
    private let hasAuthority: Bool
    /// The setting for answers that need a password if nothing can ask for one; `nil` if it is not
    /// configured.
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

    /// Whether anything can be granted. Nothing can be granted if a rule requires a password, nothing can ask
    /// for one, and the setting does not allow answers without a password.
    func canGrant(_ ruling: Ruling) -> Bool {
        hasAuthority || !ruling.requiresAuthentication || mayDoWithout
    }

    /// Whether an answer may share all or many contacts, perhaps after a password.
    var allowsMuch: Bool { hasAuthority || withoutAuthentication != .refuse }

    /// Whether an answer that needs a password is accepted if nothing can ask for the password.
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

extension PolicyInForce {
    /// Why every app is refused, as the apps' interface names it; `nil` if the policy and the settings can be read.
    var unreadable: ContactsError.Unreadable? {
        switch policy.problem?.subject {
        case .policy: .policyUnreadable
        case .settings: .settingsUnreadable
        case nil: nil
        }
    }

    /// The error for an app that may not do what it asked for.
    var accessDenied: VarlinkError { unreadable.map(ContactsError.accessDenied) ?? ContactsError.accessDenied }
}

extension Policy.Problem {
    /// Tells the administrator how to solve the problem.
    public func advice(in mode: BrokerMode) -> String {
        switch (subject, mode) {
        case (.policy, _): "correct the file, then: contactctl reload"
        case (.settings, .system): "correct the file, then: systemctl restart contactbroker.service"
        case (.settings, .session): "correct the file, then restart contactbrokerd"
        }
    }
}

extension EffectiveAccess {
    /// Whether this access allows less than the other one.
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
