import AccessControl
import ContactsInterface
import ContactsModel
import ContactsStore
import JSON
import Policy
import Varlink

/// What apps may call.
extension Broker {
    private static let appMethods = Dictionary(
        uniqueKeysWithValues: ContactsMethod.allCases.map { (ContactsInterface.contacts.name + "." + $0.rawValue, $0) })

    /// - Parameter isAgain: it was begun before, and has waited its turn.
    func answerApp(_ call: Call, _ session: CallerSession, isAgain: Bool = false) {
        guard let method = Self.appMethods[call.method] else {
            call.fail(.methodNotFound(call.method))
            return
        }
        if !isAgain, auditPace.mayHold,
            auditPace.holds(call, session, { [weak self] in self?.answerApp(call, session) })
        {
            return
        }
        if isSettling, waitsForGrant(session, { [weak self] in self?.answerApp(call, session) }) { return }
        do throws(VarlinkError) {
            switch method {
            case .getAuthorization: try getAuthorization(call, session)
            case .requestAccess: try requestAccess(call, session)
            case .fetchContacts:
                Fetch(call: call, session: session, broker: self, try FetchContactsParameters(call.parameters)).begin()
            case .saveContacts:
                Save(call: call, session: session, broker: self, try SaveContactsParameters(call.parameters)).begin()
            case .requestContacts: try requestContacts(call, session)
            case .countContacts: try countContacts(call, session)
            case .listLinkedContacts: try listLinkedContacts(call, session)
            case .getUserDefaults: try getUserDefaults(call, session)
            case .setUserDefaults: try setUserDefaults(call, session)
            case .listContainers: try listContainers(call, session)
            case .listGroups: try listGroups(call, session)
            case .watchChanges: try watchChanges(call, session)
            case .fetchHistory:
                FetchHistory(call: call, session: session, broker: self, try FetchHistoryParameters(call.parameters))
                    .begin()
            case .manageAccess: try manageAccess(call, session)
            case .pickContacts: try pickContacts(call, session)
            case .proposeContact: try proposeContact(call, session)
            }
        } catch {
            call.fail(error)
        }
    }

    private func getAuthorization(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.parameters.count == 0 else { throw .invalidParameter(firstName(call.parameters)) }
        let standing = standing(of: session).standing
        call.reply {
            $0.member("status", standing.status.rawValue)
            guard case .granted(let grant) = standing, grant.access != .denied else { return }
            $0.member("keys", grant.keys.grantNames)
            if case .untilTime(let end) = grant.lifetime { $0.member("expires", Timestamp.text(seconds: end)) }
        }
    }

    func firstName(_ parameters: JSONValue) -> String {
        guard let members = parameters.members else { return "parameters" }
        for (name, _) in members { return name.string ?? "" }
        return "parameters"
    }

    private func requestAccess(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try RequestAccessParameters(call.parameters)
        let known = standing(of: session)
        switch decideRequest(known.standing, mayAsk: known.mayPrompt) {
        case .answer(let status):
            call.reply { $0.member("status", status.rawValue) }
        case .ask:
            let question = Question(kind: .access, purpose: parameters.purpose, keys: parameters.keys)
            ask(question, call, session) { [weak self] outcome in
                guard let self else { return }
                guard outcome != .noAgent else { return call.fail(ContactsError.noAgent) }
                call.reply { $0.member("status", self.standing(of: session).standing.status.rawValue) }
            }
        }
    }

    // MARK: Asking the person

    /// What the person is told about a call that needs their word.
    struct Question {
        var kind: PromptKind
        var isQuiet = false
        var purpose: String?
        var keys: ContactKeySet?
        var query: String?
        var caption: String?
        var ignored: [ContactPredicate] = []
        var pick: Pick?
        var proposal: Proposal?
    }

    /// Asks the person on behalf of a call; the call fails by itself where they may not be asked.
    func ask(
        _ question: Question, _ call: Call, _ session: CallerSession, done: @escaping (PromptOutcome) -> Void
    ) {
        do throws(Prompts.Refusal) {
            try prompts.mayAsk(question.kind, isQuiet: question.isQuiet, for: session.caller)
        } catch {
            return refuse(call, session, error)
        }
        guard mayBePromptedFor(call, session) else { return }
        // Opened before anybody is asked, so that an agent can be told how many contacts there are.
        books.with(session.caller.uid) { [weak self] result in
            guard let self, !call.isOver else { return }
            // While the book was opened another policy may have come into force.
            guard standing(of: session).mayPrompt else { return done(.dismissed) }
            switch result {
            case .success: raise(question, call, session, done: done)
            case .failure(let error): unavailable(call, error)
            }
        }
    }

    private func raise(
        _ question: Question, _ call: Call, _ session: CallerSession,
        done: @escaping (PromptOutcome) -> Void
    ) {
        guard let cookie = Self.randomName(), let key = IdentifierCipher.randomKey(),
            let rows = IdentifierCipher(key: key)
        else { return call.fail(ContactsError.storeUnavailable) }
        let prompt = Prompt(
            cookie: cookie, kind: question.kind, session: session, isQuiet: question.isQuiet,
            purpose: question.purpose, keys: question.keys?.intersection(ruling(of: session).maximumKeys),
            query: question.query, caption: question.caption,
            pick: question.pick, proposal: question.proposal, ignored: question.ignored, rows: rows)
        let reason = question.purpose.flatMap(purposeHash).map { " purpose:" + $0 }
        turn.record(.prompt, of: session.caller, detail: question.kind.rawValue + (reason ?? ""))
        do throws(Prompts.Refusal) {
            try prompts.ask(prompt, for: call, done: done)
        } catch {
            return refuse(call, session, error)
        }
        turn.work(committed: {})
    }

    func refuse(_ call: Call, _ session: CallerSession, _ refusal: Prompts.Refusal) {
        switch refusal {
        case .tooManyPrompts(let seconds):
            turn.record(.refusal, of: session.caller, detail: "too many prompts")
            turn.fail(ContactsError.tooManyPrompts(retryAfterSeconds: seconds), call)
        }
    }

    /// Tells a caller that its standing gives it nothing, and puts that on record.
    func refuse(_ call: Call, _ session: CallerSession, _ denial: Denial, _ status: AuthorizationStatus) {
        turn.record(.refusal, of: session.caller, { $0.status = status }, detail: String(call.name))
        switch denial {
        case .notDetermined: turn.fail(ContactsError.authorizationNotDetermined, call)
        case .denied, .restricted: turn.fail(ContactsError.accessDenied, call)
        }
    }

    /// 128 bits that nobody can guess, in hexadecimal digits; `nil` where the system has no randomness.
    static func randomName() -> String? {
        guard let key = IdentifierCipher.randomKey(), let cipher = IdentifierCipher(key: key) else { return nil }
        // One block under a key that is thrown away.
        return cipher.identifier(of: RecordNumber(0), as: .agentRow)
    }
}
