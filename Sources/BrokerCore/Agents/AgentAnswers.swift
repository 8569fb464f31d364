import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// Checks the person's answers and applies them.
struct AgentAnswers {
    let surroundings: Surroundings
    let access: AccessStore
    let groupCommit: GroupCommit
    let grants: Grants
    let prompts: Prompts
    let passwords: Passwords
    let shown: ShownPrompts
    let rules: PasswordRules
    let picks: PickAnswers
    let proposals: ProposalAnswers

    func answer(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        try answer(try AnswerParameters(call.parameters), call, session, approved: nil)
    }

    /// - Parameter approved: `nil` if no password has been requested yet.
    func answer(
        _ parameters: AnswerParameters, _ call: Call, _ session: CallerSession, approved: Approval?
    ) throws(VarlinkError) {
        let (agent, prompt) = try shown.shown(parameters.agent, parameters.cookie, session)
        prompt.query?.freeze()
        guard !parameters.hasForeignFields(for: prompt.kind) else {
            throw AgentError.invalidAnswer(.malformed, "a field belongs to another kind of prompt")
        }
        // Checked before anything takes effect. Otherwise the broker would report success although it cannot
        // silence the app.
        guard !parameters.neverAskAgain || grants.canSilence(prompt.caller) else {
            throw AgentError.invalidAnswer(
                .silencesFull,
                "“never ask again” is already set for \(surroundings.limits.silences) apps; refuse this one, or reset some "
                    + "with contactctl reset")
        }
        if let pick = prompt.question.pick, let picked = parameters.picked, !picked.isEmpty {
            var chosen: [PickAnswers.Chosen] = []
            for value in picked { chosen.append((try prompt.record(ofRow: value.contact), value)) }
            let records = Set(chosen.map(\.record))
            if try rules.wantsPassword(forPicking: records, prompt), approved == nil {
                return askPassword(
                    parameters, prompt, session, call, for: [], giving: DecidedAnswer.words(records.count))
            }
            return try picks.handOver(pick, chosen, prompt, agent, call, approved)
        }
        if let proposal = prompt.question.proposal, parameters.addProposed || parameters.mergeInto != nil {
            guard !parameters.addProposed || parameters.mergeInto == nil else {
                throw AgentError.invalidAnswer(.malformed, "a card can be added or merged, not both")
            }
            if try rules.wantsPasswordForProposal(prompt), approved == nil {
                return askPassword(
                    parameters, prompt, session, call, for: [], giving: "nothing; the card that it offers is saved")
            }
            return try proposals.take(
                proposal, parameters.card, into: parameters.mergeInto, prompt, agent, call, approved)
        }
        try shown.withShown(parameters.agent, parameters.cookie, call, session) {
            (agent, prompt, book) throws(StoreError) in
            guard parameters.level != nil || prompt.kind == .keys && parameters.keys != nil else {
                return dismiss(prompt, agent, call, approved, neverAskAgain: parameters.neverAskAgain)
            }
            var decided: DecidedAnswer
            do throws(VarlinkError) {
                let known = grants.effectiveAccess(of: prompt.session)
                if let level = parameters.level {
                    decided = try self.decided(level, parameters, prompt, known, book?.links ?? ContactLinks())
                } else {
                    decided = try addingKeys(parameters.keys ?? [], prompt, known)
                }
                try share(groups(parameters.identifiers, of: prompt, book), by: &decided, prompt)
                try revoke(Set(parameters.removed.compactMap { prompt.group(ofRow: $0) }), by: &decided, book)
                // The person did not see cards that were linked with a row, or that joined a group, during the password
                // request, so these cards are left out.
                if let approved { decided.keep(approved.rows) }
                if try rules.wantsPassword(for: decided, prompt), approved == nil {
                    return askPassword(
                        parameters, prompt, session, call, for: decided.rows, giving: decided.accessWords)
                }
            } catch {
                return call.fail(error)
            }
            guard !decided.changesNothing else {
                return dismiss(prompt, agent, call, approved, neverAskAgain: parameters.neverAskAgain)
            }
            // Contacts that were deleted meanwhile are not granted.
            if !decided.rows.isEmpty { decided.keep(try book?.existing(decided.rows) ?? []) }
            if approved == nil { rules.noteWithoutPassword(decided.added, prompt.caller) }
            hold(decided, parameters, prompt, agent, call, approved)
        }
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

    private func share(
        _ groups: [RecordNumber: Set<RecordNumber>], by decided: inout DecidedAnswer, _ prompt: Prompt
    ) throws(VarlinkError) {
        guard !groups.isEmpty else { return }
        guard prompt.kind == .access || prompt.kind == .manage, decided.level == .limited else {
            throw Self.groupsWithoutLimited
        }
        decided.groups = groups
        decided.canGrow = !prompt.caller.strength.isAssumable
        let former = access.grant(of: decided.principal)?.groups.records ?? []
        guard former.union(groups.keys).count <= GrantedGroups.most else {
            throw AgentError.invalidAnswer(
                .tooManyGroups, "an app can have \(GrantedGroups.most) contact groups at most")
        }
    }

    /// - Parameter groups: the contact groups that the person turned off.
    private func revoke(
        _ groups: Set<RecordNumber>, by decided: inout DecidedAnswer, _ book: ContactsStore?
    ) throws(VarlinkError) {
        guard !groups.isEmpty else { return }
        guard decided.level == .limited else { throw Self.groupsWithoutLimited }
        let off = groups.subtracting(decided.groups.keys)
        guard let former = decided.managed?.groups.records, !former.isDisjoint(with: off), let book else { return }
        decided.keptGroups = grants.shares.members(of: former.subtracting(off), in: book)
    }

    private static let groupsWithoutLimited = AgentError.invalidAnswer(
        .malformed, "contact groups can be chosen only with the level limited")

    private func dismiss(
        _ prompt: Prompt, _ agent: Agent, _ call: Call, _ approved: Approval?, neverAskAgain: Bool
    ) {
        if neverAskAgain { grants.silence(prompt.caller) }
        groupCommit.recordAnswer(
            to: prompt, from: AnswerSource(agent, approved), neverAskAgain ? "never ask again" : "dismissed")
        groupCommit.reply(
            prompts.end(prompt, .dismissed, answeredBy: agent, isSilenced: neverAskAgain), to: call)
    }

    /// Asks for the password that an answer needs, and then checks the answer again. The prompt may have
    /// ended, or the policy may have changed.
    private func askPassword(
        _ parameters: AnswerParameters, _ prompt: Prompt, _ session: CallerSession, _ call: Call,
        for rows: Set<RecordNumber>, giving access: String
    ) {
        let wanted = passwords.want(
            .shareAll, of: session, concerning: prompt.caller, app: prompt.caller.app, access: access,
            mayInteract: true, for: call
        ) { verdict in
            do throws(VarlinkError) {
                _ = try shown.shown(parameters.agent, parameters.cookie, session)
                try grants.policy.accept(verdict)
                try answer(
                    parameters, call, session, approved: Approval(rows: rows, hasPassword: verdict == .granted))
            } catch {
                call.fail(error)
            }
        }
        if let wanted { prompts.wait(prompt, for: wanted) }
    }

    private func decided(
        _ level: AnswerParameters.Level, _ parameters: AnswerParameters, _ prompt: Prompt, _ known: CallerAccess,
        _ links: ContactLinks
    ) throws(VarlinkError) -> DecidedAnswer {
        let (rows, removed) = try self.rows(parameters, of: prompt, links)
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
        case (.pick, _), (.propose, _), (.keys, _):
            throw AgentError.invalidAnswer(.malformed, "this kind of prompt has no level")
        }
        guard level == .limited || (rows.isEmpty && removed.isEmpty) else {
            throw AgentError.invalidAnswer(.malformed, "contacts can be chosen only with the level limited")
        }
        try checkFull(level, prompt)
        try checkPolicy(level, prompt, known)
        if prompt.kind == .manage {
            return try managed(level, adding: rows, removing: removed, parameters, prompt, known)
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
            return DecidedAnswer(
                principal: principal, level: level, keys: parameters.keys ?? grant.keys, lifetime: grant.lifetime,
                granted: grant.access.records, singly: rows, decidedAt: goesOn(known, prompt))
        }
        let lifetime = try lifetime(parameters, prompt)
        guard let principal = prompt.caller.principal(for: lifetime) else {
            throw AgentError.invalidAnswer(.malformed, "this app cannot have a grant of that lifetime")
        }
        return DecidedAnswer(
            principal: principal, level: level, keys: parameters.keys ?? Grant.ordinaryKeys, lifetime: lifetime,
            granted: [], singly: rows, isFirst: true)
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
        guard let decided = grants.decided(known), decided.access != .denied else { return counting }
        var grant = counting
        grant.keys = decided.keys
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
        if let stored = grants.decided(known), changesTermsOnly(parameters, level, grant, stored) {
            return keeping(stored, with: parameters.keys ?? stored.keys, lifetime, of: principal, prompt, known)
        }
        // After records were lost, grants are denied and have no keys.
        let isBare = grant.access == .denied && grant.keys.isEmpty
        let keys = parameters.keys ?? (isBare ? Grant.ordinaryKeys : grant.keys)
        let granted = grant.access.records
        return DecidedAnswer(
            principal: principal, level: level, keys: keys, lifetime: lifetime, granted: granted, singly: rows,
            removed: removed.intersection(granted), managed: grant, wasFull: grants.decided(known)?.access == .full,
            decidedAt: goesOn(known, prompt))
    }

    private func stored(_ session: CallerSession) -> (Principal, Grant)? {
        for principal in session.caller.principals {
            if let grant = access.grant(of: principal), !grant.hasExpired(at: surroundings.seconds) {
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

    private func hold(
        _ decided: DecidedAnswer, _ parameters: AnswerParameters, _ prompt: Prompt, _ agent: Agent, _ call: Call,
        _ approved: Approval?
    ) {
        let source = AnswerSource(agent, approved)
        let access = decided.access
        var lifetime = decided.lifetime
        if lifetime == .untilRevoked, decided.decidedAt == nil, access != .denied,
            let latest = grants.ruling(of: prompt.session).latestEnd(decidedAt: surroundings.seconds)
        {
            // The prompt showed this end to the person. A later change to the policy rule, or a new declaration of the
            // app's folder, does not change the stored end.
            lifetime = .untilTime(latest)
        }
        prompt.isAnswered = true
        if parameters.neverAskAgain, decided.level == .denied { grants.silence(prompt.caller) }
        var grant = Grant(
            access: access, keys: decided.keys, lifetime: lifetime, revision: self.access.nextRevision(),
            decidedBy: .person, decidedThrough: source.words, decidedAt: decided.decidedAt ?? surroundings.seconds)
        grant.own = decided.kept?.own ?? []
        let former = self.access.grant(of: decided.principal)
        grant.asked = (former?.asked ?? []).union(prompt.question.keys?.intersection(.byName) ?? [])
        grant.purposeHash = prompt.question.purposeHash ?? former?.purposeHash
        // A first decision starts without the groups of a grant that the policy has ended.
        if !decided.isFirst, let former, former.access.status == .limited {
            grant.groups = former.groups
            if let kept = decided.keptGroups { grant.leaveGroups(except: kept) }
            grant.revoke(decided.removed)
            grant.share(decided.singly)
        }
        // The members of a group join as members, so that they leave with the group.
        for (group, members) in decided.groups { grant.share(group: group, members: members) }
        groupCommit.recordAnswer(to: prompt, from: source) {
            $0.status = access.status
            $0.count = decided.rows.count
        }
        if decided.narrows {
            let left =
                decided.keptGroups == nil ? decided.removed : decided.granted.subtracting(grant.access.records)
            groupCommit.record(.revocation, of: decided.principal, naming: left) {
                $0.status = access.status
                $0.keys = grant.keys
                $0.revision = grant.revision
                $0.count = left.count
            }
        }
        grants.settle(
            grant, for: decided.principal, displayName: prompt.caller.displayName,
            sharesPersistentKey: !prompt.caller.isInterpreter
        ) { holds in
            grants.scheduleExpiry()
            guard holds else {
                prompts.end(prompt, .dismissed, answering: agent)
                return call.fail(
                    AgentError.invalidAnswer(.notRecorded, "the decision could not be recorded, so it has no effect"))
            }
            let outcome: PromptOutcome = decided.level == .denied ? .refused : .granted(newly: decided.added)
            let isSilenced = parameters.neverAskAgain && decided.level == .denied
            call.reply(prompts.end(prompt, outcome, answeredBy: agent, isSilenced: isSilenced))
        }
        // Added contacts take effect after the sync, but replies under the former grant are withdrawn at
        // once.
        if decided.narrows { grants.narrowed(decided.principal) }
    }
}

extension Call {
    /// Replies without parameters.
    func reply() {
        reply(Array("{}".utf8))
    }
}
