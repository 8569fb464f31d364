import BrokerAccessControl
import BrokerInterface
import BrokerVarlink

/// Decides which answers need the person's password. Examples are answers that share much, and answers for
/// apps whose policy rule requires a password.
struct PasswordRules {
    let surroundings: Surroundings
    let grants: Grants

    /// Whether an answer needs the person's password.
    ///
    /// - Throws: if it needs one and nobody can ask for it.
    func wantsPassword(for decided: DecidedAnswer, _ prompt: Prompt) throws(VarlinkError) -> Bool {
        guard decided.widens else { return false }
        let count = decided.granted.subtracting(decided.removed).union(decided.rows).count
        let givesMuch = decided.level != .limited || count > surroundings.limits.contactsWithoutPassword
        return try wantsPassword(forMuch: givesMuch, prompt)
            || surroundings.wantsPasswords && decided.outlastsItsSession(of: prompt.caller)
    }

    func wantsPassword(forPicking count: Int, _ prompt: Prompt) throws(VarlinkError) -> Bool {
        try wantsPassword(forMuch: count > surroundings.limits.contactsWithoutPassword, prompt)
    }

    private func wantsPassword(forMuch givesMuch: Bool, _ prompt: Prompt) throws(VarlinkError) -> Bool {
        let ruling = grants.ruling(of: prompt.session)
        guard grants.policy.canGrant(ruling), grants.policy.allowsMuch || !givesMuch else {
            throw AgentError.authenticationFailed("the answer needs a password, and nothing here can ask for it")
        }
        return surroundings.wantsPasswords && (givesMuch || ruling.requiresAuthentication)
    }
}
