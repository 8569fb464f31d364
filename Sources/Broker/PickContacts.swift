import AccessControl
import ContactsInterface
import ContactsModel
import ContactsStore
import JSON
import Policy
import Varlink

/// What the person picked for once, in the form in which the app may have it.
struct Picked: Hashable {
    var contacts: DisclosedContacts
    var values: [DisclosedValue]

    /// How much it is, for the record.
    var count: Int { contacts.records.count + values.count }
}

/// The one-time picker: the person hands over single contacts or values, and the app's standing stays as it is.
extension Broker {
    func pickContacts(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try PickContactsParameters(call.parameters)
        let known = standing(of: session)
        switch decideOffer(known.standing, mayAsk: known.mayPrompt) {
        case .refuse(let denial): refuse(call, session, denial, known.standing.status)
        case .answerEmpty: answerNothingPicked(call)
        case .ask(let isQuiet): try askToPick(call, session, parameters, known, isQuiet: isQuiet)
        }
    }

    private func askToPick(
        _ call: Call, _ session: CallerSession, _ parameters: PickContactsParameters, _ known: PrincipalStanding,
        isQuiet: Bool
    ) throws(VarlinkError) {
        // Whether a picked contact has a note would tell of the note: rules about it need the grant as well.
        var granted = ContactKeySet()
        if case .granted(let grant) = known.standing, grant.access != .denied { granted = grant.keys }
        let unauthorized = parameters.namedKeys.intersection(.named).subtracting(granted)
        guard unauthorized.isEmpty else { throw ContactsError.unauthorizedKeys(unauthorized.keys.map(\.rawValue)) }
        if isSilenced(session.caller) { return answerNothingPicked(call) }
        let pick = Pick(parameters, allowed: ruling(of: session).maximumKeys) { name in
            known.identifiers?.record(name, as: .contact) ?? known.identifiers?.record(name, as: .pickedRow)
        }
        let question = Question(kind: .pick, isQuiet: isQuiet, keys: parameters.keys, pick: pick)
        ask(question, call, session) { [weak self] outcome in self?.answerPicked(outcome, pick, call, session) }
    }

    private func answerNothingPicked(_ call: Call) {
        call.reply { $0.member("contacts", [String]()) }
    }

    private func answerPicked(_ outcome: PromptOutcome, _ pick: Pick, _ call: Call, _ session: CallerSession) {
        guard case .picked(let picked) = outcome else { return answerNothingPicked(call) }
        whenStillItself(session, call) { [weak self] in self?.handOver(picked, call, session) }
    }

    private func handOver(_ picked: Picked, _ call: Call, _ session: CallerSession) {
        let known = standing(of: session)
        // What the administrator forbade meanwhile stays forbidden; what else changed does not concern a pick.
        if case .refuse(let denial) = decideOffer(known.standing, mayAsk: false) {
            return refuse(call, session, denial, known.standing.status)
        }
        let told = ([picked.contacts] + picked.values.map(\.contact)).filter { !$0.records.isEmpty }
            .map { DisclosedReply.Told.contacts($0.records, keys: $0.keys) }
        var writer = DisclosedWriter(reservingCapacity: picked.contacts.size + 512)
        writer.member("contacts", picked.contacts)
        if !picked.values.isEmpty { writer.array("properties", picked.values) { $0.members(of: $1) } }
        let principals = session.caller.principals
        let principal = known.principal ?? principals[principals.endIndex - 1]
        let basis = DisclosedReply.Basis(principal: principal, revision: nil)
        turn.disclose(writer.reply(under: basis, telling: told, detail: "picked"), to: call, session)
    }

    // MARK: At the agent

    /// Rows for the picker. The rules are asked off the loop: they take apart what is stored.
    func search(
        _ parameters: SearchParameters, _ pick: Pick, _ prompt: Prompt, _ call: Call, _ session: CallerSession
    ) {
        let scope: RecordScope = parameters.granted ? granted(to: prompt) : .all
        offLoop(call, session) { (book) throws(StoreError) in
            let search = PersonSearch(
                parameters.query, scope: scope, order: .familyName, offset: parameters.offset,
                limit: parameters.limit)
            let found = try book.search(search, .beside)
            return (found.rows, found.total, found.rows.map { pick.choice($0.0, $0.1) })
        } done: { [self] found in
            let (rows, total, choices) = found ?? ([], 0, [])
            turn.disclose(
                self.rows(rows, total: total, offset: parameters.offset, prompt, choices: choices), to: call, session)
        }
    }

    /// The card of one row: what the app would get of it, and nothing else.
    func show(
        _ identifier: String, _ pick: Pick, _ prompt: Prompt, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        guard let record = prompt.rows.record(identifier, as: .agentRow) else {
            throw AgentError.invalidAnswer("no row of this prompt")
        }
        offLoop(call, session) { (book) throws(StoreError) in
            try Self.read([record], images: [], book).first.map { ($0, pick.selectable($0.record, $0.contact)) }
        } done: { [self] found in
            guard case let (row, selectable)?? = found else {
                return call.fail(AgentError.invalidAnswer("no row of this prompt"))
            }
            let keys = pick.permitted.union(.names).subtracting(.images)
            let disclosed = Disclosure.forPerson(keys: keys).project([row], of: keys, under: prompt.rows, as: .agentRow)
            guard disclosed.size <= limits.largestReply else {
                return call.fail(AgentError.invalidAnswer("the contact is too large to be shown"))
            }
            var writer = DisclosedWriter(reservingCapacity: disclosed.size + 256)
            writer.member("contact", only: disclosed)
            writer.member("selectable", selectable.keys.map(\.rawValue))
            turn.disclose(writer.replyToPerson(telling: 1), to: call, session)
        }
    }

    /// The person has chosen, and given their password if that was wanted: looks once more whether it can be chosen, and hands it over.
    func answer(
        _ pick: Pick, _ picked: [AnswerParameters.PickedValue], _ prompt: Prompt, _ agent: Agent, _ call: Call,
        isApproved: Bool
    ) throws(VarlinkError) {
        guard picked.count == 1 || pick.multiple else { throw AgentError.invalidAnswer("one was asked for") }
        guard Set(picked).count == picked.count else { throw AgentError.invalidAnswer("the same twice") }
        var chosen: [(record: RecordNumber, value: AnswerParameters.PickedValue)] = []
        for value in picked {
            guard let record = prompt.rows.record(value.contact, as: .agentRow) else {
                throw AgentError.invalidAnswer("a row of no prompt, or of another one")
            }
            chosen.append((record, value))
        }
        let records = Set(chosen.map(\.record))
        let whole = Set(chosen.lazy.filter { $0.value.key == nil }.map(\.record))
        let images = pick.permitted.intersection(.images)
        let most = limits.bytesPerReply
        let cookie = prompt.cookie
        offLoop(call, agent.session) { (book) throws(StoreError) -> [ReadRow]? in
            // A photo may be 11 MB, and a hundred contacts may be picked: none is read where they are too much together.
            guard try book.photoSize(of: whole, images) <= most else { return nil }
            let rows =
                try Self.read(whole, images: images, book)
                + Self.read(records.subtracting(whole), images: [], book)
            return rows.map { ($0, pick.choice($0.record, $0.contact), pick.selectable($0.record, $0.contact)) }
        } done: { [self] found in
            if case .some(nil) = found { return call.fail(Self.tooMuch) }
            guard prompts.prompt(cookie, shownTo: agent) === prompt else { return call.fail(AgentError.unknownPrompt) }
            // Another policy may have come into force while they were read.
            guard isApproved || (try? wantsPassword(forPicking: records.count, prompt)) == false else {
                return call.fail(AgentError.authenticationFailed("the policy has changed; answer again"))
            }
            let rows = Dictionary(uniqueKeysWithValues: (found.flatMap { $0 } ?? []).map { ($0.row.record, $0) })
            for (record, value) in chosen {
                // What was deleted meanwhile is not there to be handed over, and that is all.
                guard let (_, choice, selectable) = rows[record] else { continue }
                guard choice.reason == nil, value.key.map(selectable.contains) ?? choice.returns else {
                    return call.fail(AgentError.invalidAnswer("a row or value that cannot be chosen"))
                }
            }
            hand(
                over: chosen.compactMap { each in rows[each.record].map { ($0.row, each.value) } }, pick, prompt, agent,
                call)
        }
    }

    private typealias ReadRow = (row: BookRow, choice: Pick.Choice, selectable: ContactKeySet)
    private static let tooMuch = AgentError.invalidAnswer("too much for one answer: choose fewer")

    typealias BookRow = (record: RecordNumber, contact: StoredContact, images: ImageMembers)

    private func hand(
        over chosen: [(row: BookRow, value: AnswerParameters.PickedValue)], _ pick: Pick, _ prompt: Prompt,
        _ agent: Agent, _ call: Call
    ) {
        guard let identifiers = identifiers(forPickBy: prompt.session) else {
            return call.fail(ContactsError.storeUnavailable)
        }
        // As the policy is now: it may have become stricter since the prompt was raised.
        let permitted = pick.permitted.intersection(ruling(of: prompt.session).maximumKeys)
        let disclosure = Disclosure.picked(Set(chosen.map(\.row.record)), keys: permitted)
        let contacts = disclosure.project(
            chosen.filter { $0.value.key == nil }.map(\.row), of: pick.keys, under: identifiers, as: .pickedRow)
        guard contacts.size <= limits.bytesPerReply else {
            return call.fail(Self.tooMuch)
        }
        let values = chosen.compactMap { row, value in
            value.key.flatMap {
                disclosure.project(
                    value: value.value, of: $0, in: row.contact, row.record, names: pick.keys, under: identifiers)
            }
        }
        guard values.count == chosen.count(where: { $0.value.key != nil }) else {
            return call.fail(AgentError.invalidAnswer("a value that is not there"))
        }
        let picked = Picked(contacts: contacts, values: values)
        turn.record(.answer, of: prompt.caller, { $0.count = picked.count }, detail: "picked")
        prompts.end(prompt, picked.count == 0 ? .dismissed : .picked(picked), answering: agent)
        turn.reply(Array("{}".utf8), to: call)
    }

    /// An app with a grant can name later what it was handed; of any other the names are good for one answer.
    private func identifiers(forPickBy session: CallerSession) -> IdentifierCipher? {
        standing(of: session).identifiers ?? IdentifierCipher.randomKey().flatMap { IdentifierCipher(key: $0) }
    }

    private static func read(
        _ records: Set<RecordNumber>, images: ContactKeySet, _ book: ContactsStore
    ) throws(StoreError) -> [BookRow] {
        let query = ContactQuery(
            scope: .only(records), limit: records.count, byteLimit: .max, images: images)
        return try book.fetch(unified: query, .beside).rows.map { ($0.record, $0.contact, ImageMembers($0.images)) }
    }

    /// Reads beside the loop and goes on, on the loop, with what was read; `nil` where there is no book.
    ///
    /// - Parameter read: reads ``ReadingManner/beside``.
    private func offLoop<Answer: Sendable>(
        _ call: Call, _ session: CallerSession,
        read: @escaping @Sendable (ContactsStore) throws(StoreError) -> Answer, done: @escaping (Answer?) -> Void
    ) {
        books.with(session.caller.uid) { [weak self] opened in
            guard let self, !call.isOver else { return }
            switch opened {
            case .success(let book?):
                longReads.read(book, for: call, session, read) { [weak self] result in
                    switch result {
                    case .success(let answer): done(answer)
                    case .failure(let error): self?.unavailable(call, error)
                    }
                }
            case .success(nil): done(nil)
            case .failure(let error): unavailable(call, error)
            }
        }
    }
}
