import BrokerAccessControl
import BrokerDisclosure
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// What the person is told about a call that needs their word.
struct Question {
    var kind: PromptKind
    /// As one line that the person may open.
    var isQuiet = false
    var purpose: String?
    var keys: ContactKeySet?
    var query: String?
    var caption: String?
    /// Contacts that hold one of these are not offered: the app said that it knows them.
    var ignored: [ContactPredicate] = []
    /// Of the one-time picker: what is wanted and what can be chosen.
    var pick: Pick?
    /// The card that the app offers.
    var proposal: Proposal?
}

/// Asks the person for apps, and tells apps that they get nothing.
struct Questions {
    let turn: Turn
    let grants: Grants
    let books: Books
    let prompts: Prompts
    let checks: ExecutableChecks
    let problems: StoreProblems

    /// Asks the person on behalf of a call; the call fails by itself where they may not be asked.
    ///
    /// - Parameter again: decides the call again, where its caller's executable had to be looked at first.
    func ask(
        _ question: Question, _ call: Call, _ session: CallerSession, again: @escaping () -> Void,
        done: @escaping (PromptOutcome) -> Void
    ) {
        do throws(VarlinkError) {
            try prompts.mayAsk(question.kind, isQuiet: question.isQuiet, for: session.caller)
        } catch {
            return refuse(call, session, error)
        }
        guard checks.mayBePromptedFor(call, session, again: again) else { return }
        // Opened before anybody is asked, so that an agent can be told how many contacts there are.
        books.with(session.caller.uid) { result in
            guard !call.isOver else { return }
            // While the book was opened another policy may have come into force.
            guard grants.standing(of: session).mayPrompt else { return done(.dismissed) }
            switch result {
            case .success: raise(question, call, session, done: done)
            case .failure(let error): problems.unavailable(call, error)
            }
        }
    }

    private func raise(
        _ question: Question, _ call: Call, _ session: CallerSession,
        done: @escaping (PromptOutcome) -> Void
    ) {
        var question = question
        question.keys?.formIntersection(grants.ruling(of: session).maximumKeys)
        guard let prompt = Prompt(question, of: session) else { return call.fail(ContactsError.storeUnavailable) }
        let reason = question.purpose.flatMap(purposeHash).map { " purpose:" + $0 }
        turn.record(.prompt, of: session.caller, detail: question.kind.rawValue + (reason ?? ""))
        do throws(VarlinkError) {
            try prompts.ask(prompt, for: call, done: done)
        } catch {
            return refuse(call, session, error)
        }
    }

    private func refuse(_ call: Call, _ session: CallerSession, _ error: VarlinkError) {
        turn.record(.refusal, of: session.caller, detail: "too many prompts")
        turn.fail(error, call)
    }

    /// Tells a caller that its standing gives it nothing, and puts that on record.
    func refuse(_ call: Call, _ session: CallerSession, _ denial: Denial, _ status: AuthorizationStatus) {
        turn.record(.refusal, of: session.caller, { $0.status = status }, detail: String(call.name))
        switch denial {
        case .notDetermined: turn.fail(ContactsError.authorizationNotDetermined, call)
        case .denied, .restricted: turn.fail(ContactsError.accessDenied, call)
        }
    }
}
