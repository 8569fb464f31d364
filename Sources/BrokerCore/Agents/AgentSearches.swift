import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Searches and shows the person's contacts for an agent that shows a prompt.
struct AgentSearches {
    let surroundings: Surroundings
    let groupCommit: GroupCommit
    let grants: Grants
    let books: Books
    let longReads: LongReads
    let shown: ShownPrompts

    private static let rowKeys = ContactKeySet.names
    private static let rowDisclosure = Disclosure.forPerson(
        keys: rowKeys.union(ContactKeySet([.emailAddresses, .phoneNumbers])))

    func search(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try SearchParameters(call.parameters)
        let (_, prompt) = try shown.shown(parameters.agent, parameters.cookie, session)
        prompt.query?.noteSearch(parameters.query)
        if let pick = prompt.question.pick { return search(parameters, pick, prompt, call, session) }
        try search(parameters, call, session, found: nil)
    }

    /// - Parameter known: a search that a worker has done, and its result. The result is used if the new
    ///   search is equal.
    private func search(
        _ parameters: SearchParameters, _ call: Call, _ session: CallerSession,
        found known: (search: PersonSearch, found: PersonFound)?
    ) throws(VarlinkError) {
        try shown.withShown(parameters.agent, parameters.cookie, call, session) {
            (_, prompt, book) throws(StoreError) in
            var found = PersonFound()
            var groups: [FoundGroup] = []
            var similar: [(RecordNumber, StoredContact)] = []
            if let book {
                if !prompt.question.ignored.isEmpty, prompt.ignoredRecords == nil {
                    return findIgnored(prompt, book, parameters, call, session)
                }
                if let proposal = prompt.question.proposal, parameters.query.isEmpty, !parameters.granted {
                    guard let found = prompt.similar else {
                        return findSimilar(proposal.card, prompt, book, parameters, call, session)
                    }
                    similar = try rows(of: found, book)
                }
                groups = try self.groups(parameters, prompt, book)
                // The groups, or the contacts that resemble the offered card, come first, on the first page.
                let first = groups.count + similar.count
                let search = PersonSearch(
                    parameters.query, scope: parameters.granted ? granted(to: prompt) : .all,
                    excluding: hidden(from: prompt).union(similar.map(\.0)), order: book.settings.sortOrder,
                    offset: max(0, parameters.offset - first), limit: parameters.limit)
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
            let shownGroups = Array(groups.dropFirst(parameters.offset).prefix(parameters.limit))
            let rows = similar.dropFirst(parameters.offset) + found.rows
            let shown = rows.prefix(parameters.limit - shownGroups.count)
            groupCommit.disclose(
                self.rows(
                    Array(shown), after: shownGroups, total: found.total + groups.count + similar.count,
                    offset: parameters.offset, prompt, links: links, matched: found.matched), to: call, session)
        }
    }

    /// Looks up the contacts that resemble an offered card, on a worker and once per prompt.
    private func findSimilar(
        _ card: Contact, _ prompt: Prompt, _ book: ContactsStore, _ parameters: SearchParameters, _ call: Call,
        _ session: CallerSession
    ) {
        longReads.read(book, for: call, session) { (book) throws(StoreError) in
            try SimilarContact.find(card, in: book)
        } then: { found in
            prompt.similar = found
            searchAgain(parameters, call, session, found: nil)
        }
    }

    /// The rows of these contacts, in their order. Contacts that were deleted meanwhile are left out.
    private func rows(
        of similar: [SimilarContact], _ book: ContactsStore
    ) throws(StoreError) -> [(RecordNumber, StoredContact)] {
        guard !similar.isEmpty else { return [] }
        var found: [RecordNumber: StoredContact] = [:]
        let query = ContactQuery(scope: .only(Set(similar.map(\.record))), limit: similar.count)
        _ = try book.fetch(query) { record, contact, _ in found[record] = contact }
        return similar.compactMap { row in found[row.record].map { (row.record, $0) } }
    }

    /// Looks up the contacts that the app says it knows. The app may name hundreds of values, so a worker
    /// does this, once per prompt.
    private func findIgnored(
        _ prompt: Prompt, _ book: ContactsStore, _ parameters: SearchParameters, _ call: Call, _ session: CallerSession
    ) {
        let queries = prompt.question.ignored.map {
            ContactQuery(
                scope: .all, predicate: $0, limit: surroundings.limits.contactsPerIteration,
                byteLimit: surroundings.limits.bytesPerIteration)
        }
        longReads.read(book, for: call, session) { (book) throws(StoreError) in
            var found: Set<RecordNumber> = []
            for query in queries { for row in try book.fetch(unified: query, .onWorker).0 { found.insert(row.record) } }
            return found
        } then: { found in
            prompt.ignoredRecords = found
            searchAgain(parameters, call, session, found: nil)
        }
    }

    private func search(
        _ search: PersonSearch, _ book: ContactsStore, _ parameters: SearchParameters, _ call: Call,
        _ session: CallerSession
    ) {
        longReads.read(book, for: call, session) { (book) throws(StoreError) in
            try book.search(search, .onWorker)
        } then: { found in
            searchAgain(parameters, call, session, found: (search, found))
        }
    }

    /// Starts the search again, because the prompt may have ended meanwhile.
    private func searchAgain(
        _ parameters: SearchParameters, _ call: Call, _ session: CallerSession,
        found known: (search: PersonSearch, found: PersonFound)?
    ) {
        do throws(VarlinkError) {
            try search(parameters, call, session, found: known)
        } catch {
            call.fail(error)
        }
    }

    /// A contact group whose name begins with the query.
    private struct FoundGroup {
        let record: RecordNumber
        let name: String
        let members: Int
        var isShared = false
    }

    /// The number of groups in one search.
    private static let mostGroups = 3

    /// The contact groups that the person can share, if the query is the beginning of their names; or the groups that
    /// are shared already.
    private func groups(
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

    private func contact(_ group: FoundGroup) -> StoredContact {
        var type = JSONWriter()
        type.value(ContactType.organization.rawValue)
        var name = JSONWriter()
        name.value(group.name)
        return StoredContact(values: [(.contactType, type.bytes), (.organizationName, name.bytes)])
    }

    /// The contacts that the prompt's app can already see.
    private func granted(to prompt: Prompt) -> RecordScope {
        let effective = grants.effectiveAccess(of: prompt.session).effective
        guard case .permit(let disclosure) = decideAccess(effective, mayAsk: false) else { return .only([]) }
        return disclosure.scope
    }

    /// - Parameters:
    ///   - choices: for the one-time picker, the actions that each row permits.
    ///   - links: the links, if turning on a row also turns on its linked cards. The row then names the
    ///     number of linked cards.
    ///   - matched: the values by which the search found rows, if the rows do not show them otherwise.
    private func rows(
        _ rows: [(RecordNumber, StoredContact)], after groups: [FoundGroup] = [], total: Int, offset: Int,
        _ prompt: Prompt, choices: [Pick.Choice] = [], links: ContactLinks? = nil,
        matched: [RecordNumber: ValuePlace] = [:]
    ) -> DisclosedReply {
        let granted = granted(to: prompt)
        var writer = DisclosedWriter(reservingCapacity: 256 + rows.count * 256)
        writer.beginArray("rows")
        for group in groups {
            writer.object { writer in
                let identifier = prompt.rows.identifier(of: group.record, as: .group)
                write(contact(group), identifier, &writer)
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
                    detail: matched[record] ?? Self.caption(of: prompt), &writer)
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

    private func write(
        _ contact: StoredContact, _ identifier: String, detail: ValuePlace? = nil, _ writer: inout DisclosedWriter
    ) {
        writer.member("identifier", identifier)
        writer.members(
            of: Self.rowDisclosure.row(
                of: contact, keys: Self.rowKeys, identifier: identifier, detail: detail,
                textLimit: surroundings.limits.rowText))
    }

    func show(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ShowParameters(call.parameters)
        let (_, prompt) = try shown.shown(parameters.agent, parameters.cookie, session)
        if let pick = prompt.question.pick { return try show(parameters.identifier, pick, prompt, call, session) }
        try shown.withShown(parameters.agent, parameters.cookie, call, session) {
            (_, prompt, book) throws(StoreError) in
            var found: [DisclosableContact] = []
            if let book, let record = prompt.rows.record(parameters.identifier, as: .agentRow) {
                _ = try book.fetch(ContactQuery(scope: .all, predicate: .records([record]), limit: 1)) {
                    found.append(($0, $1, ImageMembers($2)))
                }
            }
            guard !found.isEmpty else { return call.fail(Self.contactGone) }
            let disclosed = Disclosure.forPerson(keys: .all).project(
                found, of: ContactKeySet.all.subtracting(.images), under: prompt.rows, as: .agentRow)
            show(disclosed, call, session)
        }
    }

    private static let contactGone = AgentError.invalidAnswer(.contactGone, "the contact no longer exists")

    /// - Parameter selectable: for the one-time picker, the keys whose values can be chosen.
    private func show(
        _ contact: DisclosedContacts, selectable: ContactKeySet? = nil, _ call: Call, _ session: CallerSession
    ) {
        guard contact.size <= surroundings.limits.largestReply else {
            return call.fail(AgentError.invalidAnswer(.contactTooLarge, "the contact is too large to show"))
        }
        var writer = DisclosedWriter(reservingCapacity: contact.size + 256)
        writer.member("contact", only: contact)
        writer.member("selectable", selectable?.keys.map(\.rawValue))
        groupCommit.disclose(writer.replyToPerson(recording: 1), to: call, session)
    }

    // MARK: The access button

    /// The contacts that an access button does not offer: those that the app can already see or said that it
    /// knows.
    private func hidden(from prompt: Prompt) -> Set<RecordNumber> {
        guard prompt.kind == .button else { return [] }
        var hidden = prompt.ignoredRecords ?? []
        if case .only(let granted) = granted(to: prompt) { hidden.formUnion(granted) }
        return hidden
    }

    // MARK: The one-time picker

    /// Searches rows for the picker. The rules decode stored contacts, so a worker evaluates them.
    private func search(
        _ parameters: SearchParameters, _ pick: Pick, _ prompt: Prompt, _ call: Call, _ session: CallerSession
    ) {
        let scope: RecordScope = parameters.granted ? granted(to: prompt) : .all
        longReads.read(books, for: call, session) { (book) throws(StoreError) in
            let search = PersonSearch(
                parameters.query, scope: scope, order: .familyName, offset: parameters.offset,
                limit: parameters.limit)
            let found = try book.search(search, .onWorker)
            return (found, found.rows.map { pick.choice($0.0, $0.1) })
        } then: { answer in
            let (found, choices) = answer ?? (PersonFound(), [])
            groupCommit.disclose(
                self.rows(
                    found.rows, total: found.total, offset: parameters.offset, prompt, choices: choices,
                    matched: found.matched), to: call, session)
        }
    }

    /// Shows the card of one row. Besides names, the agent gets only the keys that the app may get, and no
    /// images.
    private func show(
        _ identifier: String, _ pick: Pick, _ prompt: Prompt, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        guard let record = prompt.rows.record(identifier, as: .agentRow) else {
            throw AgentError.invalidAnswer(.malformed, "the prompt has no such row")
        }
        longReads.read(books, for: call, session) { (book) throws(StoreError) in
            try book.rows([record], images: []).first.map { ($0, pick.selectable($0.record, $0.contact)) }
        } then: { found in
            guard case let (row, selectable)?? = found else {
                return call.fail(Self.contactGone)
            }
            let keys = pick.permitted.union(.names).subtracting(.images)
            let disclosed = Disclosure.forPerson(keys: keys).project([row], of: keys, under: prompt.rows, as: .agentRow)
            show(disclosed, selectable: selectable, call, session)
        }
    }
}
