import BrokerAccessControl
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

/// One call of `Answer`. It may wait for the person's password. Then it is decided again, because the prompt may have
/// ended, or the policy may have changed.
struct PersonAnswer: PromptCall {
    typealias Services = AgentAnswers

    let call: Call
    let session: CallerSession
    let parameters: AnswerParameters
    /// The outcome of the password request, with the contacts that the answer would have granted.
    var answered: (rows: Set<RecordNumber>, verdict: Verdict)?

    var agent: String { parameters.agent }
    var cookie: String { parameters.cookie }

    func step(
        _ agent: Agent, _ prompt: Prompt, _ book: ContactsStore?, _ answers: AgentAnswers
    ) -> Step<Self> {
        do throws(VarlinkError) {
            var approved: Approval?
            if let answered {
                try answers.grants.policy.accept(answered.verdict)
                approved = Approval(rows: answered.rows, hasPassword: answered.verdict == .granted)
            }
            guard let needed = try answers.apply(parameters, call, approved, agent, prompt, book) else { return .done }
            return .wait(for: .password(needed, prompt))
        } catch {
            return fail(error)
        }
    }
}

/// The password that an answer needs: the contacts that the answer gives, and the access in words.
struct NeededPassword {
    var action = AuthorityAction.shareAll
    var rows: Set<RecordNumber> = []
    let access: String
}

extension Wait<PersonAnswer> {
    /// The person's password. The prompt stays open meanwhile.
    fileprivate static func password(_ needed: NeededPassword, _ prompt: Prompt) -> Wait {
        Wait { waiting in
            let (answers, value) = (waiting.services, waiting.value)
            let wanted = answers.passwords.want(
                needed.action, of: value.session, concerning: prompt.caller, app: prompt.caller.app,
                access: needed.access,
                mayInteract: true, for: value.call
            ) { verdict in
                waiting.value.answered = (needed.rows, verdict)
                waiting.resume()
            }
            if let wanted { answers.prompts.wait(prompt, for: wanted) }
        }
    }
}

extension AgentAnswers {
    /// Checks the answer and applies it. If it needs a password that was not asked for, returns the password instead.
    func apply(
        _ parameters: AnswerParameters, _ call: Call, _ approved: Approval?, _ agent: Agent, _ prompt: Prompt,
        _ book: ContactsStore?
    ) throws(VarlinkError) -> NeededPassword? {
        // Checked before anything takes effect. Otherwise the broker would report success although it cannot
        // silence the app.
        guard !parameters.neverAskAgain || grants.canSilence(prompt.caller) else {
            throw AgentError.invalidAnswer(
                .silencesFull,
                "“never ask again” is already set for \(services.limits.silences) apps; refuse this one, or reset some "
                    + "with contactctl reset")
        }
        if let pick = prompt.question.pick, let picked = parameters.picked, !picked.isEmpty {
            var chosen: [PickAnswers.Chosen] = []
            for value in picked { chosen.append((try prompt.record(ofRow: value.contact), value)) }
            let records = Set(chosen.map(\.record))
            if try rules.wantsPassword(forPicking: records, prompt), approved == nil {
                return NeededPassword(access: DecidedAnswer.words(records.count))
            }
            try picks.handOver(pick, chosen, prompt, agent, call, approved)
            return nil
        }
        if let proposal = prompt.question.proposal, parameters.addProposed || parameters.mergeInto != nil {
            guard !parameters.addProposed || parameters.mergeInto == nil else {
                throw AgentError.invalidAnswer(.malformed, "a card can be added or merged, not both")
            }
            if try rules.wantsPasswordForProposal(prompt), approved == nil {
                return NeededPassword(access: "nothing; the card that it offers is saved")
            }
            try proposals.take(proposal, parameters.card, into: parameters.mergeInto, prompt, agent, call, approved)
            return nil
        }
        let known = grants.effectiveAccess(of: prompt.session)
        var decided: DecidedAnswer
        if let level = parameters.level {
            decided = try self.decided(level, parameters, prompt, known, book)
        } else if prompt.kind == .keys, let keys = parameters.keys {
            decided = try addingKeys(keys, prompt, known)
        } else if let save = prompt.question.save, let allow = parameters.allow {
            try check(prompt, known)
            let raising = allow == .always ? try raisingChanges(prompt, known) : nil
            if let raising, !raising.changesNothing {
                decided = raising
            } else {
                if try rules.wantsPasswordForSave(prompt), approved == nil {
                    return NeededPassword(action: .change, access: save.words)
                }
                allowOnce(prompt, agent, call, approved)
                return nil
            }
        } else {
            dismiss(prompt, agent, call, approved, neverAskAgain: parameters.neverAskAgain)
            return nil
        }
        // The person did not see cards that were linked with a row, or that joined a group, during the password
        // request, so these cards are left out.
        if let approved { decided.chosen.keep(approved.rows) }
        if try rules.wantsPassword(for: decided, prompt), approved == nil {
            return NeededPassword(
                rows: decided.chosen.all,
                access: decided.accessWords(canGrow: rules.canGrow(decided, prompt))
                    + (rules.changesMany(prompt).map { "; and now it wants to " + $0 } ?? ""))
        }
        guard !decided.changesNothing else {
            dismiss(prompt, agent, call, approved, confirmed: true, neverAskAgain: parameters.neverAskAgain)
            return nil
        }
        // Contacts that were deleted meanwhile are not granted.
        let rows = decided.chosen.all
        do throws(StoreError) {
            if !rows.isEmpty { decided.chosen.keep(try book?.existing(rows) ?? []) }
        } catch {
            problems.unavailable(call, error)
            return nil
        }
        if approved == nil { rules.noteWithoutPassword(decided.added, prompt.caller) }
        hold(decided, parameters, prompt, agent, call, approved)
        return nil
    }
}
