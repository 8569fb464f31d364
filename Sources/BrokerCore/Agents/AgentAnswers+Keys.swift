import BrokerAccessControl
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// Answers that change only the keys of a grant.
extension AgentAnswers {
    /// The answer to a prompt of kind ``PromptKind/keys``: adds keys to the app's grant.
    func addingKeys(
        _ keys: ContactKeySet, _ prompt: Prompt, _ known: CallerAccess
    ) throws(VarlinkError) -> DecidedAnswer {
        guard !keys.isEmpty else { throw AgentError.invalidAnswer("no key was chosen") }
        guard known.effective != .restricted, let principal = known.principal, let grant = grants.decided(known),
            grant.access != .denied
        else { throw AgentError.invalidAnswer("the grant has ended") }
        // The prompt's own keys, and not those that are still lacking: another answer may have given some of them.
        guard keys.isSubset(of: prompt.question.keys ?? []) else {
            throw AgentError.invalidAnswer("the app did not ask for these keys")
        }
        guard keys.isSubset(of: known.ruling.maximumKeys) else { throw Self.beyondPolicy }
        return keeping(grant, with: grant.keys.union(keys), of: principal, prompt, known)
    }

    /// Checks the keys that an answer to a manage prompt adds to a grant.
    func checkAdded(_ keys: ContactKeySet, to stored: Grant?, _ known: CallerAccess) throws(VarlinkError) {
        guard keys.intersection(.byName).isSubset(of: stored?.asked ?? []) else {
            throw AgentError.invalidAnswer("the app did not ask for these notes or groups")
        }
        guard keys.isSubset(of: known.ruling.maximumKeys) else { throw Self.beyondPolicy }
    }

    /// Whether an answer to a manage prompt changes nothing but the keys: it names keys and no rows, and the level is
    /// the present one.
    ///
    /// - Parameters:
    ///   - grant: the effective access.
    ///   - stored: the stored grant. A denial under a policy that gives access is not kept.
    func changesKeysOnly(
        _ parameters: AnswerParameters, _ level: AnswerParameters.Level, _ grant: Grant, _ stored: Grant
    ) -> Bool {
        guard parameters.keys != nil, parameters.identifiers.isEmpty, parameters.removed.isEmpty,
            level.status == grant.access.status
        else { return false }
        switch level {
        case .denied: return false
        case .limited: return stored.access != .denied
        case .full: return stored.access == .full
        }
    }

    private static let beyondPolicy = AgentError.invalidAnswer(
        "the administrator's policy does not allow this app these keys")

    /// An answer that changes nothing but the grant's keys.
    func keeping(
        _ grant: Grant, with keys: ContactKeySet, of principal: Principal, _ prompt: Prompt, _ known: CallerAccess
    ) -> DecidedAnswer {
        let level: AnswerParameters.Level =
            switch grant.access {
            case .denied: .denied
            case .limited: .limited
            case .full: .full
            }
        return DecidedAnswer(
            principal: principal, level: level, keys: keys, lifetime: grant.lifetime, granted: grant.access.records,
            singly: [], canGrow: !grant.groups.records.isEmpty && !prompt.caller.strength.isAssumable, managed: grant,
            wasFull: grant.access == .full, kept: grant, decidedAt: goesOn(known, prompt))
    }
}
