import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Checks the person's answers and applies them.
struct AgentAnswers: UsesServices {
    let services: BrokerServices

    var rules: PasswordRules { PasswordRules(services: services) }
    var picks: PickAnswers { PickAnswers(services: services) }
    var proposals: ProposalAnswers { ProposalAnswers(services: services) }

    func answer(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try AnswerParameters(call.parameters)
        let (agent, prompt) = try shown(parameters.agent, parameters.cookie, session)
        prompt.query?.freeze()
        guard !parameters.hasForeignFields(for: prompt.kind) else {
            throw AgentError.invalidAnswer(.malformed, "a field belongs to another kind of prompt")
        }
        if parameters.mayAskAgain { return try letAskAgain(prompt, agent, call) }
        WaitingCall.run(PersonAnswer(call: call, session: session, parameters: parameters), self)
    }

    /// Returns the contacts whose rows the person turned on, and those whose rows the person turned off. Both
    /// include the cards that are currently linked with these contacts. A card whose own row was turned off
    /// stays off.
    private func rows(
        _ parameters: AnswerParameters, of prompt: Prompt, _ links: ContactLinks
    ) throws(VarlinkError) -> (on: Set<RecordNumber>, off: Set<RecordNumber>) {
        let on = try rows(parameters.identifiers, of: prompt)
        let off = try rows(parameters.removed, of: prompt).subtracting(on)
        let wholeOn = Set(on.flatMap(links.members)).subtracting(off)
        return (wholeOn, Set(off.flatMap(links.members)).subtracting(wholeOn))
    }

    private func rows(_ identifiers: [String], of prompt: Prompt) throws(VarlinkError) -> Set<RecordNumber> {
        var rows: Set<RecordNumber> = []
        for identifier in identifiers where prompt.group(ofRow: identifier) == nil {
            rows.insert(try prompt.record(ofRow: identifier))
        }
        return rows
    }

    /// The contact groups whose rows the person turned on, with the cards that each of them shares now.
    private func groups(
        _ identifiers: [String], of prompt: Prompt, _ book: ContactsStore?
    ) -> [RecordNumber: Set<RecordNumber>] {
        let groups = Set(identifiers.compactMap { prompt.group(ofRow: $0) })
        guard !groups.isEmpty, let book else { return [:] }
        return grants.shares.members(of: groups, in: book)
    }

    /// Checks the contact groups that the person turned on or off, and adds those turned on to the answer.
    private func withGroups(
        _ parameters: AnswerParameters, _ decided: DecidedAnswer, _ prompt: Prompt, _ book: ContactsStore?
    ) throws(VarlinkError) -> DecidedAnswer {
        var decided = decided
        let on = groups(parameters.identifiers, of: prompt, book)
        if !on.isEmpty {
            guard prompt.kind == .access || prompt.kind == .manage, decided.level == .limited else {
                throw Self.groupsWithoutLimited
            }
            decided.chosen.groups = on
            let former = access.grant(of: decided.terms.principal)?.groups.records ?? []
            guard former.union(on.keys).count <= StoreLimits.groupsPerGrant else {
                throw AgentError.invalidAnswer(
                    .tooManyGroups, "an app can have \(StoreLimits.groupsPerGrant) contact groups at most")
            }
        }
        let removed = Set(parameters.removed.compactMap { prompt.group(ofRow: $0) })
        guard !removed.isEmpty else { return decided }
        guard decided.level == .limited else { throw Self.groupsWithoutLimited }
        guard case .managing(var managed, let terms, let level, let chosen) = decided, let book else { return decided }
        let (off, former) = (removed.subtracting(on.keys), managed.grant.groups.records)
        guard !former.isDisjoint(with: off) else { return decided }
        managed.keptGroups = grants.shares.members(of: former.subtracting(off), in: book)
        return .managing(managed, terms, level, chosen)
    }

    private static let groupsWithoutLimited = AgentError.invalidAnswer(
        .malformed, "contact groups can be chosen only with the level limited")

    func decided(
        _ level: AnswerParameters.Level, _ parameters: AnswerParameters, _ prompt: Prompt, _ known: CallerAccess,
        _ book: ContactsStore?
    ) throws(VarlinkError) -> DecidedAnswer {
        let (rows, removed) = try self.rows(parameters, of: prompt, book?.links ?? ContactLinks())
        let isFirst = known.effective == .notDetermined
        switch (prompt.kind, level) {
        case (.access, .denied), (.access, .limited), (.access, .full): break
        case (.manage, .denied), (.manage, .limited), (.manage, .full): break
        case (.button, .denied):
            guard isFirst else {
                throw AgentError.invalidAnswer(.alreadyDecided, "the app's access was already decided")
            }
        case (.button, .limited):
            guard !rows.isEmpty else { throw AgentError.invalidAnswer(.malformed, "no contact was chosen") }
        case (.button, .full): throw AgentError.invalidAnswer(.malformed, "the access button cannot give full access")
        case (.pick, _), (.propose, _), (.keys, _), (.change, _):
            throw AgentError.invalidAnswer(.malformed, "this kind of prompt has no level")
        }
        guard level == .limited || (rows.isEmpty && removed.isEmpty) else {
            throw AgentError.invalidAnswer(.malformed, "contacts can be chosen only with the level limited")
        }
        try checkFull(level, prompt)
        try checkPolicy(level, prompt, known)
        if prompt.kind == .manage {
            let decided = try managed(level, adding: rows, removing: removed, parameters, prompt, known)
            return try withGroups(parameters, decided, prompt, book)
        }
        if let byName = parameters.keys?.intersection(.byName), !byName.isEmpty,
            prompt.question.keys?.isSuperset(of: byName) != true
        {
            throw AgentError.invalidAnswer(.malformed, "the app did not ask for these notes or groups")
        }
        if case .granted(let counting) = known.effective, let principal = known.principal, counting.access != .denied {
            let grant = terms(of: counting, known)
            guard parameters.lifetime == nil || parameters.lifetime == grant.lifetime.kind else {
                throw AgentError.invalidAnswer(
                    .lifetimeFixed, "the lifetime of an existing grant cannot be changed here")
            }
            try checkChanges(parameters, after: grant.changes, known)
            let terms = GrantTerms(
                principal: principal, keys: parameters.keys ?? grant.keys,
                changes: parameters.changes ?? grant.changes, formerChanges: grant.changes, lifetime: grant.lifetime,
                decidedAt: goesOn(known, prompt))
            let decided = DecidedAnswer.adding(terms, level, ChosenContacts(singly: rows), to: grant.access.records)
            return try withGroups(parameters, decided, prompt, book)
        }
        let lifetime = try lifetime(parameters, prompt)
        guard let principal = prompt.caller.principal(for: lifetime) else {
            throw AgentError.invalidAnswer(.malformed, "this app cannot have a grant of that lifetime")
        }
        try checkChanges(parameters, after: .none, known)
        let terms = GrantTerms(
            principal: principal, keys: parameters.keys ?? Grant.ordinaryKeys,
            changes: parameters.changes ?? min(Grant.firstChanges, known.ruling.maximumChanges), lifetime: lifetime)
        return try withGroups(parameters, .first(terms, level, ChosenContacts(singly: rows)), prompt, book)
    }

    /// Checks that the policy permits the answer. The prompt's description names these limits, but the agent
    /// may have ignored them.
    private func checkPolicy(
        _ level: AnswerParameters.Level, _ prompt: Prompt, _ known: CallerAccess
    ) throws(VarlinkError) {
        guard level != .denied else { return }
        let ruling = grants.ruling(of: prompt.session)
        guard known.effective != .restricted, ruling.forcedLevel != .denied else {
            throw AgentError.invalidAnswer(.policyDenies, "the administrator's policy denies this app")
        }
        guard ruling.contactGroups.isEmpty else {
            throw AgentError.invalidAnswer(
                .policySharesGroup,
                "the administrator's policy shares a contact group with this app, so no contacts can be chosen for it")
        }
        guard level != .full || (!ruling.capsLevel && ruling.forcedLevel != .limited) else {
            throw AgentError.invalidAnswer(
                .policyLimits, "the administrator's policy allows this app limited access at most")
        }
    }

    /// The effective access, but with the keys and lifetime of the stored grant. If a contact is added, the
    /// policy's limits must not be stored in the grant.
    private func terms(of counting: Grant, _ known: CallerAccess) -> Grant {
        var grant = counting
        guard let decided = grants.decided(known), decided.access != .denied else {
            // What only the policy gives must not become the person's grant.
            grant.changes = min(counting.changes, Grant.firstChanges)
            return grant
        }
        grant.keys = decided.keys
        grant.changes = decided.changes
        grant.lifetime = decided.lifetime
        return grant
    }

    /// Returns the time when the stored grant was decided, if the policy limits its lifetime; otherwise
    /// `nil`. The new grant keeps this time, because adding a contact must not extend the grant.
    func goesOn(_ known: CallerAccess, _ prompt: Prompt) -> Int64? {
        guard let decided = grants.decided(known), decided.access != .denied,
            grants.ruling(of: prompt.session).maximumLifetime != nil
        else { return nil }
        return decided.decidedAt
    }

    /// The answer to a manage prompt. A denied app can get access.
    private func managed(
        _ level: AnswerParameters.Level, adding rows: Set<RecordNumber>, removing removed: Set<RecordNumber>,
        _ parameters: AnswerParameters, _ prompt: Prompt, _ known: CallerAccess
    ) throws(VarlinkError) -> DecidedAnswer {
        let (principal, grant): (Principal, Grant)
        if case .granted(let counting) = known.effective, let found = known.principal {
            (principal, grant) = (found, terms(of: counting, known))
        } else if level == .denied, let stored = stored(prompt.session) {
            // The person can deny access at any time, even while the policy denies the app.
            (principal, grant) = stored
        } else {
            throw AgentError.invalidAnswer(.grantEnded, "the grant has ended")
        }
        let lifetime = try lifetime(parameters, instead: grant.lifetime, of: principal, prompt)
        if let keys = parameters.keys { try checkAdded(keys.subtracting(grant.keys), to: grants.decided(known), known) }
        // The right of a denied grant does not show what the app may change.
        let former: ChangeRight = grant.access == .denied ? .none : grant.changes
        try checkChanges(parameters, after: former, known)
        if let stored = grants.decided(known), changesTermsOnly(parameters, level, grant, stored) {
            return keeping(
                stored, with: parameters.keys ?? stored.keys, parameters.changes ?? stored.changes, lifetime,
                of: principal, prompt, known)
        }
        // After records were lost, grants are denied and have no keys.
        let isBare = grant.access == .denied && grant.keys.isEmpty
        let keys = parameters.keys ?? (isBare ? Grant.ordinaryKeys : grant.keys)
        let isAllowed = grant.access == .denied && level != .denied
        let changes = isAllowed ? min(Grant.firstChanges, known.ruling.maximumChanges) : grant.changes
        let terms = GrantTerms(
            principal: principal, keys: keys, changes: parameters.changes ?? changes, formerChanges: former,
            lifetime: lifetime, decidedAt: goesOn(known, prompt))
        let managed = ManagedGrant(
            grant: grant, wasFull: grants.decided(known)?.access == .full,
            removed: removed.intersection(grant.access.records))
        return .managing(managed, terms, level, ChosenContacts(singly: rows))
    }

    private func stored(_ session: CallerSession) -> (Principal, Grant)? {
        for principal in session.caller.principals {
            if let grant = access.grant(of: principal), !grant.hasExpired(at: services.seconds) {
                return (principal, grant)
            }
        }
        return nil
    }

    private func lifetime(_ parameters: AnswerParameters, _ prompt: Prompt) throws(VarlinkError) -> Lifetime {
        let caller = prompt.caller
        let kind = parameters.lifetime ?? caller.lifetimes.first ?? .process
        guard caller.lifetimes.contains(kind == .untilTime ? .untilRevoked : kind) else {
            throw AgentError.invalidAnswer(.malformed, "this app cannot have a grant of that lifetime")
        }
        return try lifetime(kind, parameters.expires, prompt)
    }

    func hold(
        _ decided: DecidedAnswer, _ parameters: AnswerParameters, _ prompt: Prompt, _ agent: Agent, _ call: Call,
        _ approved: Approval?
    ) {
        let (source, access) = (AnswerSource(agent, approved), decided.access)
        let terms = decided.terms
        var lifetime = terms.lifetime
        if lifetime == .untilRevoked, terms.decidedAt == nil, access != .denied,
            let latest = grants.ruling(of: prompt.session).latestEnd(decidedAt: services.seconds)
        {
            // The prompt showed this end to the person. A later change to the policy rule, or a new declaration of the
            // app's folder, does not change the stored end.
            lifetime = .untilTime(latest)
        }
        prompt.isAnswered = true
        let isSilenced = parameters.neverAskAgain && decided.level == .denied
        if isSilenced { grants.silence(prompt.caller) }
        let former = self.access.grant(of: terms.principal)
        // Who decided, when and through what always belong to one decision.
        let goesOn = access == .denied || terms.decidedAt == nil ? nil : former
        var grant = Grant(
            access: access, keys: terms.keys, changes: terms.changes, lifetime: lifetime,
            revision: self.access.nextRevision(),
            decidedBy: goesOn?.decidedBy ?? .person,
            decidedThrough: goesOn == nil ? source.words : goesOn?.decidedThrough,
            decidedAt: goesOn?.decidedAt ?? services.seconds)
        if !decided.isFirst, former?.access != .denied { grant.keepDenial() }
        if case .terms(_, let kept) = decided { grant.own = kept.own }
        grant.asked = (former?.asked ?? []).union(prompt.question.keys?.intersection(.byName) ?? [])
        grant.purposeHash = prompt.question.purposeHash ?? former?.purposeHash
        grant.purpose = prompt.question.purpose ?? former?.purpose
        // A first decision starts without the groups of a grant that the policy has ended.
        if !decided.isFirst, let former, former.access.status == .limited {
            grant.groups = former.groups
            if case .managing(let managed, _, _, _) = decided {
                if let kept = managed.keptGroups { grant.leaveGroups(except: kept) }
                grant.revoke(managed.removed)
            }
            grant.share(decided.chosen.singly)
        }
        // The members of a group join as members, so that they leave with the group.
        for (group, members) in decided.chosen.groups { grant.share(group: group, members: members) }
        groupCommit.recordAnswer(to: prompt, from: source) {
            $0.status = access.status
            $0.count = decided.chosen.all.count
        }
        if decided.narrows {
            let left = decided.left(granting: grant)
            groupCommit.record(.revocation, of: terms.principal, naming: left) {
                $0.status = access.status
                $0.keys = grant.keys
                $0.revision = grant.revision
                $0.count = left.count
            }
        }
        grants.settle(
            grant, for: terms.principal, displayName: prompt.caller.displayName,
            sharesPersistentKey: !prompt.caller.isInterpreter
        ) { holds in
            grants.scheduleExpiry()
            guard holds else {
                prompts.end(prompt, .dismissed, answering: agent)
                return call.fail(
                    AgentError.invalidAnswer(.notRecorded, "the decision could not be recorded, so it has no effect"))
            }
            var outcome: PromptOutcome = decided.level == .denied ? .refused : .granted(newly: decided.added)
            if let asOf = prompt.asOf { outcome = .allowed(asOf: asOf, withPassword: approved != nil) }
            call.reply(prompts.end(prompt, outcome, answeredBy: agent, isSilenced: isSilenced))
        }
        // Added contacts take effect after the sync, but replies under the former grant are withdrawn at
        // once.
        if decided.narrows { grants.narrowed(terms.principal) }
    }
}
