import AccessControl
import AccessStore
import ContactsInterface
import ContactsModel
import ContactsStore
import Dispatch
import JSON
import Policy
import Varlink

/// A card that an app offers, as its prompt keeps it.
struct Proposal {
    let card: Contact
    /// As the person is shown it: a `Contact`, written out.
    let shown: [UInt8]
}

/// An app offers a card: the person adds it, merges it into a contact, or declines.
extension Broker {
    func proposeContact(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ProposeContactParameters(call.parameters)
        let shown = parameters.shown
        guard shown.count <= limits.proposedBytes else {
            throw ContactsError.limitExceeded("contact", maximum: limits.proposedBytes)
        }
        let known = standing(of: session)
        let isQuiet: Bool
        switch decideOffer(known.standing, mayAsk: known.mayPrompt) {
        case .refuse(let denial): return refuse(call, session, denial, known.standing.status)
        case .ask(let quietly): isQuiet = quietly
        case .answerEmpty: return answerNothingTaken(call)
        }
        let forbidden = parameters.card.contact.present.subtracting(ruling(of: session).maximumKeys)
        guard forbidden.isEmpty else { throw ContactsError.unauthorizedKeys(forbidden.keys.map(\.rawValue)) }
        if isSilenced(session.caller) { return answerNothingTaken(call) }
        let question = Question(
            kind: .propose, isQuiet: isQuiet, purpose: parameters.purpose,
            proposal: Proposal(card: parameters.card.contact, shown: shown))
        ask(question, call, session) { [weak self] in self?.answerProposed($0, call, session) }
    }

    /// Merged, declined, dismissed, and added for an app that sees nothing: all the same.
    private func answerNothingTaken(_ call: Call) {
        turn.reply(Array("{}".utf8), to: call)
    }

    private func answerProposed(_ outcome: PromptOutcome, _ call: Call, _ session: CallerSession) {
        let known = standing(of: session)
        guard case .proposed(let added?) = outcome,
            case .permit(let disclosure) = decideAccess(known.standing, mayAsk: false),
            disclosure.scope.contains(added), let principal = known.principal, let identifiers = known.identifiers
        else { return answerNothingTaken(call) }
        var writer = DisclosedWriter()
        writer.member("identifier", identifiers.identifier(of: added, as: .contact))
        let basis = DisclosedReply.Basis(principal: principal, revision: disclosure.revision)
        turn.disclose(writer.reply(under: basis, telling: [.contacts([added], keys: [])]), to: call, session)
    }

    // MARK: At the agent

    /// The person takes the card: as a new one, or into the contact of a row.
    func answer(
        _ proposal: Proposal, into row: String?, _ prompt: Prompt, _ agent: Agent, _ call: Call
    ) throws(VarlinkError) {
        var target: RecordNumber?
        if let row {
            guard let record = prompt.rows.record(row, as: .agentRow) else {
                throw AgentError.invalidAnswer("a row of no prompt, or of another one")
            }
            target = record
        }
        let cookie = prompt.cookie
        books.with(prompt.caller.uid, creating: true) { [weak self] result in
            guard let self, prompts.prompt(cookie, shownTo: agent) === prompt else {
                return call.fail(AgentError.unknownPrompt)
            }
            switch result {
            case .success(let book?):
                Taking(proposal: proposal, target: target, prompt: prompt, agent: agent, call: call, broker: self)
                    .begin(book)
            case .success(nil): call.fail(ContactsError.storeUnavailable)
            case .failure(let error): unavailable(call, error)
            }
        }
    }
}

/// One card on its way into the book: intent, contacts, answers. It lives on the loop.
private final class Taking {
    private let proposal: Proposal
    /// The contact that it is merged into; `nil`: a new one.
    private let target: RecordNumber?
    private let prompt: Prompt
    private let agent: Agent
    private let call: Call
    private let broker: Broker
    /// The grant that was made for this card.
    private var given: GivenSet?

    private enum Failure: Error {
        case change(ChangeError)
        /// There is no such contact, or no room in it.
        case cannotMerge(String)
        /// The policy does not let the app write this.
        case forbidden
    }

    init(proposal: Proposal, target: RecordNumber?, prompt: Prompt, agent: Agent, call: Call, broker: Broker) {
        self.proposal = proposal
        self.target = target
        self.prompt = prompt
        self.agent = agent
        self.call = call
        self.broker = broker
    }

    private var uid: UInt32 { prompt.caller.uid }

    func begin(_ book: ContactsStore) {
        guard broker.beginWaitingToSave(uid) else { return call.fail(ContactsError.storeUnavailable) }
        prompt.isAnswered = true
        let added = broker.access.takeRecordNumbers(target == nil ? 1 : 0, now: broker.surroundings.now())
        let principals = prompt.caller.principals
        // Of an app without a grant nothing is widened: it is only said whose card it was.
        let known = broker.standing(of: prompt.session)
        let principal = known.principal ?? principals[principals.endIndex - 1]
        broker.whenItsTurnToSave(uid) { [self] in
            if target == nil { given = broker.giveSetOfItsOwn(to: principal, prompt.session) }
            broker.whenDecisionsAreOnDisk(
                { [self] in apply(to: book, principal, added.first) },
                failed: { [self] in
                    broker.takeBackSetOfItsOwn(given)
                    broker.endedSaving(uid)
                    broker.prompts.end(prompt, .dismissed, answering: agent)
                    call.fail(ContactsError.storeUnavailable)
                })
        }
    }

    /// On the user's queue: the card onto the disk.
    private func apply(to book: ContactsStore, _ principal: Principal, _ added: RecordNumber?) {
        // Others saved meanwhile, and another policy may have come into force.
        let standing = broker.standing(of: prompt.session).standing
        guard standing != .restricted,
            proposal.card.present.isSubset(of: broker.ruling(of: prompt.session).maximumKeys)
        else { return applied(nil, added, [], .forbidden) }
        var contents = SaveContents()
        contents.adds = [added].compactMap(\.self)
        contents.contacts = [added ?? target].compactMap(\.self)
        contents.count = 1
        contents.isKeptToSingle = standing.status == .limited
        contents.detail = "proposed"
        let begun: BegunSave
        do throws(AccessStoreError) {
            begun = try broker.access.beginSave(contents, by: principal, now: broker.surroundings.now())
        } catch {
            return applied(nil, added, [], .change(.store(.unavailable(reason: "\(error)"))))
        }
        let entry = OutgoingEntry(begun)
        let seconds = broker.seconds
        let card = proposal.card
        let target = target
        let loop = broker.surroundings.loop
        let bound = LoopBound(self, loop: loop)
        broker.books.queue(of: uid).async {
            var failure: Failure?
            var made: [BookChange] = []
            do throws(Failure) {
                let change: ContactChange?
                if let target {
                    change = try Self.merge(card, into: target, book)
                } else {
                    change = added.map { .add($0, card) }
                }
                do throws(ChangeError) {
                    // The person did it: it is in every app's history, as nobody's.
                    if let change { made = try book.apply([change], at: seconds, telling: entry) }
                } catch {
                    throw .change(error)
                }
            } catch {
                failure = error
            }
            let (changes, outcome) = (made, failure)
            loop.execute { bound.value.applied((begun, book), added, changes, outcome) }
        }
    }

    /// - Returns: `nil` where the contact has all of it already.
    private static func merge(
        _ card: Contact, into record: RecordNumber, _ book: ContactsStore
    ) throws(Failure) -> ContactChange? {
        var found: StoredContact?
        do throws(StoreError) {
            _ = try book.fetch(ContactQuery(scope: .only([record]), limit: 1)) { _, contact, _ in found = contact }
        } catch {
            throw .change(.store(error))
        }
        guard let found else { throw .cannotMerge("the contact is not there any more") }
        guard let contact = Contact(found) else {
            throw .change(.store(.damagedCard(record: record.rawValue)))
        }
        let (completed, keys) = contact.completed(by: card)
        guard !keys.isEmpty else { return nil }
        do throws(ContactError) {
            try completed.validate(writing: keys)
        } catch {
            throw .cannotMerge("the contact would become too large")
        }
        return .update(record, completed, keys: keys)
    }

    private func applied(
        _ save: (begun: BegunSave, book: ContactsStore)?, _ added: RecordNumber?, _ made: [BookChange],
        _ failure: Failure?
    ) {
        broker.endedSaving(uid)
        if let failure {
            broker.takeBackSetOfItsOwn(given)
            broker.turn.record(.saveNotDone, of: prompt.caller) { $0.count = 1 }
            broker.prompts.end(prompt, .dismissed, answering: agent)
            switch failure {
            case .forbidden: broker.turn.fail(AgentError.invalidAnswer("the administrator's policy forbids it"), call)
            case .cannotMerge(let reason): broker.turn.fail(AgentError.invalidAnswer(reason), call)
            case .change(.recordDoesNotExist), .change(.parentRecordDoesNotExist), .change(.containmentCycle),
                .change(.tooManyLinked), .change(.containerInUse), .change(.tooManyContainers):
                broker.turn.fail(AgentError.invalidAnswer("the contact is not there any more"), call)
            case .change(.store(let error)): broker.unavailable(call, error)
            }
            return
        }
        let isAsDecided = save.map { broker.access.endSave($0.begun, change: $0.book.lastChange) } ?? true
        broker.grantsChanged()
        broker.history.noted(made, uid: uid)
        if proposal.card.present.contains(.imageData) { broker.thumbnails.look(at: made.map(\.record), of: uid) }
        if target != nil { broker.books.forget(uid) }
        let told = told(added)
        let answer = { [broker, prompt, agent, call] in
            broker.prompts.end(prompt, .proposed(told: told), answering: agent)
            broker.turn.reply(Array("{}".utf8), to: call)
        }
        broker.turn.work(
            committed: { [broker] in
                if isAsDecided, !broker.turn.isDurable { answer() } else { broker.onDisk { _ in answer() } }
            },
            // The card is in the book, and so is what is to be recorded of it.
            failed: { [broker] in
                broker.grantsChanged()
                broker.retryRecording()
                answer()
            })
    }

    /// Who sees nothing learns nothing of what became of its card, not even by how long it must wait.
    private func told(_ added: RecordNumber?) -> RecordNumber? {
        guard case .granted(let grant) = broker.standing(of: prompt.session).standing else { return nil }
        switch grant.access {
        case .denied: return nil
        case .limited, .full: return added
        }
    }
}
