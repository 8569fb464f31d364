import BrokerAccessControl
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Searches and shows the person's contacts for an agent that shows a prompt.
struct AgentSearches: UsesServices {
    let services: BrokerServices

    private static let rowKeys = ContactKeySet.names
    private static let rowDisclosure = Disclosure.forPerson(
        keys: rowKeys.union(ContactKeySet([.emailAddresses, .phoneNumbers])))

    func search(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try SearchParameters(call.parameters)
        let (_, prompt) = try shown(parameters.agent, parameters.cookie, session)
        prompt.query?.noteSearch(parameters.query)
        WaitingCall.run(Search(call: call, session: session, parameters: parameters), self)
    }

    func show(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ShowParameters(call.parameters)
        WaitingCall.run(Show(call: call, session: session, parameters: parameters), self)
    }

    /// The rows of these contacts, in their order. Contacts that were deleted meanwhile are left out.
    fileprivate func rows(
        of similar: [SimilarContact], _ book: ContactsStore
    ) throws(StoreError) -> [(RecordNumber, StoredContact)] {
        guard !similar.isEmpty else { return [] }
        var found: [RecordNumber: StoredContact] = [:]
        let query = ContactQuery(scope: .only(Set(similar.map(\.record))), limit: similar.count)
        _ = try book.fetch(query) { record, contact, _ in found[record] = contact }
        return similar.compactMap { row in found[row.record].map { (row.record, $0) } }
    }

    /// A contact group whose name begins with the query.
    fileprivate struct FoundGroup {
        let record: RecordNumber
        let name: String
        let members: Int
        var isShared = false
    }

    /// The number of groups in one search.
    private static let mostGroups = 3

    /// The contact groups that the person can share, if the query is the beginning of their names; or the groups that
    /// are shared already.
    fileprivate func groups(
        _ parameters: SearchParameters, _ prompt: Prompt, _ book: ContactsStore
    ) throws(StoreError) -> [FoundGroup] {
        guard prompt.kind == .access || prompt.kind == .manage else { return [] }
        let text = parameters.query.split(separator: " ").joined(separator: " ")
        let shared = grants.decided(grants.effectiveAccess(of: prompt.session))?.groups.records ?? []
        var found: [FoundGroup] = []
        if parameters.granted {
            guard text.isEmpty else { return [] }
            for record in shared.sorted() {
                guard let group = try book.group(record, of: nil) else { continue }
                let members = try book.sharedMembers(of: record) ?? []
                found.append(FoundGroup(record: record, name: group.name, members: members.count, isShared: true))
            }
            return found
        }
        guard !text.isEmpty else { return [] }
        for group in try book.groups(beginning: text, limit: Self.mostGroups) where !shared.contains(group.record) {
            let members = try book.sharedMembers(of: group.record) ?? []
            guard !members.isEmpty else { continue }
            found.append(FoundGroup(record: group.record, name: group.name, members: members.count))
        }
        return found
    }

    /// A group or container as a row shows it: an organization of that name.
    static func contact(named name: String) -> StoredContact {
        var contact = Contact()
        contact.contactType = .organization
        contact.organizationName = name
        return StoredContact(contact)
    }

    /// The contacts that the prompt's app can already see.
    fileprivate func granted(to prompt: Prompt) -> RecordScope {
        let effective = grants.effectiveAccess(of: prompt.session).effective
        guard case .permit(let disclosure) = decideAccess(effective, mayAsk: false) else { return .only([]) }
        return disclosure.scope
    }

    /// - Parameters:
    ///   - choices: for the one-time picker, the actions that each row permits.
    ///   - links: the links, if turning on a row also turns on its linked cards. The row then names the
    ///     number of linked cards.
    ///   - matched: the values by which the search found rows, if the rows do not show them otherwise.
    fileprivate func rows(
        _ rows: [(RecordNumber, StoredContact)], after groups: [FoundGroup] = [], total: Int, offset: Int,
        _ prompt: Prompt, choices: [Pick.Choice] = [], links: ContactLinks? = nil,
        matched: [RecordNumber: ValuePlace] = [:]
    ) -> DisclosedReply {
        let granted = granted(to: prompt)
        // The detail distinguishes contacts of the same name, so an app can omit it only for the one that matches.
        let hasDetail = prompt.question.caption != "defaultText" || total > 1
        var writer = DisclosedWriter(reservingCapacity: 256 + rows.count * 256)
        writer.beginArray("rows")
        for group in groups {
            writer.object { writer in
                let identifier = prompt.rows.identifier(of: group.record, as: .group)
                write(Self.contact(named: group.name), identifier, &writer)
                writer.member("granted", group.isShared ? "all" : "none")
                writer.member("enabled", true)
                writer.member("members", group.members)
                // Other programs of the user could otherwise add contacts to what they see.
                writer.member("grows", !prompt.caller.strength.isAssumable)
            }
        }
        for (index, (record, contact)) in rows.enumerated() {
            writer.object { writer in
                let choice = choices.indices.contains(index) ? choices[index] : nil
                let others = (links?.members(of: record).count ?? 1) - 1
                write(
                    contact, prompt.rows.identifier(of: record, as: .agentRow),
                    detail: matched[record] ?? Self.caption(of: prompt), hasDetail: hasDetail, &writer)
                writer.member("granted", granted.contains(record) ? "all" : "none")
                writer.member("enabled", choice?.obstacle == nil)
                writer.member("returns", choice?.returns)
                if let obstacle = choice?.obstacle {
                    writer.member("problem", obstacle.problem.rawValue)
                    writer.member("key", obstacle.key?.rawValue)
                }
                if others > 0 { writer.member("linked", others) }
                writer.member("match", prompt.similar?.first { $0.record == record }?.match.rawValue)
            }
        }
        writer.endArray()
        writer.member("total", total)
        writer.member("more", offset + groups.count + rows.count < total)
        return writer.replyToPerson(recording: rows.count)
    }

    /// The value that the app's access button shows below the name; `nil` for the usual one.
    private static func caption(of prompt: Prompt) -> ValuePlace? {
        switch prompt.question.caption {
        case "email": ValuePlace(key: .emailAddresses)
        case "phone": ValuePlace(key: .phoneNumbers)
        default: nil
        }
    }

    func write(
        _ contact: StoredContact, _ identifier: String, detail: ValuePlace? = nil, hasDetail: Bool = true,
        _ writer: inout DisclosedWriter
    ) {
        writer.member("identifier", identifier)
        writer.members(of: row(of: contact, identifier, detail: detail, hasDetail: hasDetail))
    }

    func row(
        of contact: StoredContact, _ identifier: String = "", detail: ValuePlace? = nil, hasDetail: Bool = false
    ) -> DisclosedRow {
        (hasDetail ? Self.rowDisclosure : .forPerson(keys: Self.rowKeys)).row(
            of: contact, keys: Self.rowKeys, identifier: identifier, detail: detail,
            textLimit: services.limits.rowText)
    }

    /// The contacts that an access button does not offer: those that the app can already see or said that it
    /// knows.
    fileprivate func hidden(from prompt: Prompt) -> Set<RecordNumber> {
        guard prompt.kind == .button else { return [] }
        var hidden = prompt.ignoredRecords ?? []
        if case .only(let granted) = granted(to: prompt) { hidden.formUnion(granted) }
        return hidden
    }
}

/// One call of `Search`.
private struct Search: PromptCall {
    typealias Services = AgentSearches

    let call: Call
    let session: CallerSession
    let parameters: SearchParameters
    /// What a worker has found. It is used if the new decision leads to the same search.
    var found: (search: PersonSearch, found: PersonFound)?
    /// For the one-time picker, what a worker has found.
    var picked: (found: PersonFound, choices: [Pick.Choice])?

    var agent: String { parameters.agent }
    var cookie: String { parameters.cookie }

    func step(
        _ agent: Agent, _ prompt: Prompt, _ book: ContactsStore?, _ searches: AgentSearches
    ) throws(StoreError) -> Step<Self> {
        if let pick = prompt.question.pick { return search(pick, prompt, book, searches) }
        if let save = prompt.question.save, let book {
            guard parameters.query.isEmpty else {
                return fail(AgentError.invalidAnswer(.malformed, "the rows of a save cannot be searched"))
            }
            searches.groupCommit.disclose(try searches.rows(of: save, parameters, prompt, book), to: call, session)
            return .done
        }
        return try search(prompt, book, searches)
    }

    private func search(
        _ prompt: Prompt, _ book: ContactsStore?, _ searches: AgentSearches
    ) throws(StoreError) -> Step<Self> {
        var found = PersonFound()
        var groups: [AgentSearches.FoundGroup] = []
        var similar: [(RecordNumber, StoredContact)] = []
        if let book {
            if !prompt.question.ignored.isEmpty, prompt.ignoredRecords == nil {
                return findIgnored(prompt, book, searches)
            }
            if let proposal = prompt.question.proposal, parameters.query.isEmpty, !parameters.granted {
                guard let found = prompt.similar else {
                    // Looked up once per prompt.
                    return .wait(
                        for: .read(book) { (book) throws(StoreError) in
                            try SimilarContact.find(proposal.card, in: book)
                        } keep: {
                            prompt.similar = $1
                        })
                }
                similar = try searches.rows(of: found, book)
            }
            groups = try searches.groups(parameters, prompt, book)
            // The groups, or the contacts that resemble the offered card, come first, on the first page.
            let first = groups.count + similar.count
            let search = PersonSearch(
                parameters.query, scope: parameters.granted ? searches.granted(to: prompt) : .all,
                excluding: searches.hidden(from: prompt).union(similar.map(\.0)), order: book.settings.sortOrder,
                offset: max(0, parameters.offset - first), limit: parameters.limit)
            if let known = self.found, known.search == search {
                found = known.found
            } else {
                do throws(StoreError) {
                    found = try book.search(search, .bounded)
                } catch .takesLong {
                    return .wait(
                        for: .read(book) { (book) throws(StoreError) in
                            try book.search(search, .onWorker)
                        } keep: {
                            $0.found = (search, $1)
                        })
                }
            }
        }
        let links = prompt.kind == .propose ? nil : book?.links
        let shownGroups = Array(groups.dropFirst(parameters.offset).prefix(parameters.limit))
        let rows = similar.dropFirst(parameters.offset) + found.rows
        let shown = rows.prefix(parameters.limit - shownGroups.count)
        searches.groupCommit.disclose(
            searches.rows(
                Array(shown), after: shownGroups, total: found.total + groups.count + similar.count,
                offset: parameters.offset, prompt, links: links, matched: found.matched), to: call, session)
        return .done
    }

    /// Looks up the contacts that the app says it knows. The app may name hundreds of values, so a worker
    /// does this, once per prompt.
    private func findIgnored(_ prompt: Prompt, _ book: ContactsStore, _ searches: AgentSearches) -> Step<Self> {
        let limits = searches.services.limits
        let queries = prompt.question.ignored.map {
            ContactQuery(
                scope: .all, predicate: $0, limit: limits.contactsPerIteration, byteLimit: limits.bytesPerIteration)
        }
        return .wait(
            for: .read(book) { (book) throws(StoreError) in
                var found: Set<RecordNumber> = []
                for query in queries {
                    for row in try book.fetch(unified: query, .onWorker).0 { found.insert(row.record) }
                }
                return found
            } keep: {
                prompt.ignoredRecords = $1
            })
    }

    /// Searches rows for the picker. The rules decode stored contacts, so a worker evaluates them.
    private func search(
        _ pick: Pick, _ prompt: Prompt, _ book: ContactsStore?, _ searches: AgentSearches
    ) -> Step<Self> {
        if picked == nil, let book {
            let scope: RecordScope = parameters.granted ? searches.granted(to: prompt) : .all
            return .wait(
                for: .read(book) { [parameters] (book) throws(StoreError) in
                    let search = PersonSearch(
                        parameters.query, scope: scope, order: .familyName, offset: parameters.offset,
                        limit: parameters.limit)
                    let found = try book.search(search, .onWorker)
                    return (found, found.rows.map { pick.choice($0.0, $0.1) })
                } keep: {
                    $0.picked = $1
                })
        }
        let (found, choices) = picked ?? (PersonFound(), [])
        searches.groupCommit.disclose(
            searches.rows(
                found.rows, total: found.total, offset: parameters.offset, prompt, choices: choices,
                matched: found.matched), to: call, session)
        return .done
    }
}

/// One call of `Show`.
private struct Show: PromptCall {
    typealias Services = AgentSearches

    let call: Call
    let session: CallerSession
    let parameters: ShowParameters
    /// For the one-time picker, what a worker has read: the contact, and the keys whose values can be chosen.
    var read: (row: DisclosableContact, selectable: ContactKeySet)??

    var agent: String { parameters.agent }
    var cookie: String { parameters.cookie }

    func step(
        _ agent: Agent, _ prompt: Prompt, _ book: ContactsStore?, _ searches: AgentSearches
    ) throws(StoreError) -> Step<Self> {
        let record = prompt.rows.record(parameters.identifier, as: .agentRow)
        if let pick = prompt.question.pick {
            guard let record else {
                return fail(AgentError.invalidAnswer(.malformed, "the prompt has no such row"))
            }
            return show(record, pick, prompt, book, searches)
        }
        if let save = prompt.question.save {
            guard let book, let shown = try searches.contact(parameters.identifier, of: save, prompt, book) else {
                return fail(Self.contactGone)
            }
            return show(shown, prompt, searches)
        }
        var found: [DisclosableContact] = []
        if let book, let record {
            _ = try book.fetch(ContactQuery(scope: .all, predicate: .records([record]), limit: 1)) {
                found.append(($0, $1, $2 ?? ContactImages()))
            }
        }
        guard !found.isEmpty else { return fail(Self.contactGone) }
        return show(Self.disclosed(found, prompt), searches)
    }

    private static func disclosed(_ contacts: [DisclosableContact], _ prompt: Prompt) -> DisclosedContacts {
        Disclosure.forPerson(keys: .all).project(
            contacts, of: ContactKeySet.all.subtracting(.images), under: prompt.rows, as: .agentRow)
    }

    /// Shows a contact of a save.
    private func show(
        _ shown: AgentSearches.ShownContact, _ prompt: Prompt, _ searches: AgentSearches
    ) -> Step<Self> {
        let former = shown.former.map { Self.disclosed([(shown.record, $0, .none)], prompt) }
        return show(
            Self.disclosed([(shown.record, shown.contact, .none)], prompt), former: former, photo: shown.photo, searches
        )
    }

    /// Shows the card of one row. Besides names, the agent gets only the keys that the app may get, and no
    /// images.
    private func show(
        _ record: RecordNumber, _ pick: Pick, _ prompt: Prompt, _ book: ContactsStore?, _ searches: AgentSearches
    ) -> Step<Self> {
        guard let book else { return fail(Self.contactGone) }
        guard let read else {
            return .wait(
                for: .read(book) { (book) throws(StoreError) in
                    try book.rows([record], images: []).first.map { ($0, pick.selectable($0.record, $0.contact)) }
                } keep: {
                    $0.read = .some($1)
                })
        }
        guard let (row, selectable) = read else { return fail(Self.contactGone) }
        let keys = pick.permitted.union(.names).subtracting(.images)
        let disclosed = Disclosure.forPerson(keys: keys).project([row], of: keys, under: prompt.rows, as: .agentRow)
        return show(disclosed, selectable: selectable, searches)
    }

    /// - Parameter selectable: for the one-time picker, the keys whose values can be chosen.
    private func show(
        _ contact: DisclosedContacts, selectable: ContactKeySet? = nil, former: DisclosedContacts? = nil,
        photo: String? = nil, _ searches: AgentSearches
    ) -> Step<Self> {
        guard contact.size + (former?.size ?? 0) <= searches.services.limits.largestReply else {
            return fail(AgentError.invalidAnswer(.contactTooLarge, "the contact is too large to show"))
        }
        var writer = DisclosedWriter(reservingCapacity: contact.size + 256)
        writer.member("contact", only: contact)
        writer.member("selectable", selectable?.keys.map(\.rawValue))
        if let former { writer.member("former", only: former) }
        writer.member("photo", photo)
        searches.groupCommit.disclose(writer.replyToPerson(recording: 1), to: call, session)
        return .done
    }

    private static let contactGone = AgentError.invalidAnswer(.contactGone, "the contact no longer exists")
}
