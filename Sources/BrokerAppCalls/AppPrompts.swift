import BrokerAccessControl
import BrokerBounds
import BrokerCalls
import BrokerDisclosure
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink
import Dispatch

/// A call that prompts the person. It is answered with what the person did.
private struct PromptingCall: AppCall {
    let call: Call
    let session: CallerSession
    /// Decides the call: returns the question to the person, or answers the call and returns `nil`.
    let decide: (CallerAccess) throws(VarlinkError) -> Question?
    /// Answers the call once the person was asked.
    let answer: (PromptOutcome) -> Void
    var asked = Asked.notYet

    func step(_ services: BrokerServices) -> Step<Self> {
        if case .answered(let outcome) = asked {
            answer(outcome)
            return .done
        }
        do throws(VarlinkError) {
            guard let question = try decide(services.grants.accessForCall(by: session)) else { return .done }
            return .wait(for: .answer(to: question))
        } catch {
            call.fail(error)
            return .done
        }
    }
}

/// Calls that prompt the person, and `GetAuthorization`.
struct AppPrompts {
    let services: BrokerServices

    private func prompt(
        _ call: Call, _ session: CallerSession, _ decide: @escaping (CallerAccess) throws(VarlinkError) -> Question?,
        answer: @escaping (PromptOutcome) -> Void
    ) {
        WaitingCall.run(PromptingCall(call: call, session: session, decide: decide, answer: answer), services)
    }

    func getAuthorization(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.parameters.count == 0 else { throw .invalidParameter(call.firstParameter) }
        let effective = services.grants.accessForCall(by: session).effective
        call.reply {
            $0.member("status", effective.status.rawValue)
            guard case .granted(let grant) = effective, grant.access != .denied else { return }
            $0.member("keys", grant.keys.grantNames)
            $0.member("changes", grant.changes.rawValue)
            if case .untilTime(let end) = grant.lifetime { $0.member("expires", Timestamp.text(seconds: end)) }
        }
    }

    func requestAccess(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try RequestAccessParameters(call.parameters)
        var kind = PromptKind.access
        prompt(call, session) { (known) throws(VarlinkError) in
            let lacking = services.grants.lacked(of: parameters.keys, known)
            switch decideRequest(known.effective, lacking: lacking, mayAsk: known.mayPrompt) {
            case .answer(let status):
                call.reply {
                    $0.member("status", status.rawValue)
                    $0.member("reason", services.grants.policy.unreadable?.rawValue)
                }
                return nil
            case .askForKeys(let keys):
                services.grants.noteAsked(keys, known)
                kind = .keys
                return Question(kind: kind, purpose: parameters.purpose, keys: keys)
            case .ask:
                kind = .access
                return Question(
                    kind: kind, purpose: parameters.purpose, keys: parameters.keys, changes: parameters.changes)
            }
        } answer: { outcome in
            // An app that asked for keys has access already. It gets its level whatever the person answers, also if no
            // agent serves.
            if kind == .access, outcome == .noAgent { return call.fail(ContactsError.noAgent) }
            call.reply { $0.member("status", services.grants.effectiveAccess(of: session).effective.status.rawValue) }
        }
    }

    // MARK: The access button

    func requestContacts(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try RequestContactsParameters(call.parameters)
        prompt(call, session) { (known) throws(VarlinkError) in
            // If a policy rule forces a denial, a grant by the person would have no effect.
            let mayAsk = known.mayPrompt && known.ruling.forcedLevel != .denied
            switch decideButton(known.effective, mayAsk: mayAsk) {
            case .answerEmpty: answerEmpty(call)
            case .refuse(let denial): services.questions.refuse(call, session, denial, known.effective.status)
            case .ask(let isQuiet):
                return Question(
                    kind: .button, isQuiet: isQuiet, purpose: parameters.purpose, query: parameters.query,
                    token: parameters.token, caption: parameters.caption?.rawValue, ignored: ignored(by: parameters))
            }
            return nil
        } answer: {
            answerNewlyGranted($0, call, session)
        }
    }

    /// Changes the query of an open access button. The reply does not reveal whether there is one.
    func updateRequest(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try UpdateRequestParameters(call.parameters)
        services.questions.prompts.update(parameters.query, ofRequest: parameters.token, by: session.caller)
        call.reply()
    }

    /// Replies with no contacts. The reply does not reveal why nothing was granted.
    private func answerEmpty(_ call: Call) {
        call.reply { $0.member("identifiers", [String]()) }
    }

    /// Replies with the contacts that this prompt added to the app's effective access.
    private func answerNewlyGranted(_ outcome: PromptOutcome, _ call: Call, _ session: CallerSession) {
        // The grant may have been revoked since the person answered.
        guard case .granted(let newly) = outcome, let context = services.grants.readContext(of: session) else {
            return answerEmpty(call)
        }
        let records = newly.filter(context.disclosure.scope.contains).sorted()
        guard !records.isEmpty else { return answerEmpty(call) }
        var writer = DisclosedWriter(reservingCapacity: 32 + records.count * 36)
        writer.member("identifiers", records.map { context.identifiers.identifier(of: $0, as: .contact) })
        services.groupCommit.disclose(
            writer.reply(under: context.basis, recording: [.contacts(records, keys: [])]), to: call, session)
    }

    private func ignored(by parameters: RequestContactsParameters) -> [ContactPredicate] {
        let most = services.limits.ignoredAddresses
        return Set(parameters.ignoredEmailAddresses.prefix(most)).sorted().map { .emailAddress($0) }
            + Set(parameters.ignoredPhoneNumbers.prefix(most)).sorted().map { .phoneNumber($0) }
    }

    // MARK: The access picker

    /// Prompts the person to review the contacts that an app may see. The person may add and remove some.
    func manageAccess(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ManageAccessParameters(call.parameters)
        prompt(call, session) { (known) throws(VarlinkError) in
            switch decideManage(known.effective, mayAsk: known.mayPrompt) {
            case .ask: return Question(kind: .manage, purpose: parameters.purpose)
            case .answerEmpty: answerEmpty(call)
            }
            return nil
        } answer: {
            answerNewlyGranted($0, call, session)
        }
    }

    // MARK: The one-time picker

    /// Prompts the person to pick single contacts or values for this call. The app's grant does not change.
    func pickContacts(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try PickContactsParameters(call.parameters)
        prompt(call, session) { (known) throws(VarlinkError) in
            switch decideOffer(known.effective, mayAsk: known.mayPrompt) {
            case .refuse(let denial): services.questions.refuse(call, session, denial, known.effective.status)
            case .answerEmpty: answerNothingPicked(call)
            case .ask(let isQuiet):
                return Question(
                    kind: .pick, isQuiet: isQuiet, purpose: parameters.purpose, keys: parameters.keys,
                    pick: try pick(parameters, known))
            }
            return nil
        } answer: { outcome in
            guard case .picked(let picked) = outcome else { return answerNothingPicked(call) }
            services.checks.whenStillItself(session, call) { handOver(picked, call, session) }
        }
    }

    private func pick(_ parameters: PickContactsParameters, _ known: CallerAccess) throws(VarlinkError) -> Pick {
        // Both the requested keys and the rules reveal something about the picked contact. A key of
        // ``ContactKeySet/named``, such as notes, therefore needs a grant with that key.
        var granted = ContactKeySet()
        if case .granted(let grant) = known.effective, grant.access != .denied { granted = grant.keys }
        let unauthorized = parameters.namedKeys.intersection(.named).subtracting(granted)
        guard unauthorized.isEmpty else { throw ContactsError.unauthorizedKeys(unauthorized.keys.map(\.rawValue)) }
        return Pick(parameters, allowed: known.ruling.maximumKeys) { name in
            known.identifiers?.record(name, as: .contact) ?? known.identifiers?.record(name, as: .pickedRow)
        }
    }

    private func answerNothingPicked(_ call: Call) {
        call.reply { $0.member("contacts", [String]()) }
    }

    private func handOver(_ picked: Picked, _ call: Call, _ session: CallerSession) {
        let known = services.grants.effectiveAccess(of: session)
        // If a policy that denies the app has come into force meanwhile, the pick is refused. No other
        // change to the effective access affects a pick.
        if case .refuse(let denial) = decideOffer(known.effective, mayAsk: false) {
            return services.questions.refuse(call, session, denial, known.effective.status)
        }
        let disclosed = ([picked.contacts] + picked.values.map(\.contact)).filter { !$0.records.isEmpty }
            .map { DisclosedReply.Record.contacts($0.records, keys: $0.keys) }
        var writer = DisclosedWriter(reservingCapacity: picked.contacts.size + 512)
        writer.member("contacts", picked.contacts)
        if !picked.values.isEmpty { writer.array("properties", picked.values) { $0.members(of: $1) } }
        let principals = session.caller.principals
        let principal = known.principal ?? principals[principals.endIndex - 1]
        let basis = DisclosedReply.Basis(principal: principal, revision: nil)
        services.groupCommit.disclose(
            writer.reply(under: basis, recording: disclosed, detail: "picked"), to: call, session)
    }

    // MARK: Proposed cards

    /// Prompts the person about a card that the app proposes. The person adds the card, merges it into a
    /// contact, or declines.
    func proposeContact(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.parameters.documentSize >= CallFrame.long else {
            return WaitingCall.run(proposal(try ProposeContactParameters(call.parameters), call, session), services)
        }
        // Reading and checking a photo takes several milliseconds.
        services.surroundings.loop.run(on: Self.decoding) { [parameters = call.parameters] () throws(VarlinkError) in
            try ProposeContactParameters(parameters)
        } then: { read in
            switch read {
            case .success(let parameters): WaitingCall(proposal(parameters, call, session), services).resume()
            case .failure(let error): call.fail(error)
            }
        }
    }

    private static let decoding = DispatchQueue(label: "long proposals", attributes: .concurrent)

    private func proposal(
        _ parameters: ProposeContactParameters, _ call: Call, _ session: CallerSession
    ) -> PromptingCall {
        PromptingCall(call: call, session: session) { (known) throws(VarlinkError) in
            let shown = parameters.shown
            guard shown.count <= services.limits.proposedBytes else {
                throw ContactsError.limitExceeded("contact", maximum: services.limits.proposedBytes)
            }
            let isQuiet: Bool
            switch decideOffer(known.effective, mayAsk: known.mayPrompt) {
            case .refuse(let denial):
                services.questions.refuse(call, session, denial, known.effective.status)
                return nil
            case .ask(let quietly): isQuiet = quietly
            case .answerEmpty:
                answerNothingTaken(call)
                return nil
            }
            let forbidden = parameters.card.contact.present.subtracting(known.ruling.maximumKeys)
            guard forbidden.isEmpty else { throw ContactsError.unauthorizedKeys(forbidden.keys.map(\.rawValue)) }
            return Question(
                kind: .propose, isQuiet: isQuiet, purpose: parameters.purpose,
                proposal: Proposal(card: parameters.card.contact, shown: shown))
        } answer: {
            answerProposed($0, call, session)
        }
    }

    /// Replies without an identifier. The app cannot tell why: the person may have merged or declined the
    /// card, added it where the app cannot see it, or not been asked.
    private func answerNothingTaken(_ call: Call) {
        services.groupCommit.reply(Array("{}".utf8), to: call)
    }

    private func answerProposed(_ outcome: PromptOutcome, _ call: Call, _ session: CallerSession) {
        guard case .proposed(let added?) = outcome, let context = services.grants.readContext(of: session),
            context.disclosure.scope.contains(added)
        else { return answerNothingTaken(call) }
        var writer = DisclosedWriter()
        writer.member("identifier", context.identifiers.identifier(of: added, as: .contact))
        services.groupCommit.disclose(
            writer.reply(under: context.basis, recording: [.contacts([added], keys: [])]), to: call, session)
    }
}
