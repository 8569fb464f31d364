import BrokerAccessControl
import BrokerAccessStore
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Answers that change the terms of a grant: its keys, and how long it lasts.
extension AgentAnswers {
    /// The answer to a prompt of kind ``PromptKind/keys``: adds keys to the app's grant.
    func addingKeys(
        _ keys: ContactKeySet, _ prompt: Prompt, _ known: CallerAccess
    ) throws(VarlinkError) -> DecidedAnswer {
        guard !keys.isEmpty else { throw AgentError.invalidAnswer(.malformed, "no key was chosen") }
        guard known.effective != .restricted, let principal = known.principal, let grant = grants.decided(known),
            grant.access != .denied
        else { throw AgentError.invalidAnswer(.grantEnded, "the grant has ended") }
        // The prompt's own keys, and not those that are still lacking: another answer may have given some of them.
        guard keys.isSubset(of: prompt.question.keys ?? []) else {
            throw AgentError.invalidAnswer(.malformed, "the app did not ask for these keys")
        }
        guard keys.isSubset(of: known.ruling.maximumKeys) else { throw Self.beyondPolicy }
        return keeping(
            grant, with: grant.keys.union(keys), grant.changes, grant.lifetime, of: principal, prompt, known)
    }

    /// The answer to a prompt of kind ``PromptKind/change`` that allows further saves: gives the app the right that the save
    /// needs.
    func raisingChanges(
        _ prompt: Prompt, _ known: CallerAccess
    ) throws(VarlinkError) -> DecidedAnswer {
        guard known.effective != .restricted, let principal = known.principal, let grant = grants.decided(known),
            grant.access != .denied, let changes = prompt.question.changes
        else { throw AgentError.invalidAnswer(.grantEnded, "the grant has ended") }
        guard changes <= max(grant.changes, grants.policy.mostChanges(known.ruling, prompt.caller.strength)) else {
            throw Self.changesBeyondPolicy
        }
        return keeping(
            grant, with: grant.keys, max(grant.changes, changes), grant.lifetime, of: principal, prompt, known)
    }

    /// Checks that the person may still allow the save of a prompt.
    func check(_ prompt: Prompt, _ known: CallerAccess) throws(VarlinkError) {
        guard case .granted(let grant) = known.effective, grant.access != .denied, let changes = prompt.question.changes
        else { throw AgentError.invalidAnswer(.grantEnded, "the grant has ended") }
        guard changes <= grant.changes || known.ruling.leavesToPerson(changes) else { throw Self.changesBeyondPolicy }
    }

    /// Allows the save that the prompt shows, and nothing else.
    func allowOnce(_ prompt: Prompt, _ agent: Agent, _ call: Call, _ approved: Approval?) {
        guard let asOf = prompt.asOf else { return call.fail(AgentError.unknownPrompt) }
        groupCommit.recordAnswer(to: prompt, from: AnswerSource(agent, approved), "save allowed")
        let outcome = PromptOutcome.allowed(asOf: asOf, withPassword: approved != nil)
        groupCommit.reply(prompts.end(prompt, outcome, answeredBy: agent), to: call)
    }

    /// Checks what an answer lets the app change.
    func checkChanges(
        _ parameters: AnswerParameters, after former: ChangeRight, _ known: CallerAccess
    ) throws(VarlinkError) {
        guard let changes = parameters.changes, changes > max(known.ruling.maximumChanges, former) else { return }
        throw Self.changesBeyondPolicy
    }

    private static let changesBeyondPolicy = AgentError.invalidAnswer(
        .policyLimits, "the administrator's policy does not allow this app to change so much")

    /// Checks the keys that an answer to a manage prompt adds to a grant.
    func checkAdded(_ keys: ContactKeySet, to stored: Grant?, _ known: CallerAccess) throws(VarlinkError) {
        guard keys.intersection(.byName).isSubset(of: stored?.asked ?? []) else {
            throw AgentError.invalidAnswer(.malformed, "the app did not ask for these notes or groups")
        }
        guard keys.isSubset(of: known.ruling.maximumKeys) else { throw Self.beyondPolicy }
    }

    /// An agent offers full access to no app in a declared folder.
    func checkFull(_ level: AnswerParameters.Level, _ prompt: Prompt) throws(VarlinkError) {
        guard level != .full || prompt.caller.strength != .declared else {
            throw AgentError.invalidAnswer(.malformed, "an app in a declared folder never gets full access")
        }
    }

    /// Whether an answer to a manage prompt changes nothing but the terms: it names keys, changes or a lifetime and no
    /// rows, and the level is the present one.
    ///
    /// - Parameters:
    ///   - grant: the effective access.
    ///   - stored: the stored grant. A denial under a policy that gives access is not kept.
    func changesTermsOnly(
        _ parameters: AnswerParameters, _ level: AnswerParameters.Level, _ grant: Grant, _ stored: Grant
    ) -> Bool {
        guard parameters.keys != nil || parameters.changes != nil || parameters.lifetime != nil,
            parameters.identifiers.isEmpty,
            parameters.removed.isEmpty,
            level.status == grant.access.status
        else { return false }
        switch level {
        case .denied: return false
        case .limited: return stored.access != .denied
        case .full: return stored.access == .full
        }
    }

    private static let beyondPolicy = AgentError.invalidAnswer(
        .policyLimits, "the administrator's policy does not allow this app these keys")

    /// The lifetime after an answer to a manage prompt. A grant that is bound to a session or a process ends with it,
    /// because the grant belongs to this session or process and not to the app.
    func lifetime(
        _ parameters: AnswerParameters, instead former: Lifetime, of principal: Principal, _ prompt: Prompt
    ) throws(VarlinkError) -> Lifetime {
        guard let kind = parameters.lifetime, kind != former.kind || kind == .untilTime else { return former }
        guard principal.binding == .persistent else {
            throw AgentError.invalidAnswer(.lifetimeFixed, "this grant ends with its session or process")
        }
        return try lifetime(kind, parameters.expires, prompt)
    }

    func lifetime(
        _ kind: LifetimeKind, _ expires: String?, _ prompt: Prompt
    ) throws(VarlinkError) -> Lifetime {
        switch kind {
        case .untilRevoked: return .untilRevoked
        case .session: return .session
        case .process: return .process
        case .untilTime:
            guard let end = expires.flatMap(Timestamp.seconds), end > services.seconds else {
                throw AgentError.invalidAnswer(.malformed, "expires must be in the future")
            }
            let ruling = grants.ruling(of: prompt.session)
            if let latest = ruling.latestEnd(decidedAt: services.seconds), end > latest {
                throw AgentError.invalidAnswer(
                    .policyLimits,
                    "expires is later than the administrator's policy allows, or than the declaration of the app's folder"
                )
            }
            return .untilTime(end)
        }
    }

    /// An answer that changes nothing but the grant's terms.
    func keeping(
        _ grant: Grant, with keys: ContactKeySet, _ changes: ChangeRight, _ lifetime: Lifetime,
        of principal: Principal, _ prompt: Prompt, _ known: CallerAccess
    ) -> DecidedAnswer {
        let terms = GrantTerms(
            principal: principal, keys: keys, changes: changes, formerChanges: grant.changes, lifetime: lifetime,
            decidedAt: goesOn(known, prompt))
        return .terms(terms, of: grant)
    }
}

/// Answers that decide nothing about contacts.
extension AgentAnswers {
    func dismiss(
        _ prompt: Prompt, _ agent: Agent, _ call: Call, _ approved: Approval?, confirmed: Bool = false,
        neverAskAgain: Bool
    ) {
        if neverAskAgain { grants.silence(prompt.caller) }
        // Who opens an app's grant to look at it, and leaves, answers nothing.
        if prompt !== agent.own || confirmed || neverAskAgain {
            groupCommit.recordAnswer(
                to: prompt, from: AnswerSource(agent, approved), neverAskAgain ? "never ask again" : "dismissed")
        }
        groupCommit.reply(
            prompts.end(prompt, .dismissed, answeredBy: agent, isSilenced: neverAskAgain), to: call)
    }

    /// Ends *Never ask again* for the app that the person reviews, and its wait.
    func letAskAgain(_ prompt: Prompt, _ agent: Agent, _ call: Call) throws(VarlinkError) {
        let caller = prompt.caller
        guard prompt === agent.own, grants.isSilenced(caller) else {
            throw AgentError.invalidAnswer(.malformed, "the person does not review an app that may not ask")
        }
        for principal in caller.principals where access.silences.contains(principal) {
            access.silences.end(of: principal)
            groupCommit.record(
                .revocation, of: principal, detail: "asked again, " + AnswerSource(agent, nil).words)
        }
        _ = prompts.dropWaits(
            caller.uid, where: { $0 == caller.strength && $1 == caller.app }, connected: [], weak: false)
        groupCommit.reply(prompts.end(prompt, .dismissed, answeredBy: agent), to: call)
    }
}
