import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Decides which answers need the person's password: those that share all or many contacts, those that let an app that
/// others can imitate change contacts, and those for which the policy requires a password.
struct PasswordRules: UsesServices {
    let services: BrokerServices

    /// Whether an answer needs the person's password.
    ///
    /// - Throws: if the answer needs a password and nothing can ask for it.
    func wantsPassword(for decided: DecidedAnswer, _ prompt: Prompt) throws(VarlinkError) -> Bool {
        guard decided.widens else { return false }
        let givesMuch =
            decided.level != .limited || canGrow(decided, prompt)
            || decided.after.count > services.limits.contactsWithoutPassword
            || passesBound(decided.added, prompt.caller)
            || decided.raisesChanges && prompt.caller.strength.isAssumable
        var reasons: PasswordReasons = givesMuch ? .much : []
        if decided.outlastsItsSession(of: prompt.caller) { reasons.insert(.lifetime) }
        return try wantsPassword(for: reasons, prompt)
    }

    /// Whether the app also gets contacts that are added later to the groups of its grant.
    func canGrow(_ decided: DecidedAnswer, _ prompt: Prompt) -> Bool {
        decided.hasGroups && !prompt.caller.strength.isAssumable
    }

    func wantsPassword(forPicking records: Set<RecordNumber>, _ prompt: Prompt) throws(VarlinkError) -> Bool {
        let isMany = records.count > services.limits.contactsWithoutPassword
        return try wantsPassword(for: isMany || passesBound(records, prompt.caller) ? .much : [], prompt)
    }

    /// Whether saving a proposed card needs the password. The app gains no access, but the person's address
    /// book changes.
    func wantsPasswordForProposal(_ prompt: Prompt) throws(VarlinkError) -> Bool {
        guard grants.policy.policy.confirmation == .password else { return false }
        return try wantsPassword(for: [], prompt)
    }

    /// Whether allowing a save once needs the password.
    func wantsPasswordForSave(_ prompt: Prompt) throws(VarlinkError) -> Bool {
        try wantsPassword(for: changesMany(prompt) == nil ? [] : .much, prompt)
    }

    /// If a prompt's save changes so many contacts that it needs the password: what it does, in words.
    func changesMany(_ prompt: Prompt) -> String? {
        prompt.question.save.flatMap { grants.changesMany($0.counted, by: prompt.caller) ? $0.words : nil }
    }

    private func wantsPassword(for reasons: PasswordReasons, _ prompt: Prompt) throws(VarlinkError) -> Bool {
        let isRequired = grants.ruling(of: prompt.session).requiresAuthentication
        switch grants.policy.need(for: isRequired ? reasons.union(.rule) : reasons) {
        case .nothing: return false
        case .password: return true
        case .unavailable:
            throw AgentError.authenticationFailed(
                .noAuthority, "the answer needs a password, and nothing here can ask for it")
        }
    }

    // MARK: The bound for all assumable apps of a user

    /// Whether these contacts would exceed the limit that all ``IdentityStrength/isAssumable`` apps of the
    /// user share. One program can act as many apps, so a limit per app would not restrict the program.
    private func passesBound(_ new: Set<RecordNumber>, _ caller: Caller) -> Bool {
        caller.strength.isAssumable
            && access.unconfirmed.pass(
                services.limits.contactsWithoutPassword, with: new, of: caller.uid, since: periodStart)
    }

    /// Counts contacts that an app gets without a password.
    func noteWithoutPassword(_ new: Set<RecordNumber>, _ caller: Caller) {
        guard caller.strength.isAssumable else { return }
        access.unconfirmed.note(new, of: caller.uid, now: services.seconds, keepingSince: periodStart)
    }

    private var periodStart: Int64 {
        services.seconds - services.limits.passwordFreePeriod.components.seconds
    }
}
