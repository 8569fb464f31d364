import BrokerAccessControl
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Checks the person's pick, and hands it over to the app.
struct PickAnswers: UsesServices {
    let services: BrokerServices

    private var rules: PasswordRules { PasswordRules(services: services) }

    /// A picked contact, or one value of it.
    typealias Chosen = (record: RecordNumber, value: AnswerParameters.PickedValue)

    /// Checks that each picked contact or value can be chosen, and hands over the pick.
    ///
    /// - Parameter approved: `nil` if no password was requested.
    func handOver(
        _ pick: Pick, _ chosen: [Chosen], _ prompt: Prompt, _ agent: Agent, _ call: Call, _ approved: Approval?
    ) throws(VarlinkError) {
        guard chosen.count == 1 || pick.multiple else {
            throw AgentError.invalidAnswer(.malformed, "the app asked for only one")
        }
        if let limit = pick.limit, chosen.count > limit {
            throw AgentError.invalidAnswer(
                .malformed, "the app takes at most \(limit), but \(chosen.count) were picked")
        }
        guard Set(chosen.map(\.value)).count == chosen.count else {
            throw AgentError.invalidAnswer(.malformed, "the same contact or value was picked twice")
        }
        let records = Set(chosen.map(\.record))
        let whole = Set(chosen.lazy.filter { $0.value.key == nil }.map(\.record))
        let images = pick.permitted.intersection(.images)
        let most = services.limits.bytesPerReply
        let cookie = prompt.cookie
        longReads.read(books, for: call, agent.session) { (book) throws(StoreError) -> [ReadRow]? in
            // A photo may be 11 MB large, and a hundred contacts may be picked. If the photos together are
            // too large, no photo is read.
            guard try book.photoSize(of: whole, images) <= most else { return nil }
            let rows =
                try book.rows(whole, images: images)
                + book.rows(records.subtracting(whole), images: [])
            return rows.map { ($0, pick.choice($0.record, $0.contact), pick.selectable($0.record, $0.contact)) }
        } then: { found in
            if case .some(nil) = found { return call.fail(Self.tooMuch) }
            guard prompts.prompt(cookie, shownTo: agent) === prompt else { return call.fail(AgentError.unknownPrompt) }
            // A different policy may have come into force during the read.
            guard approved != nil || (try? rules.wantsPassword(forPicking: records, prompt)) == false else {
                return call.fail(AgentError.authenticationFailed(.changed, "the policy has changed; answer again"))
            }
            let rows = Dictionary(uniqueKeysWithValues: (found.flatMap { $0 } ?? []).map { ($0.row.record, $0) })
            for (record, value) in chosen {
                // A contact that was deleted meanwhile is skipped.
                guard let (_, choice, selectable) = rows[record] else { continue }
                guard choice.obstacle == nil, value.key.map(selectable.contains) ?? choice.returns else {
                    return call.fail(AgentError.invalidAnswer(.notSelectable, "the row or value cannot be chosen"))
                }
            }
            hand(
                chosen.compactMap { each in rows[each.record].map { ($0.row, each.value) } }, pick, prompt, agent,
                call, approved)
        }
    }

    private typealias ReadRow = (row: DisclosableContact, choice: Pick.Choice, selectable: ContactKeySet)
    private static let tooMuch = AgentError.invalidAnswer(
        .tooLarge, "the contacts are too large for one reply; choose fewer")

    private func hand(
        _ chosen: [(row: DisclosableContact, value: AnswerParameters.PickedValue)], _ pick: Pick, _ prompt: Prompt,
        _ agent: Agent, _ call: Call, _ approved: Approval?
    ) {
        guard let (identifiers, kind) = identifiers(forPickBy: prompt.session) else {
            return call.fail(ContactsError.storeUnavailable)
        }
        // The policy may have become stricter since the prompt was raised.
        // A picked value comes with the contact's name, as the agent says.
        let permitted = pick.permitted.union(.names)
            .intersection(grants.ruling(of: prompt.session).maximumKeys)
        let disclosure = Disclosure.picked(Set(chosen.map(\.row.record)), keys: permitted)
        let contacts = disclosure.project(
            chosen.filter { $0.value.key == nil }.map(\.row), of: pick.keys, under: identifiers, as: kind)
        guard contacts.size <= services.limits.bytesPerReply else {
            return call.fail(Self.tooMuch)
        }
        let values = chosen.compactMap { row, value in
            value.key.flatMap {
                disclosure.project(
                    value: value.value, of: $0, in: row.contact, row.record, names: pick.keys, under: identifiers,
                    as: kind)
            }
        }
        guard values.count == chosen.count(where: { $0.value.key != nil }) else {
            return call.fail(AgentError.invalidAnswer(.notSelectable, "the value does not exist"))
        }
        let picked = Picked(contacts: contacts, values: values)
        if approved == nil { rules.noteWithoutPassword(Set(chosen.map(\.row.record)), prompt.caller) }
        groupCommit.recordAnswer(to: prompt, from: AnswerSource(agent, approved), "picked") { $0.count = picked.count }
        let outcome: PromptOutcome = picked.count == 0 ? .dismissed : .picked(picked)
        groupCommit.reply(prompts.end(prompt, outcome, answeredBy: agent), to: call)
    }

    /// The cipher for the identifiers of picked contacts, and their kind.
    ///
    /// An app with full access sees every contact, so it gets the identifiers that its other calls accept. An app with
    /// limited access can use the identifiers only in the rules of a later pick: they do not tell whether the contact is
    /// shared. For other apps, the key is random, and no later call accepts the identifiers.
    private func identifiers(forPickBy session: CallerSession) -> (IdentifierCipher, RecordKind)? {
        let access = grants.effectiveAccess(of: session)
        guard
            let cipher = grants.identifiers(for: access, of: session)
                ?? IdentifierCipher.randomKey().flatMap({ IdentifierCipher(key: $0) })
        else { return nil }
        return (cipher, access.effective.status == .full ? .contact : .pickedRow)
    }
}

extension ContactsStore {
    /// The rows of these contacts, with all values. This must not run on the event loop.
    func rows(
        _ records: Set<RecordNumber>, images: ContactKeySet
    ) throws(StoreError) -> [DisclosableContact] {
        let query = ContactQuery(
            scope: .only(records), limit: records.count, byteLimit: .max, images: images)
        return try fetch(unified: query, .onWorker).rows.map(\.disclosable)
    }
}
