import BrokerAccessControl
import BrokerBooks
import BrokerBounds
import BrokerDisclosure
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// The contents of a prompt that a call raises.
package struct Question {
    package var kind: PromptKind
    /// Whether the person denied the app before. If so, agents show the prompt as one line that the person
    /// may open.
    package var isQuiet = false
    package var purpose: String?
    /// The purpose as it is stored and recorded: its text is not.
    package var purposeHash: String? { purpose.flatMap { BrokerDisclosure.purposeHash(of: $0) } }
    package var keys: ContactKeySet?
    /// What the app wants to change; `nil` if it did not say.
    package var changes: ChangeRight?
    package var query: String?
    /// The app's name for an access button, with which it can change the query.
    package var token: String?
    package var caption: String?
    /// Contacts with one of these values are not offered, because the app said that it knows them.
    package var ignored: [ContactPredicate] = []
    /// For the one-time picker, the app's request with its rules.
    package var pick: Pick?
    /// The card that the app proposes.
    package var proposal: Proposal?
    /// The save that goes beyond what the app may change.
    package var save: ProposedSave?

    package init(
        kind: PromptKind, isQuiet: Bool = false, purpose: String? = nil, keys: ContactKeySet? = nil,
        changes: ChangeRight? = nil, query: String? = nil, token: String? = nil, caption: String? = nil,
        ignored: [ContactPredicate] = [],
        pick: Pick? = nil, proposal: Proposal? = nil, save: ProposedSave? = nil
    ) {
        self.kind = kind
        self.isQuiet = isQuiet
        self.purpose = purpose
        self.keys = keys
        self.changes = changes
        self.query = query
        self.token = token
        self.caption = caption
        self.ignored = ignored
        self.pick = pick
        self.proposal = proposal
        self.save = save
    }
}

/// Raises prompts for apps, and refuses calls that may not prompt the person.
package struct Questions {
    package let groupCommit: GroupCommit
    package let grants: Grants
    package let books: Books
    package let prompts: Prompts
    package let checks: ExecutableChecks
    package let problems: StoreProblems

    package init(
        groupCommit: GroupCommit, grants: Grants, books: Books, prompts: Prompts, checks: ExecutableChecks,
        problems: StoreProblems
    ) {
        self.groupCommit = groupCommit
        self.grants = grants
        self.books = books
        self.prompts = prompts
        self.checks = checks
        self.problems = problems
    }

    /// Prompts the person on behalf of a call. The call fails if the limits do not permit the prompt, except a call
    /// for more keys, and a save. For such a call, and for every call of an app about which the person chose never to be asked,
    /// no prompt is shown and the outcome is ``PromptOutcome/dismissed``.
    ///
    /// - Parameter done: gets the outcome; `nil` if the call must be decided again, because its caller's executable was
    ///   checked first, or the answer does not cover the caller.
    package func ask(
        _ question: Question, _ call: Call, _ session: CallerSession, done: @escaping (PromptOutcome?) -> Void
    ) {
        if grants.isSilenced(session.caller) { return done(.dismissed) }
        do throws(VarlinkError) {
            try prompts.mayAsk(question, for: session.caller, hasGrant: hasGrant(session))
        } catch {
            return refuse(question, call, session, error, done)
        }
        guard checks.mayBePromptedFor(call, session, { done(nil) }) else { return }
        // The book is opened before the prompt is raised, because the prompt's description contains the
        // number of contacts.
        books.with(session.caller.uid) { result in
            guard !call.isOver else { return }
            // A different policy may have come into force while the book was opened.
            guard grants.effectiveAccess(of: session).mayPrompt else { return done(.dismissed) }
            switch result {
            case .success: raise(question, call, session, done)
            case .failure(let error): problems.unavailable(call, error)
            }
        }
    }

    private func hasGrant(_ session: CallerSession) -> Bool {
        guard case .granted(let grant) = grants.effectiveAccess(of: session).effective else { return false }
        return grant.access != .denied
    }

    private func raise(
        _ question: Question, _ call: Call, _ session: CallerSession, _ done: @escaping (PromptOutcome?) -> Void
    ) {
        var question = question
        let ruling = grants.ruling(of: session)
        question.keys?.formIntersection(ruling.maximumKeys)
        question.changes = question.changes.map { min($0, ruling.maximumChanges) }
        guard let prompt = Prompt(question, of: session, hasGrant: hasGrant(session)) else {
            return call.fail(ContactsError.storeUnavailable)
        }
        let reason = question.purposeHash.map { " purpose:" + $0 }
        // Without an agent, an app could raise prompts as often as it likes. That is recorded once an hour, so the record must
        // not contain what the app can vary.
        prompt.record = { [groupCommit, kind = question.kind.rawValue] isShown in
            groupCommit.record(
                .prompt, of: session.caller, detail: isShown ? kind + (reason ?? "") : AuditRecord.notShown)
        }
        do throws(VarlinkError) {
            try prompts.ask(prompt, for: call) { [weak prompt] outcome in
                // The call joined a prompt of another process, and its own is gone. If the answer does not cover this
                // process, for example because it covers only another terminal session, the call asks for itself.
                let isForOthers =
                    prompt == nil && outcome != .dismissed && outcome != .noAgent
                    && grants.effectiveAccess(of: session).effective == .notDetermined
                done(isForOthers ? nil : outcome)
            }
        } catch {
            return refuse(question, call, session, error, done)
        }
    }

    private func refuse(
        _ question: Question, _ call: Call, _ session: CallerSession, _ error: VarlinkError,
        _ done: (PromptOutcome?) -> Void
    ) {
        groupCommit.record(.refusal, of: session.caller, detail: "too many prompts")
        // An app that has access must not fail because it may not ask for more. A save has an error of its own.
        guard question.kind != .keys, question.kind != .change else { return done(.dismissed) }
        groupCommit.fail(error, call)
    }

    /// Refuses a call that the app's effective access does not permit, and records the refusal.
    package func refuse(_ call: Call, _ session: CallerSession, _ denial: Denial, _ status: AuthorizationStatus) {
        groupCommit.record(.refusal, of: session.caller, { $0.status = status }, detail: String(call.name))
        switch denial {
        case .notDetermined: groupCommit.fail(ContactsError.authorizationNotDetermined, call)
        case .denied, .restricted: groupCommit.fail(grants.policy.accessDenied, call)
        }
    }
}
