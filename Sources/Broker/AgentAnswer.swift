import AccessControl
import AccessStore
import ContactsInterface
import ContactsModel
import ContactsStore
import Policy
import Varlink

/// What the person chose, checked and made to hold.
extension Broker {
    func answer(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        try answer(try AnswerParameters(call.parameters), call, session, approved: nil)
    }

    /// - Parameter approved: what the person gave their password for; `nil` while they have not been asked for it.
    func answer(
        _ parameters: AnswerParameters, _ call: Call, _ session: CallerSession, approved: Approval?
    ) throws(VarlinkError) {
        let (agent, prompt) = try shown(parameters.agent, parameters.cookie, session)
        guard !parameters.hasForeignFields(for: prompt.kind) else {
            throw AgentError.invalidAnswer("a field of another kind of prompt")
        }
        if let pick = prompt.pick, let picked = parameters.picked, !picked.isEmpty {
            // Counted here, and each looked at later: what was picked twice is refused then.
            let count = Set(picked.map(\.contact)).count
            if try wantsPassword(forPicking: count, prompt), approved == nil {
                return wantPassword(parameters, prompt, session, call, Approval(rows: []))
            }
            return try answer(pick, picked, prompt, agent, call, isApproved: approved != nil)
        }
        if let proposal = prompt.proposal, parameters.addProposed || parameters.mergeInto != nil {
            guard !parameters.addProposed || parameters.mergeInto == nil else {
                throw AgentError.invalidAnswer("a card is added or merged, not both")
            }
            return try answer(proposal, into: parameters.mergeInto, prompt, agent, call)
        }
        try withShown(parameters.agent, parameters.cookie, call, session) {
            [self] (agent, prompt, book) throws(StoreError) in
            guard let level = parameters.level else {
                dismiss(prompt, agent, neverAskAgain: parameters.neverAskAgain)
                return turn.reply(Array("{}".utf8), to: call)
            }
            var decided: Decided
            do throws(VarlinkError) {
                decided = try self.decided(
                    level, parameters, prompt, standing(of: prompt.session), book?.links ?? ContactLinks())
                // What was linked with a row while the password was typed is not what the person saw.
                if let approved { decided.rows.formIntersection(approved.rows) }
                if try wantsPassword(for: decided, prompt), approved == nil {
                    return wantPassword(parameters, prompt, session, call, Approval(rows: decided.rows))
                }
            } catch {
                return call.fail(error)
            }
            guard !decided.changesNothing else {
                dismiss(prompt, agent, neverAskAgain: parameters.neverAskAgain)
                return turn.reply(Array("{}".utf8), to: call)
            }
            // What was deleted while the person read is not granted.
            let existing = decided.rows.isEmpty ? [] : try book?.existing(decided.rows) ?? []
            hold(decided, rows: decided.rows.intersection(existing), parameters, prompt, agent, call)
        }
    }

    /// The rows that the person turned on and off, each with the cards that it is linked with now. A card whose own row
    /// was turned off stays off.
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
        for identifier in identifiers {
            guard let record = prompt.rows.record(identifier, as: .agentRow) else {
                throw AgentError.invalidAnswer("a row of no prompt, or of another one")
            }
            rows.insert(record)
        }
        return rows
    }

    private func dismiss(_ prompt: Prompt, _ agent: Agent, neverAskAgain: Bool) {
        if neverAskAgain { silence(prompt.caller) }
        turn.record(.answer, of: prompt.caller, detail: neverAskAgain ? "never ask again" : "dismissed")
        prompts.end(prompt, .dismissed, answering: agent)
    }

    /// An answer that makes sense: for whom, and what becomes of their grant.
    struct Decided {
        var principal: Principal
        var level: AnswerParameters.Level
        var keys: ContactKeySet
        var lifetime: Lifetime
        /// What a limited app sees already.
        var standing: Set<RecordNumber>
        /// What the person chose.
        var rows: Set<RecordNumber>
        /// What it shall not see any longer.
        var removed: Set<RecordNumber> = []
        /// The grant that this one takes the place of, where the person looks through it.
        var managed: Grant?
        /// Everything was shared before, by somebody's decision and not by the policy alone.
        var wasFull = false
        /// Its lifetime was chosen now, and is not that of a grant that goes on.
        var isFirst = false
        /// When the grant that goes on was decided, where that is what the policy counts from.
        var decidedAt: Int64?

        /// A look at a grant that leaves it as it is.
        var changesNothing: Bool {
            guard let managed, level.status == managed.access.status else { return false }
            return rows.isSubset(of: standing) && removed.isEmpty && keys == managed.keys
        }

        /// Whether it holds for longer than the terminal session that a caller like this is offered first.
        func outlastsItsSession(of caller: Caller) -> Bool {
            isFirst && principal.binding == .standing && caller.lifetimes.first == .session
        }

        /// Whether the app sees more than before.
        var widens: Bool {
            switch level {
            case .denied: return false
            case .full: return !wasFull
            case .limited:
                guard let managed, managed.access != .denied else { return true }
                return !rows.isSubset(of: standing) || !keys.isSubset(of: managed.keys)
            }
        }

        /// Whether the app sees less than before.
        var narrows: Bool {
            guard let managed else { return false }
            if !keys.isSuperset(of: managed.keys) || !removed.isEmpty { return true }
            switch (managed.access, level) {
            case (.full, .limited), (.full, .denied), (.limited, .denied): return true
            case (.full, .full), (.limited, .limited), (.limited, .full), (.denied, _): return false
            }
        }
    }

    private func decided(
        _ level: AnswerParameters.Level, _ parameters: AnswerParameters, _ prompt: Prompt, _ known: PrincipalStanding,
        _ links: ContactLinks
    ) throws(VarlinkError) -> Decided {
        let (rows, removed) = try self.rows(parameters, of: prompt, links)
        let isFirst = known.standing == .notDetermined
        switch (prompt.kind, level) {
        case (.access, .denied), (.access, .limited), (.access, .full): break
        case (.manage, .denied), (.manage, .limited), (.manage, .full): break
        case (.button, .denied):
            guard isFirst else { throw AgentError.invalidAnswer("the app's standing was decided before") }
        case (.button, .limited):
            guard !rows.isEmpty else { throw AgentError.invalidAnswer("no contact was chosen") }
        case (.button, .full): throw AgentError.invalidAnswer("full is not for the access button")
        case (.pick, _), (.propose, _):
            throw AgentError.invalidAnswer("this kind of prompt has no level")
        }
        guard level == .limited || (rows.isEmpty && removed.isEmpty) else {
            throw AgentError.invalidAnswer("contacts without limited")
        }
        try checkPolicy(level, prompt, known)
        if prompt.kind == .manage {
            return try managed(level, adding: rows, removing: removed, parameters, prompt, known)
        }
        if let byName = parameters.keys?.intersection(.byName), !byName.isEmpty,
            prompt.keys?.isSuperset(of: byName) != true
        {
            throw AgentError.invalidAnswer("notes or groups that were not asked for")
        }
        if case .granted(let counting) = known.standing, let principal = known.principal, counting.access != .denied {
            let grant = terms(of: counting, known)
            guard parameters.lifetime == nil || parameters.lifetime == grant.lifetime.kind else {
                throw AgentError.invalidAnswer("the lifetime of a standing grant is not changed here")
            }
            return Decided(
                principal: principal, level: level, keys: parameters.keys ?? grant.keys, lifetime: grant.lifetime,
                standing: grant.access.records, rows: rows, decidedAt: goesOn(known, prompt))
        }
        let lifetime = try lifetime(parameters, prompt)
        guard let principal = prompt.caller.principal(for: lifetime) else {
            throw AgentError.invalidAnswer("this caller cannot have a grant of that lifetime")
        }
        return Decided(
            principal: principal, level: level, keys: parameters.keys ?? Grant.ordinaryKeys, lifetime: lifetime,
            standing: [], rows: rows, isFirst: true)
    }

    /// Whether the policy lets the answer hold. The agent was told what it may offer; here it is made sure of.
    private func checkPolicy(
        _ level: AnswerParameters.Level, _ prompt: Prompt, _ known: PrincipalStanding
    ) throws(VarlinkError) {
        guard level != .denied else { return }
        let ruling = ruling(of: prompt.session)
        guard known.standing != .restricted, ruling.forcedLevel != .denied else {
            throw AgentError.invalidAnswer("the administrator's policy refuses this app")
        }
        guard level != .full || (!ruling.capsLevel && ruling.forcedLevel != .limited) else {
            throw AgentError.invalidAnswer("the administrator's policy allows this app single contacts at most")
        }
    }

    /// What counts, on the terms that were decided: what the policy cuts off it is not forgotten over one more contact.
    private func terms(of counting: Grant, _ known: PrincipalStanding) -> Grant {
        guard let decided = decided(known), decided.access != .denied else { return counting }
        var grant = counting
        grant.keys = decided.keys
        grant.lifetime = decided.lifetime
        return grant
    }

    /// A grant that goes on does not begin anew with one more contact: when it was decided, where the policy counts from that.
    private func goesOn(_ known: PrincipalStanding, _ prompt: Prompt) -> Int64? {
        guard let decided = decided(known), decided.access != .denied,
            ruling(of: prompt.session).maximumLifetime != nil
        else { return nil }
        return decided.decidedAt
    }

    /// What becomes of a grant that the person looked through. Its terms stay; a refusal can become a grant.
    private func managed(
        _ level: AnswerParameters.Level, adding rows: Set<RecordNumber>, removing removed: Set<RecordNumber>,
        _ parameters: AnswerParameters, _ prompt: Prompt, _ known: PrincipalStanding
    ) throws(VarlinkError) -> Decided {
        let (principal, grant): (Principal, Grant)
        if case .granted(let counting) = known.standing, let found = known.principal {
            (principal, grant) = (found, terms(of: counting, known))
        } else if level == .denied, let stored = stored(prompt.session) {
            // Taking back is the person's at any time, also while the policy refuses the app.
            (principal, grant) = stored
        } else {
            throw AgentError.invalidAnswer("what was granted has ended")
        }
        guard parameters.lifetime == nil || parameters.lifetime == grant.lifetime.kind else {
            throw AgentError.invalidAnswer("the lifetime of a standing grant is not changed here")
        }
        let keys = parameters.keys ?? grant.keys
        guard keys.intersection(.byName).isSubset(of: grant.keys) else {
            throw AgentError.invalidAnswer("notes or groups that were not asked for")
        }
        let standing = grant.access.records
        return Decided(
            principal: principal, level: level, keys: keys, lifetime: grant.lifetime, standing: standing, rows: rows,
            removed: removed.intersection(standing), managed: grant, wasFull: decided(known)?.access == .full,
            decidedAt: goesOn(known, prompt))
    }

    private func stored(_ session: CallerSession) -> (Principal, Grant)? {
        for principal in session.caller.principals {
            if let grant = access.grant(of: principal), !grant.hasExpired(at: seconds) { return (principal, grant) }
        }
        return nil
    }

    private func lifetime(_ parameters: AnswerParameters, _ prompt: Prompt) throws(VarlinkError) -> Lifetime {
        let caller = prompt.caller
        let kind = parameters.lifetime ?? caller.lifetimes.first ?? .process
        switch kind {
        case .untilTime:
            guard caller.lifetimes.contains(.untilRevoked) else {
                throw AgentError.invalidAnswer("this caller cannot have a grant of that lifetime")
            }
            guard let end = parameters.expires.flatMap(Timestamp.seconds), end > seconds else {
                throw AgentError.invalidAnswer("expires is no time to come")
            }
            if let longest = ruling(of: prompt.session).maximumLifetime, end > seconds + longest {
                throw AgentError.invalidAnswer("later than the administrator's policy allows")
            }
            return .untilTime(end)
        case .untilRevoked, .session, .process:
            guard caller.lifetimes.contains(kind) else {
                throw AgentError.invalidAnswer("this caller cannot have a grant of that lifetime")
            }
            switch kind {
            case .session: return .session
            case .process: return .process
            case .untilRevoked, .untilTime: return .untilRevoked
            }
        }
    }

    private func hold(
        _ decided: Decided, rows: Set<RecordNumber>, _ parameters: AnswerParameters, _ prompt: Prompt, _ agent: Agent,
        _ call: Call
    ) {
        let access: Access
        switch decided.level {
        case .denied: access = .denied
        case .limited: access = .limited(to: decided.standing.subtracting(decided.removed).union(rows))
        case .full: access = .full
        }
        var lifetime = decided.lifetime
        if lifetime == .untilRevoked, decided.decidedAt == nil, access != .denied,
            let longest = ruling(of: prompt.session).maximumLifetime
        {
            // As the person was told: it ends then, whatever becomes of the rule.
            lifetime = .untilTime(seconds + longest)
        }
        prompt.isAnswered = true
        if parameters.neverAskAgain, decided.level == .denied { silence(prompt.caller) }
        let grant = Grant(
            access: access, keys: decided.keys, lifetime: lifetime, revision: self.access.nextRevision(),
            decidedBy: .person, decidedAt: decided.decidedAt ?? seconds)
        turn.record(.answer, of: prompt.caller) {
            $0.status = access.status
            $0.count = rows.count
        }
        if decided.narrows {
            turn.record(.revocation, of: decided.principal, naming: decided.removed) {
                $0.status = access.status
                $0.keys = grant.keys
                $0.revision = grant.revision
                $0.count = decided.removed.count
            }
        }
        settle(
            grant, for: decided.principal, displayName: prompt.caller.displayName,
            sharesStandingKey: !prompt.caller.isInterpreter
        ) { [weak self] holds in
            guard let self else { return }
            scheduleExpiry()
            guard holds else {
                prompts.end(prompt, .dismissed, answering: agent)
                return call.fail(AgentError.invalidAnswer("the decision could not be recorded and does not hold"))
            }
            call.reply()
            let newly = rows.subtracting(decided.standing)
            prompts.end(prompt, decided.level == .denied ? .refused : .granted(newly: newly), answering: agent)
        }
        // What is added counts once it is on the disk; what is taken away is gone now.
        if decided.narrows { narrowed(decided.principal) }
    }
}

extension AnswerParameters.Level {
    var status: AuthorizationStatus {
        switch self {
        case .denied: .denied
        case .limited: .limited
        case .full: .full
        }
    }
}

extension Call {
    /// Answers with nothing but that it was done.
    func reply() {
        reply(Array("{}".utf8))
    }
}
