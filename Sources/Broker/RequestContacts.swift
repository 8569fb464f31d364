import AccessControl
import ContactsInterface
import ContactsModel
import ContactsStore
import JSON
import Policy
import Varlink

/// The access button: the person grants single contacts that match what the app searched for.
extension Broker {
    func requestContacts(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try RequestContactsParameters(call.parameters)
        // Without a letter or a digit it would match everybody.
        guard parameters.query.contains(where: { $0.isLetter || $0.isNumber }) else {
            throw .invalidParameter("query")
        }
        let known = standing(of: session)
        // Where a rule forces a refusal, what the person would grant counts for nothing.
        let mayAsk = known.mayPrompt && ruling(of: session).forcedLevel != .denied
        switch decideButton(known.standing, mayAsk: mayAsk) {
        case .answerEmpty: answerEmpty(call)
        case .refuse(let denial): refuse(call, session, denial, known.standing.status)
        case .ask(let isQuiet): askForContacts(call, session, parameters, isQuiet: isQuiet)
        }
    }

    /// What every prompt that granted nothing answers.
    func answerEmpty(_ call: Call) {
        call.reply { $0.member("identifiers", [String]()) }
    }

    private func askForContacts(
        _ call: Call, _ session: CallerSession, _ parameters: RequestContactsParameters, isQuiet: Bool
    ) {
        if isSilenced(session.caller) { return answerEmpty(call) }
        let question = Question(
            kind: .button, isQuiet: isQuiet, purpose: parameters.purpose, query: parameters.query,
            caption: parameters.caption?.rawValue, ignored: ignored(by: parameters))
        ask(question, call, session) { [weak self] in self?.answerNewlyGranted($0, call, session) }
    }

    /// Answers what the app can see since the prompt and could not before.
    func answerNewlyGranted(_ outcome: PromptOutcome, _ call: Call, _ session: CallerSession) {
        guard case .granted(let newly) = outcome else { return answerEmpty(call) }
        tell(newly, call, session)
    }

    /// Tells what was newly granted, as far as it still is: between the answer and now it may have been taken back.
    private func tell(_ newly: Set<RecordNumber>, _ call: Call, _ session: CallerSession) {
        let known = standing(of: session)
        guard case .permit(let disclosure) = decideAccess(known.standing, mayAsk: false),
            let principal = known.principal, let identifiers = known.identifiers
        else { return answerEmpty(call) }
        let records = newly.filter(disclosure.scope.contains).sorted()
        guard !records.isEmpty else { return answerEmpty(call) }
        var writer = DisclosedWriter(reservingCapacity: 32 + records.count * 36)
        writer.member("identifiers", records.map { identifiers.identifier(of: $0, as: .contact) })
        let basis = DisclosedReply.Basis(principal: principal, revision: disclosure.revision)
        turn.disclose(writer.reply(under: basis, telling: [.contacts(records, keys: [])]), to: call, session)
    }

    private func ignored(by parameters: RequestContactsParameters) -> [ContactPredicate] {
        Set(parameters.ignoredEmailAddresses).sorted().prefix(limits.ignoredAddresses).map { .emailAddress($0) }
            + Set(parameters.ignoredPhoneNumbers).sorted().prefix(limits.ignoredAddresses).map { .phoneNumber($0) }
    }

    /// Contacts that a prompt does not offer: the app sees them, or said that it knows them.
    func hidden(from prompt: Prompt) -> Set<RecordNumber> {
        guard prompt.kind == .button else { return [] }
        var hidden = prompt.ignoredRecords ?? []
        if case .granted(let grant) = standing(of: prompt.session).standing, case .limited(let granted) = grant.access {
            hidden.formUnion(granted)
        }
        return hidden
    }

    /// Whether it is known which contacts the app says it knows.
    func knowsIgnored(_ prompt: Prompt) -> Bool {
        prompt.kind != .button || prompt.ignored.isEmpty || prompt.ignoredRecords != nil
    }

    func ignoredQueries(of prompt: Prompt) -> [ContactQuery] {
        prompt.ignored.map {
            ContactQuery(scope: .all, predicate: $0, limit: limits.contactsPerTurn, byteLimit: limits.bytesPerTurn)
        }
    }
}
