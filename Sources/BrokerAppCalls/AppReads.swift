import BrokerAccessControl
import BrokerBooks
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// A call about data other than contacts' contents that is answered at once when it is permitted.
private struct Read: PermittedCall {
    let call: Call
    let session: CallerSession
    var createsBook = false
    var refuse: (Disclosure) -> VarlinkError? = { _ in nil }
    let body: (ReadContext) throws(ReadContext.Failure) -> Void
    var asked = Asked.notYet

    func refusal(of disclosure: Disclosure, _ services: BrokerServices) -> VarlinkError? { refuse(disclosure) }

    mutating func answer(_ context: ReadContext, _ services: BrokerServices) throws(ReadContext.Failure) -> Step<Self> {
        try body(context)
        return .done
    }
}

/// One call of `CountContacts`. It counts the contacts that a fetch with `unify` would list for the caller. Linked cards
/// count as one contact.
struct CountContacts: PermittedCall {
    let call: Call
    let session: CallerSession
    let predicate: WirePredicate?
    var asked = Asked.notYet
    /// A count from a worker. It is used if the new decision leads to the same query.
    private var counted: (query: ContactQuery, count: Int)?

    init(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        (self.call, self.session) = (call, session)
        predicate = try CountContactsParameters(call.parameters).predicate
    }

    mutating func answer(_ context: ReadContext, _ services: BrokerServices) throws(ReadContext.Failure) -> Step<Self> {
        let query = try context.orFail { (context) throws(StoreError) in try context.query(predicate) }
        guard let book = context.book, var query else { return reply(0, context, services) }
        query.unifies = true
        if let counted, counted.query == query { return reply(counted.count, context, services) }
        do throws(StoreError) {
            return reply(try book.count(query, .bounded), context, services)
        } catch .takesLong {
            // The call was permitted, so the person is not asked again.
            asked = .tooLate
            return .wait(
                for: .read(book) { [query] (book) throws(StoreError) in
                    try book.count(query, .onWorker)
                } keep: { [query] call, count in
                    call.counted = (query, count)
                })
        } catch {
            throw .store(error)
        }
    }

    private func reply(_ count: Int, _ context: ReadContext, _ services: BrokerServices) -> Step<Self> {
        AppReads(services: services).reply(to: call, session, context, count: count) { $0.member("count", count) }
        return .done
    }
}

/// Calls about data other than contacts' contents: linked cards, groups, containers and settings.
struct AppReads {
    let services: BrokerServices

    /// Decides a call, and runs `answer` if the call is permitted.
    private func read(
        _ call: Call, _ session: CallerSession, _ answer: @escaping (ReadContext) throws(ReadContext.Failure) -> Void
    ) {
        WaitingCall.run(Read(call: call, session: session, body: answer), services)
    }

    /// Sends the reply to a call after its audit record is committed. If the grant is revoked first, the
    /// reply is withdrawn.
    ///
    /// - Parameter count: the number of records that the reply discloses.
    fileprivate func reply(
        to call: Call, _ session: CallerSession, _ context: ReadContext, count: Int,
        _ write: (inout DisclosedWriter) -> Void
    ) {
        var writer = DisclosedWriter()
        write(&writer)
        services.groupCommit.disclose(
            writer.reply(under: context.basis, recording: [.count(count)], detail: String(call.name)), to: call, session
        )
    }

    // MARK: Contacts

    /// Lists the visible members of a unified contact. For a card without visible linked cards, the card
    /// itself is the only member.
    func listLinkedContacts(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ListLinkedContactsParameters(call.parameters)
        read(call, session) { (context) throws(ReadContext.Failure) in
            let record = try context.contact(parameters.identifier)
            let members = context.members(of: record)
            reply(to: call, session, context, count: members.count) {
                $0.member("identifiers", members.map { context.identifiers.identifier(of: $0, as: .contact) })
            }
        }
    }

    // MARK: Groups and containers

    func listGroups(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ListGroupsParameters(call.parameters)
        read(call, session) { (context) throws(ReadContext.Failure) in
            let found = try context.orFail { context throws(StoreError) in try groups(parameters, context) }
            reply(to: call, session, context, count: found.count) {
                $0.array("groups", found) { writer, found in
                    context.describe(found.group, found.parents, &writer)
                }
            }
        }
    }

    private func groups(
        _ parameters: ListGroupsParameters, _ context: ReadContext
    ) throws(StoreError) -> [(group: StoredGroup, parents: [RecordNumber])] {
        var groups = try context.book?.groups(of: context.groupOwner) ?? []
        if let container = parameters.container {
            groups = groups.filter { context.containerIdentifier($0.container) == container }
        }
        if let identifiers = parameters.identifiers {
            // Any identifier that does not name a visible group is skipped.
            let wanted = Set(identifiers.compactMap { context.identifiers.record($0, as: .group) })
            groups = groups.filter { wanted.contains($0.record) }
        }
        let visible = Set(groups.map(\.record))
        var found: [(group: StoredGroup, parents: [RecordNumber])] = []
        for group in groups {
            let parents =
                parameters.identifiers == nil
                ? group.parents.filter(visible.contains) : try context.visibleParents(of: group)
            found.append((group, parents))
        }
        return found
    }

    func listContainers(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ListContainersParameters(call.parameters)
        read(call, session) { (context) throws(ReadContext.Failure) in
            var wanted: String?
            if let name = parameters.contact {
                let contact = try context.contact(name)
                wanted = try context.orFail { context throws(StoreError) in
                    try context.containerIdentifier(ofContact: contact)
                }
            }
            if let name = parameters.group {
                let group = try context.orFail { context throws(StoreError) in try context.group(named: name) }
                guard let group else { throw .call(ContactsError.recordDoesNotExist()) }
                let container = context.containerIdentifier(group.container)
                if let wanted, wanted != container { throw .call(ContactsError.recordDoesNotExist()) }
                wanted = container
            }
            let all = try context.orFail { context throws(StoreError) in try context.containers() }
            let found = all.filter { wanted == nil || context.identifier(of: $0) == wanted }
            reply(to: call, session, context, count: 0) {
                $0.array("containers", found) { writer, container in
                    writer.member("identifier", context.identifier(of: container))
                    writer.member("name", container?.name ?? Containers.localName)
                    writer.member("kind", "local")
                }
                $0.member("defaultContainer", context.identifier(of: nil))
            }
        }
    }

    // MARK: Settings

    /// Replies with the user's settings: sort order, display order and country code.
    func getUserDefaults(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.parameters.count == 0 else { throw .invalidParameter(call.firstParameter) }
        read(call, session) { (context) throws(ReadContext.Failure) in
            let settings = context.book?.settings ?? BookSettings()
            reply(to: call, session, context, count: 0) {
                $0.member("sortOrder", SortOrder(settings.sortOrder).rawValue)
                $0.member("displayOrder", SortOrder(settings.displayOrder).rawValue)
                $0.member("countryCode", settings.countryCode)
                $0.member("language", context.book?.locale ?? services.surroundings.language)
            }
        }
    }

    func setUserDefaults(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try SetUserDefaultsParameters(call.parameters)
        // This call is decided like a read, but only an app with full access that may change all may change settings.
        let refusing = { (disclosure: Disclosure) -> VarlinkError? in
            guard disclosure.scope != .all else { return nil }
            services.groupCommit.record(
                .refusal, of: session.caller, { $0.status = .limited }, detail: String(call.name))
            return ContactsError.accessDenied
        }
        let read = Read(call: call, session: session, createsBook: true, refuse: refusing) {
            (context) throws(ReadContext.Failure) in
            guard context.permissions.mayChangeSettings else {
                services.groupCommit.record(
                    .refusal, of: session.caller, { $0.status = .full }, detail: String(call.name))
                throw .call(ContactsError.accessDenied)
            }
            guard let book = context.book else { throw .call(ContactsError.storeUnavailable) }
            let isTaken = services.saves.set(book, of: session.caller.uid) {
                $0.sortOrder = parameters.sortOrder?.stored ?? $0.sortOrder
                $0.displayOrder = parameters.displayOrder?.stored ?? $0.displayOrder
                $0.countryCode = parameters.countryCode ?? $0.countryCode
                $0.language = parameters.language ?? $0.language
            } done: { result in
                if case .failure(let error) = result { return services.problems.unavailable(call, error) }
                services.groupCommit.record(.save, of: session.caller, { $0.count = 0 }, detail: String(call.name))
                services.groupCommit.reply(Array("{}".utf8), to: call)
            }
            if !isTaken { throw .call(ContactsError.storeUnavailable) }
        }
        WaitingCall.run(read, services)
    }
}

extension SortOrder {
    fileprivate init(_ order: ContactOrder) {
        switch order {
        case .none: self = .none
        case .givenName: self = .givenName
        case .familyName: self = .familyName
        }
    }

    /// `nil` if the order cannot be stored as a setting.
    fileprivate var stored: ContactOrder? {
        switch self {
        case .givenName: .givenName
        case .familyName: .familyName
        case .none, .userDefault: nil
        }
    }
}
