import BrokerAccessControl
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// The policy in force, and the time when it was loaded.
package struct PolicyInForce {
    package let policy: Policy
    /// A number from the store's counter. It distinguishes disclosures under this policy from those under
    /// other policies.
    package let revision: Int64
    /// Seconds since 1970.
    package let loadedAt: Int64
    /// Why the files are not in force that were read last. The rules are then those from before.
    package var rejected: Policy.Problem?
    /// Whether an authority that asks for passwords is expected. Only a request shows whether the authority
    /// can ask.
    private let hasAuthority: Bool
    /// The setting for answers that need a password if nothing can ask for one; `nil` if it is not
    /// configured.
    private let withoutAuthentication: Policy.WithoutAuthentication?

    package init(_ policy: Policy, revision: Int64, loadedAt: Int64, _ surroundings: Surroundings) {
        self.policy = policy
        self.revision = revision
        hasAuthority = surroundings.wantsPasswords
        withoutAuthentication = Policy.stricter(policy.withoutAuthentication, surroundings.withoutAuthentication)
        self.loadedAt = loadedAt
    }

    package func effectiveAccess(of grant: Grant?, _ ruling: Ruling, at now: Int64) -> EffectiveAccess {
        ruling.effectiveAccess(of: grant, at: now, revision: revision, loadedAt: loadedAt)
    }

    /// Whether the person may be prompted. If nothing can be granted, there is no prompt.
    package func mayPrompt(_ ruling: Ruling) -> Bool { ruling.mayPrompt && !ruling.isDenied && canGrant(ruling) }

    /// Whether anything can be granted.
    package func canGrant(_ ruling: Ruling) -> Bool {
        need(for: ruling.requiresAuthentication ? .rule : []) != .unavailable
    }

    /// Decides what an answer of the person needs. This alone says what happens if nothing can ask for passwords:
    ///
    /// | `without_authentication` | no authority is expected | an expected authority is absent |
    /// |---|---|---|
    /// | `allow` | nothing | nothing |
    /// | `refuse` | unavailable for a rule and for much, else nothing | unavailable |
    /// | not set | unavailable for a rule, else nothing | unavailable |
    ///
    /// - Parameter isAbsent: whether a request has shown that the expected authority is absent.
    package func need(for reasons: PasswordReasons, isAbsent: Bool = false) -> AnswerNeed {
        guard !reasons.isEmpty else { return .nothing }
        if hasAuthority, !isAbsent { return .password }
        guard withoutAuthentication != .allow else { return .nothing }
        if isAbsent { return .unavailable }
        let refused: PasswordReasons = withoutAuthentication == .refuse ? [.rule, .much] : .rule
        return reasons.isDisjoint(with: refused) ? .nothing : .unavailable
    }

    /// Throws unless the password was given, or there is no authority and the administrator allows answers
    /// without a password.
    package func accept(_ verdict: Verdict) throws(VarlinkError) {
        switch verdict {
        case .granted: return
        case .absent where need(for: .much, isAbsent: true) == .nothing: return
        case .absent: throw AgentError.authenticationFailed(.noAuthority, Verdict.withoutAuthority)
        case .wantsInteraction: throw AgentError.authenticationFailed(.noPasswordAgent, Verdict.withoutPasswordAgent)
        case .unanswered(let problem, let reason): throw AgentError.authenticationFailed(problem, reason)
        case .refused: throw AgentError.authenticationFailed
        }
    }

    package func offer(_ ruling: Ruling) -> PromptOffer {
        PromptOffer(
            allowsAll: mayShareAll(ruling), keys: ruling.maximumKeys, changes: ruling.maximumChanges,
            longest: ruling.maximumLifetime)
    }

    /// The most that an answer can let an app change. Without a password, an app that others can imitate gets no right to
    /// change what it did not add.
    package func mostChanges(_ ruling: Ruling, _ strength: IdentityStrength) -> ChangeRight {
        let needsPassword = strength.isAssumable && need(for: .much) == .unavailable
        return min(ruling.maximumChanges, needsPassword ? .own : .all)
    }

    /// Whether an answer to a prompt may share all contacts.
    func mayShareAll(_ ruling: Ruling) -> Bool {
        !ruling.capsLevel && ruling.forcedLevel != .limited && ruling.forcedLevel != .denied
            && need(for: .much) != .unavailable
    }
}

/// Why an answer of the person calls for their password.
package struct PasswordReasons: OptionSet {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// A policy rule requires it.
    package static let rule = PasswordReasons(rawValue: 1)
    /// The answer shares all or many contacts.
    package static let much = PasswordReasons(rawValue: 2)
    /// The grant outlives the terminal session, although the app's default lifetime is the terminal session.
    package static let lifetime = PasswordReasons(rawValue: 4)
    /// An agent joins, which will show prompts.
    package static let agent = PasswordReasons(rawValue: 8)
}

/// What an answer of the person needs to take effect.
package enum AnswerNeed {
    case nothing
    case password
    /// The answer needs a password, and nothing can ask for it.
    case unavailable
}

extension PolicyInForce {
    /// Why every app is refused, as the apps' interface names it; `nil` if the policy and the settings can be read.
    package var unreadable: ContactsError.Unreadable? {
        switch policy.problem?.subject {
        case .policy: .policyUnreadable
        case .settings: .settingsUnreadable
        case nil: nil
        }
    }

    /// The error for an app that may not do what it asked for.
    package var accessDenied: VarlinkError { unreadable.map(ContactsError.accessDenied) ?? ContactsError.accessDenied }
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
    package func isNarrower(than other: EffectiveAccess) -> Bool {
        switch (self, other) {
        case (.restricted, .restricted), (_, .restricted): false
        case (.restricted, _): true
        case (.granted(let grant), .granted(let former)): !grant.isAtLeast(former)
        case (.notDetermined, .granted(let former)): former.access != .denied
        case (_, .notDetermined): false
        }
    }
}

extension Verdict {
    package static let withoutAuthority =
        "polkit is not installed, so nothing can ask for your password; an administrator can install it: "
        + "apt install polkitd"
    package static let withoutPasswordAgent =
        "polkit finds no program that can ask for your password here: pkttyagent is not installed, or this terminal "
        + "belongs to no login session; log in at a console, on a desktop or with ssh, and run this there"
}
