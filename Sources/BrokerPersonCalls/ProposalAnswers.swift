import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// Saves a proposed card that the person accepts.
struct ProposalAnswers: UsesServices {
    let services: BrokerServices

    /// Saves the card as a new contact, or merges it into the contact of a row.
    ///
    /// - Parameter changed: the card with the person's changes; `nil` if there are none.
    func take(
        _ proposal: Proposal, _ changed: WireContact?, into row: String?, _ prompt: Prompt, _ agent: Agent,
        _ call: Call, _ approved: Approval?
    ) throws(VarlinkError) {
        var target: RecordNumber?
        if let row { target = try prompt.record(ofRow: row) }
        var card = proposal.card
        if let changed { card = try proposal.changed(to: changed) }
        let cookie = prompt.cookie
        let accepted = card
        books.with(prompt.caller.uid, creating: true) { result in
            guard prompts.prompt(cookie, shownTo: agent) === prompt else {
                return call.fail(AgentError.unknownPrompt)
            }
            switch result {
            case .success(let book?): write(accepted, into: target, prompt, agent, call, approved, book)
            case .success(nil): call.fail(ContactsError.storeUnavailable)
            case .failure(let error): problems.unavailable(call, error)
            }
        }
    }

    /// - Parameter target: the contact to merge into; `nil` for a new one.
    private func write(
        _ card: Contact, into target: RecordNumber?, _ prompt: Prompt, _ agent: Agent, _ call: Call,
        _ approved: Approval?, _ book: ContactsStore
    ) {
        prompt.isAnswered = true
        groupCommit.recordAnswer(
            to: prompt, from: AnswerSource(agent, approved), target == nil ? "card accepted" : "card merged")
        let added = target == nil ? access.takeRecordNumbers(1, now: surroundings.now()).first : nil
        let records = [added ?? target].compactMap(\.self)
        // The save does not give access to an app without a grant. For such an app, the principal only names
        // the app in the audit records.
        let principals = prompt.caller.principals
        let principal = grants.effectiveAccess(of: prompt.session).principal ?? principals[principals.endIndex - 1]
        let save = PendingSave(
            session: prompt.session, principal: principal, addsContacts: target == nil, count: 1,
            photographed: card.present.contains(.imageData) ? records : [],
            decide: {
                let effective = grants.effectiveAccess(of: prompt.session).effective
                guard effective != .restricted,
                    card.present.isSubset(of: grants.ruling(of: prompt.session).maximumKeys)
                else { return nil }
                var contents = SaveContents()
                contents.adds = [added].compactMap(\.self)
                contents.contacts = records
                contents.count = 1
                contents.isKeptToSingle = effective.status == .limited
                contents.detail = "proposed"
                return PendingSave.Write(principal: principal, contents: contents) {
                    (book, entry, seconds) throws(PendingSave.Failure) in
                    let change: ContactChange?
                    if let target {
                        change = try Self.merge(card, into: target, book)
                    } else {
                        change = added.map { .add($0, card) }
                    }
                    guard let change else { return [] }
                    do throws(ChangeError) {
                        // The person makes this change, so its author is not an app. No app can therefore
                        // exclude the change from its change history.
                        return try book.apply([change], at: seconds, outbox: entry)
                    } catch {
                        throw .change(error)
                    }
                }
            },
            done: { result in
                switch result {
                case .success(let made):
                    let visible = visible(added, prompt)
                    saves.answer(made) {
                        groupCommit.reply(
                            prompts.end(prompt, .proposed(visible: visible), answeredBy: agent), to: call)
                    }
                case .failure(let failure):
                    prompts.end(prompt, .dismissed, answering: agent)
                    fail(failure, of: prompt.caller.uid, call)
                }
            })
        saves.run(save, in: book)
    }

    private func fail(_ failure: PendingSave.Failure, of uid: UInt32, _ call: Call) {
        let (problem, reason): (AnswerProblem, String)
        switch failure {
        case .unavailable: return call.fail(ContactsError.storeUnavailable)
        case .change(.store(let error)): return problems.unavailable(call, error)
        case .accessDenied: (problem, reason) = (.policyDenies, "the administrator's policy forbids it")
        case .mergedTooLarge: (problem, reason) = (.contactTooLarge, "the contact would become too large")
        case .change(.recordDoesNotExist), .change(.parentRecordDoesNotExist), .change(.containmentCycle),
            .change(.tooManyLinked), .change(.containerInUse), .change(.tooManyContainers), .change(.hasContacts),
            .change(.emptiesContact), .change(.changedMeanwhile), .change(.recordChanged):
            (problem, reason) = (.contactGone, "the contact no longer exists")
        case .change(.bookFull(let size, let most)):
            problems.noteFull(uid)
            (problem, reason) = (.bookFull, SpaceWords.bookFull(size: size, most: most))
        case .change(.allowanceUsed(let most)), .change(.binFull(let most)):
            // Unreachable: the person makes this change, and only apps have an allowance and a share of the bin.
            (problem, reason) = (.bookFull, SpaceWords.bookFull(size: nil, most: most))
        }
        groupCommit.fail(AgentError.invalidAnswer(problem, reason), call)
    }

    /// - Returns: the change that adds the card's values to the contact; `nil` if the contact has all of them
    ///   already.
    private static func merge(
        _ card: Contact, into record: RecordNumber, _ book: ContactsStore
    ) throws(PendingSave.Failure) -> ContactChange? {
        var found: StoredContact?
        do throws(StoreError) {
            _ = try book.fetch(ContactQuery(scope: .only([record]), limit: 1)) { _, contact, _ in found = contact }
        } catch {
            throw .change(.store(error))
        }
        guard let found else { throw .change(.recordDoesNotExist(index: 0)) }
        guard let contact = Contact(found) else {
            throw .change(.store(.damagedCard(record: record.rawValue)))
        }
        let (completed, keys) = contact.completed(by: card)
        guard !keys.isEmpty else { return nil }
        do throws(ContactError) {
            try completed.validate(writing: keys)
        } catch {
            throw .mergedTooLarge
        }
        return .update(record, completed, keys: keys)
    }

    /// The new card if the app may see contacts, otherwise `nil`. With `nil`, neither the reply nor the
    /// back-off reveals to the app whether its card was saved.
    private func visible(_ added: RecordNumber?, _ prompt: Prompt) -> RecordNumber? {
        let effective = grants.effectiveAccess(of: prompt.session).effective
        guard case .permit = decideAccess(effective, mayAsk: false) else { return nil }
        return added
    }
}
