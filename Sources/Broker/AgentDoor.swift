import AccessControl
import AccessStore
import ContactsInterface
import ContactsModel
import ContactsStore
import JSON
import Policy
import Varlink

/// What the program that the person sees and answers may call.
extension Broker {
    func answerAgent(_ call: Call, _ session: CallerSession) {
        guard call.interface == ContactsInterface.agent.name, let method = AgentMethod(rawValue: String(call.name))
        else {
            return call.fail(.methodNotFound(call.method))
        }
        do throws(VarlinkError) {
            switch method {
            case .serve: try serve(call, session)
            case .search: try search(call, session)
            case .show: try show(call, session)
            case .answer: try answer(call, session)
            case .listGrants: try listGrants(call, session)
            case .manage: try manage(call, session)
            }
        } catch {
            call.fail(error)
        }
    }

    private func serve(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ServeParameters(call.parameters)
        guard call.more else { throw .expectedMore }
        // Who is told how many prompts wait, and nothing else, needs no password.
        guard surroundings.wantsPasswords, !parameters.notifyOnly else {
            return try serve(parameters, call, session)
        }
        guard prompts.hasRoom(ofAgentsOf: session.caller.uid, notifyOnly: false) else { throw AgentError.tooManyAgents }
        wantPassword(.answer, of: session, mayInteract: true, for: call) { [weak self] verdict in
            guard let self else { return }
            do throws(VarlinkError) {
                try demand(verdict)
                try serve(parameters, call, session)
            } catch {
                call.fail(error)
            }
        }
    }

    static let withoutAuthority =
        "there is no polkit on this machine, so nothing can ask for your password; an administrator installs it: "
        + "apt install polkitd"
    static let withoutPasswordAgent = "nothing asks for passwords here: polkit's pkttyagent does not run"

    /// The agent may go on with the password, or where nobody is there to ask for it and the administrator wants none then.
    func demand(_ verdict: Verdict) throws(VarlinkError) {
        switch verdict {
        case .granted: return
        case .absent where policy.mayDoWithout: return
        case .absent: throw AgentError.authenticationFailed(Self.withoutAuthority)
        case .wantsInteraction: throw AgentError.authenticationFailed(Self.withoutPasswordAgent)
        case .unanswered(let reason): throw AgentError.authenticationFailed(reason)
        case .refused: throw AgentError.authenticationFailed()
        }
    }

    private func serve(
        _ parameters: ServeParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        guard let token = Self.randomName() else { throw AgentError.notAnAgent("no randomness for a token") }
        let agent = Agent(
            token: token, session: session, terminal: parameters.terminal, notifyOnly: parameters.notifyOnly,
            serve: call)
        guard prompts.serve(agent) else { throw AgentError.tooManyAgents }
    }

    /// Hands over the agent and the prompt that a call of the second connection is about, and the book.
    ///
    /// Looked up when the book is there: while it was opened, the prompt may have ended.
    func withShown(
        _ token: String, _ cookie: String, _ call: Call, _ session: CallerSession,
        _ body: @escaping (Agent, Prompt, ContactsStore?) throws(StoreError) -> Void
    ) throws(VarlinkError) {
        _ = try shown(token, cookie, session)
        books.with(session.caller.uid) { [weak self] result in
            guard let self else { return }
            do throws(VarlinkError) {
                let (agent, prompt) = try shown(token, cookie, session)
                do throws(StoreError) {
                    try body(agent, prompt, try result.get())
                } catch {
                    unavailable(call, error)
                }
            } catch {
                call.fail(error)
            }
        }
    }

    func shown(
        _ token: String, _ cookie: String, _ session: CallerSession
    ) throws(VarlinkError) -> (Agent, Prompt) {
        guard let agent = prompts.agent(token, of: session) else {
            throw AgentError.notAnAgent("this process serves no agent of that token")
        }
        guard let prompt = prompts.prompt(cookie, shownTo: agent) else { throw AgentError.unknownPrompt }
        return (agent, prompt)
    }

    // MARK: What the person looks at

    private static let rowKeys = ContactKeySet.names
    private static let rowDisclosure = Disclosure.forPerson(
        keys: rowKeys.union(ContactKeySet([.emailAddresses, .phoneNumbers])))

    private func search(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try SearchParameters(call.parameters)
        let (_, prompt) = try shown(parameters.agent, parameters.cookie, session)
        if let pick = prompt.pick { return search(parameters, pick, prompt, call, session) }
        try search(parameters, call, session, found: nil)
    }

    /// - Parameter known: what was found beside the loop; it is the answer if the same is looked for still.
    private func search(
        _ parameters: SearchParameters, _ call: Call, _ session: CallerSession,
        found known: (search: PersonSearch, found: PersonFound)?
    ) throws(VarlinkError) {
        try withShown(parameters.agent, parameters.cookie, call, session) {
            [self] (_, prompt, book) throws(StoreError) in
            var found = PersonFound()
            if let book {
                guard knowsIgnored(prompt) else { return findIgnored(prompt, book, parameters, call, session) }
                let search = PersonSearch(
                    parameters.query, scope: parameters.granted ? granted(to: prompt) : .all,
                    excluding: hidden(from: prompt), order: book.settings.sortOrder,
                    offset: parameters.offset, limit: parameters.limit)
                if let known, known.search == search {
                    found = known.found
                } else {
                    do throws(StoreError) {
                        found = try book.search(search, .bounded)
                    } catch .takesLong {
                        return self.search(search, book, parameters, call, session)
                    }
                }
            }
            let links = prompt.kind == .propose ? nil : book?.links
            turn.disclose(
                rows(found.rows, total: found.total, offset: parameters.offset, prompt, links: links), to: call, session
            )
        }
    }

    /// Looks up once, off the loop, whom the app says it knows: hundreds of values of its own choice.
    private func findIgnored(
        _ prompt: Prompt, _ book: ContactsStore, _ parameters: SearchParameters, _ call: Call, _ session: CallerSession
    ) {
        let queries = ignoredQueries(of: prompt)
        longReads.read(book, for: call, session) { (book) throws(StoreError) in
            var found: Set<RecordNumber> = []
            for query in queries { for row in try book.fetch(unified: query, .beside).0 { found.insert(row.record) } }
            return found
        } done: { [weak self] result in
            guard let self, !call.isOver else { return }
            do throws(VarlinkError) {
                switch result {
                case .success(let found):
                    prompt.ignoredRecords = found
                    // The prompt may be over by now, which is looked at again.
                    try search(parameters, call, session, found: nil)
                case .failure(let error): unavailable(call, error)
                }
            } catch {
                call.fail(error)
            }
        }
    }

    private func search(
        _ search: PersonSearch, _ book: ContactsStore, _ parameters: SearchParameters, _ call: Call,
        _ session: CallerSession
    ) {
        longReads.read(book, for: call, session) { (book) throws(StoreError) in
            try book.search(search, .beside)
        } done: { [weak self] result in
            guard let self, !call.isOver else { return }
            do throws(VarlinkError) {
                switch result {
                case .success(let found): try self.search(parameters, call, session, found: (search, found))
                case .failure(let error): unavailable(call, error)
                }
            } catch {
                call.fail(error)
            }
        }
    }

    /// What the app that a prompt is about can see already.
    func granted(to prompt: Prompt) -> RecordScope {
        guard case .granted(let grant) = standing(of: prompt.session).standing else { return .only([]) }
        switch grant.access {
        case .denied: return .only([])
        case .limited(let records): return .only(records)
        case .full: return .all
        }
    }

    /// - Parameters:
    ///   - choices: of the one-time picker, what may be done with each row.
    ///   - links: where turning a row on turns on the cards that it is linked with, so that the person is told of them.
    func rows(
        _ rows: [(RecordNumber, StoredContact)], total: Int, offset: Int, _ prompt: Prompt,
        choices: [Pick.Choice] = [], links: ContactLinks? = nil
    ) -> DisclosedReply {
        let granted = granted(to: prompt)
        var writer = DisclosedWriter(reservingCapacity: 256 + rows.count * 256)
        writer.array("rows", rows.enumerated()) { writer, row in
            let (index, (record, contact)) = row
            let choice = choices.indices.contains(index) ? choices[index] : nil
            let identifier = prompt.rows.identifier(of: record, as: .agentRow)
            let others = (links?.members(of: record).count ?? 1) - 1
            writer.member("identifier", identifier)
            writer.members(
                of: Self.rowDisclosure.row(
                    of: contact, keys: Self.rowKeys, identifier: identifier, textLimit: limits.rowText),
                note: others == 0 ? nil : others == 1 ? "with 1 linked card" : "with \(others) linked cards")
            writer.member("granted", granted.contains(record) ? "all" : "none")
            writer.member("enabled", choice?.reason == nil)
            writer.member("returns", choice?.returns)
            writer.member("reason", choice?.reason)
        }
        writer.member("total", total)
        writer.member("more", offset + rows.count < total)
        return writer.replyToPerson(telling: rows.count)
    }

    private func show(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ShowParameters(call.parameters)
        let (_, prompt) = try shown(parameters.agent, parameters.cookie, session)
        if let pick = prompt.pick { return try show(parameters.identifier, pick, prompt, call, session) }
        try withShown(parameters.agent, parameters.cookie, call, session) {
            [self] (_, prompt, book) throws(StoreError) in
            var found: [(record: RecordNumber, contact: StoredContact, images: ImageMembers)] = []
            if let book, let record = prompt.rows.record(parameters.identifier, as: .agentRow) {
                _ = try book.fetch(ContactQuery(scope: .all, predicate: .records([record]), limit: 1)) {
                    found.append(($0, $1, ImageMembers($2)))
                }
            }
            guard !found.isEmpty else { return call.fail(AgentError.invalidAnswer("no row of this prompt")) }
            let disclosed = Disclosure.forPerson(keys: .all).project(
                found, of: ContactKeySet.all.subtracting(.images), under: prompt.rows, as: .agentRow)
            guard disclosed.size <= limits.largestReply else {
                return call.fail(AgentError.invalidAnswer("the contact is too large to be shown"))
            }
            var writer = DisclosedWriter(reservingCapacity: disclosed.size + 64)
            writer.member("contact", only: disclosed)
            turn.disclose(writer.replyToPerson(telling: 1), to: call, session)
        }
    }

    // MARK: What the agent is told

    func describe(_ prompt: Prompt, waiting: Int, expires: Int64) -> [UInt8] {
        let known = standing(of: prompt.session)
        let usage = known.principal.map(access.usage)
        var granted = 0
        if case .granted(let grant) = known.standing, case .limited(let records) = grant.access {
            granted = records.count
        }
        // What cannot be counted just now is not worth refusing the prompt for.
        let total = (try? books.opened(prompt.caller.uid)?.count(ContactQuery(scope: .all))) ?? 0
        var writer = JSONWriter(reservingCapacity: 1_024)
        writer.object {
            $0.name("prompt")
            $0.object {
                $0.member("cookie", prompt.cookie)
                $0.member("kind", prompt.kind.rawValue)
                $0.name("caller")
                $0.object { Self.describe(prompt.caller, &$0) }
                $0.member("currentStatus", known.standing.status.rawValue)
                $0.member("purpose", prompt.purpose)
                $0.member("keys", prompt.keys?.grantNames)
                $0.member("query", prompt.query)
                $0.member("caption", prompt.caption)
                $0.member("multiple", prompt.pick?.multiple)
                $0.member("select", prompt.pick?.select.rawValue)
                if let proposal = prompt.proposal {
                    $0.name("proposed")
                    $0.raw(proposal.shown)
                }
                $0.member("totalContacts", total)
                $0.member("grantedContacts", granted)
                $0.member("lastUsedAt", usage?.lastUsedAt.map { Timestamp.text(seconds: $0) })
                $0.member("uses", usage?.uses)
                $0.member("waiting", waiting)
                $0.member("expires", Timestamp.text(seconds: expires))
                $0.member("lifetimes", prompt.caller.lifetimes.map(\.rawValue))
                $0.member("interpreter", prompt.caller.isInterpreter)
                $0.member("quiet", prompt.isQuiet)
                describePolicy(prompt, known, &$0)
            }
        }
        return writer.bytes
    }

    /// What the policy leaves to the person's choice.
    private func describePolicy(_ prompt: Prompt, _ known: PrincipalStanding, _ writer: inout JSONWriter) {
        let ruling = ruling(of: prompt.session)
        // What is picked is cut to what may be read, and a card is merged or not, whatever was shown.
        if prompt.pick == nil, prompt.proposal == nil { prompt.offer = policy.offer(ruling) }
        if !policy.mayShareAll(ruling) { writer.member("maximumLevel", AuthorizationStatus.limited.rawValue) }
        if ruling.maximumKeys != .grantable { writer.member("maximumKeys", ruling.maximumKeys.grantNames) }
        let end: Int64?
        if let decided = decided(known), decided.access != .denied {
            end = ruling.end(of: decided)
        } else {
            end = ruling.maximumLifetime.map { seconds + $0 }
        }
        writer.member("endsAt", end.map { Timestamp.text(seconds: $0) })
    }

    private static func describe(_ caller: Caller, _ writer: inout JSONWriter) {
        writer.member("displayName", caller.displayName)
        writer.member("identifier", caller.app)
        writer.member("strength", caller.strength.rawValue)
        writer.member("executable", caller.executable)
        writer.member("pid", caller.process.pid)
        writer.member("terminal", caller.terminal)
    }

    private func listGrants(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard let token = call.parameters["agent"]?.string, call.parameters.count == 1 else {
            throw .invalidParameter("agent")
        }
        guard prompts.agent(token, of: session) != nil else {
            throw AgentError.notAnAgent("this process serves no agent of that token")
        }
        let grants = grantedPrincipals(uid: session.caller.uid)
        call.reply {
            $0.name("grants")
            $0.array(grants) { writer, entry in
                writer.object { self.describe(entry.principal, entry.grant, forAdministrator: false, &$0) }
            }
        }
    }
}
