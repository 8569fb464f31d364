import AccessControl
import ContactsInterface
import ContactsModel
import Policy
import Varlink

/// Answers that count only with the person's password: those that give much, and those of apps about which a rule says so.
extension Broker {
    /// What the person gave their password for.
    struct Approval {
        /// The contacts that the answer turned on then.
        var rows: Set<RecordNumber>
    }

    /// Whether an answer counts only with the person's password.
    ///
    /// - Throws: where it wants one and nobody can ask for it.
    func wantsPassword(for decided: Decided, _ prompt: Prompt) throws(VarlinkError) -> Bool {
        guard decided.widens else { return false }
        let count = decided.standing.subtracting(decided.removed).union(decided.rows).count
        let givesMuch = decided.level != .limited || count > limits.contactsWithoutPassword
        return try wantsPassword(forMuch: givesMuch, prompt)
            || surroundings.wantsPasswords && decided.outlastsItsSession(of: prompt.caller)
    }

    func wantsPassword(forPicking count: Int, _ prompt: Prompt) throws(VarlinkError) -> Bool {
        try wantsPassword(forMuch: count > limits.contactsWithoutPassword, prompt)
    }

    private func wantsPassword(forMuch givesMuch: Bool, _ prompt: Prompt) throws(VarlinkError) -> Bool {
        let ruling = ruling(of: prompt.session)
        guard policy.canGrant(ruling), policy.allowsMuch || !givesMuch else {
            throw AgentError.authenticationFailed("that wants a password, and nobody here can ask for it")
        }
        return surroundings.wantsPasswords && (givesMuch || ruling.requiresAuthentication)
    }

    /// Asks for the password that the answer wants, and then decides about it anew: the prompt may be over, the policy another one.
    func wantPassword(
        _ parameters: AnswerParameters, _ prompt: Prompt, _ session: CallerSession, _ call: Call, _ approval: Approval
    ) {
        let wanted = wantPassword(
            .shareAll, of: session, concerning: prompt.caller, app: prompt.caller.app, mayInteract: true, for: call
        ) { [weak self] verdict in
            guard let self else { return }
            do throws(VarlinkError) {
                _ = try shown(parameters.agent, parameters.cookie, session)
                try demand(verdict)
                try answer(parameters, call, session, approved: approval)
            } catch {
                call.fail(error)
            }
        }
        if let wanted { prompts.wait(prompt, for: wanted) }
    }
}
