import BrokerAccessControl
import BrokerAccessStore
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

/// One call of `FetchHistory`, from its parameters to its last batch.
///
/// The changes are looked up once, on the user's queue. Each batch is then decided again and read from the
/// current book. Every reply before the last contains the token from the parameters, or a token for the
/// beginning if that token is missing or unreadable. A caller that stops early therefore gets the same
/// changes again.
struct FetchHistory: PermittedCall {
    /// One part of the change history to disclose.
    private enum Part {
        case startOver
        case gone(HistoryPlan.Kind, RecordNumber, RecordKind)
        /// All visible contacts.
        case everybody
        case contacts([RecordNumber], [RecordNumber: HistoryPlan.Kind])
        case group(HistoryPlan.Kind, RecordNumber)
        case link(HistoryPlan.Link, HistoryPlan.Kind)
        /// The memberships of these contacts in these groups; `nil` for all groups. In the first group, they
        /// start after a cursor.
        case memberships(Set<RecordNumber>, of: [RecordNumber]?, after: RecordNumber?)
        /// The members of one group, starting after a cursor.
        case contents(RecordNumber, after: RecordNumber?)
    }

    let call: Call
    let session: CallerSession
    private let parameters: FetchHistoryParameters
    var asked = Asked.notYet
    /// The parts that are still to be sent, in reverse order; `nil` until the changes are looked up.
    private var parts: [Part]?
    /// Why the changes cannot be looked up.
    private var failure: StoreError?
    /// The cursor in the list of all contacts.
    private var after: Position?
    private var end = HistoryPlace.beginning

    init(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        (self.call, self.session) = (call, session)
        parameters = try FetchHistoryParameters(call.parameters)
    }

    var question: Question { Question(kind: .access, keys: parameters.keys) }
    var keys: ContactKeySet { parameters.keys }

    mutating func answer(_ context: ReadContext, _ services: BrokerServices) throws(ReadContext.Failure) -> Step<Self> {
        try context.orFail { (context) throws(StoreError) in
            if let failure { throw failure }
            return try parts == nil ? plan(context, services) : write(context, services)
        }
    }

    // MARK: Planning

    private mutating func plan(_ context: ReadContext, _ services: BrokerServices) throws(StoreError) -> Step<Self> {
        end = try services.places.place(context)
        guard let start = start(context, services) else {
            parts = try everything(context)
            return try write(context, services)
        }
        let set = services.places.setHistory(of: context.principal).events(since: start.set)
        let events = set.filter { $0.kind != .forgotten }[...]
        // If there is no book, nothing has changed.
        guard let book = context.book, start != end || !events.isEmpty else {
            parts = []
            return try write(context, services)
        }
        let disclosure = context.disclosure
        let scope = context.changeScope
        var about = disclosure.scope
        if case .only(let records) = about { about = .only(records.union(events.map(\.record))) }
        // The links at the token's place are computed backwards from the current links. This requires all
        // changes since the token's place, including those that the caller cannot see and those after the
        // last disclosed one.
        let (links, change) = book.linksAtLastChange(seeing: scope.keys)
        let (first, last, owner) = (start.change, max(end.change, change), scope.groupOwner)
        asked = .tooLate
        return .wait(
            for: .job(on: services.books.queue(of: session.caller.uid)) { [about] () throws(StoreError) in
                try book.changes(after: first, through: last, of: about, groupsOf: owner)
            } keep: { call, result in
                switch result {
                case .failure(let error): call.failure = error
                case .success(let changes): call.planned(changes, events, scope, links)
                }
            })
    }

    private mutating func planned(
        _ changes: [BookChange], _ events: ArraySlice<SetEvent>, _ scope: ChangeScope, _ links: ContactLinks
    ) {
        let authors = parameters.excludedAuthors
        let isExcluded = { (author: ChangeAuthor) in author.app == scope.app && authors.contains(author.name) }
        let last = end.change
        let plan = HistoryPlan(changes.filter { $0.number <= last }, events, scope, excluding: isExcluded)
        if parameters.unify, !links.isEmpty || changes.contains(where: \.kind.isOfLinks) {
            let unified = UnifiedHistory(plan, changes, links, scope, excluding: isExcluded)
            let gone = unified.gone(withCards: parameters.includeGroups).sorted { $0.key.first < $1.key.first }
                .map { Part.gone($0.value, $0.key.first, $0.key.isUnified ? .unifiedContact : .contact) }
            parts = parts(gone, unified.contacts, plan, repeating: unified.cardsReportedDeleted)
        } else {
            let gone = plan.gone.sorted { $0.key < $1.key }.map { Part.gone($0.value, $0.key, .contact) }
            parts = parts(gone, plan.contacts, plan)
        }
    }

    /// The place that the token names in the caller's current history; `nil` if the token is not valid for
    /// that history.
    private func start(_ context: ReadContext, _ services: BrokerServices) -> HistoryPlace? {
        guard
            let token = parameters.token.flatMap({ context.identifiers.open($0, as: .history) })
                .flatMap(HistoryToken.init),
            token.time >= services.seconds - StoreLimits.history,
            // A token from the future was issued before the clock was set back. Changes since then may have
            // lower numbers than the token's place.
            token.time <= services.seconds, token.place.epoch == end.epoch,
            token.place.terms == end.terms
        else { return nil }
        // A place ahead of the book belongs to a book that no longer exists.
        let last = max(context.book?.lastChange ?? 0, HistoryToken.floor(at: token.time))
        guard token.place.change <= last, token.place.set <= end.set else { return nil }
        return token.place
    }

    private func everything(_ context: ReadContext) throws(StoreError) -> [Part] {
        var parts: [Part] = [.startOver, .everybody]
        if parameters.includeGroups, let groups = try context.book?.groups(of: context.groupOwner) {
            parts += groups.map { .group(.addGroup, $0.record) } + groups.map { .contents($0.record, after: nil) }
        }
        return parts.reversed()
    }

    private func parts(
        _ gone: [Part], _ contacts: [RecordNumber: HistoryPlan.Kind], _ plan: HistoryPlan,
        repeating cards: Set<RecordNumber> = []
    ) -> [Part] {
        var parts = gone
        if !contacts.isEmpty { parts.append(.contacts(contacts.keys.sorted(), contacts)) }
        guard parameters.includeGroups else { return parts.reversed() }
        parts += plan.groups.sorted { $0.key < $1.key }.map { .group($0.value, $0.key) }
        // All memberships of these cards are sent below, so they are left out here.
        let links = plan.links.filter { $0.value != .addMember || !cards.contains($0.key.member) }.sorted {
            ($0.key.isSubgroup ? 1 : 0, $0.key.group, $0.key.member)
                < ($1.key.isSubgroup ? 1 : 0, $1.key.group, $1.key.member)
        }
        parts += links.map { .link($0.key, $0.value) }
        let members = plan.newlyGranted.union(cards)
        if !members.isEmpty { parts.append(.memberships(members, of: nil, after: nil)) }
        return parts.reversed()
    }

    // MARK: Sending

    private mutating func write(_ context: ReadContext, _ services: BrokerServices) throws(StoreError) -> Step<Self> {
        let limits = services.limits
        var events = HistoryEvents(
            context: context, keys: parameters.keys, unifies: parameters.unify,
            limit: call.more ? limits.contactsPerIteration : limits.contactsPerReply,
            byteLimit: call.more ? limits.bytesPerIteration : limits.bytesPerReply)
        while !events.isFull, let part = parts?.popLast() {
            if let rest = try write(part, &events) { parts?.append(rest) }
        }
        let continues = parts?.isEmpty == false
        guard call.more || !continues else { return fail(.expectedMore, services) }
        let token: String?
        if continues {
            token =
                parameters.token.flatMap { context.identifiers.open($0, as: .history) == nil ? nil : $0 }
                ?? context.identifiers.seal(
                    HistoryToken(.beginning, at: services.seconds).bytes, as: .history)
        } else {
            token = context.identifiers.seal(HistoryToken(end, at: services.seconds).bytes, as: .history)
        }
        guard let token else { return fail(ContactsError.storeUnavailable, services) }
        let reply = events.reply(token: token, detail: String(call.name))
        guard reply.size <= services.limits.largestReply else {
            return fail(ContactsError.limitExceeded("reply", maximum: services.limits.largestReply), services)
        }
        guard continues else {
            services.groupCommit.disclose(reply, to: call, session)
            return .done
        }
        asked = .tooLate
        return .wait(for: .taken(reply, isPaced: false))
    }

    private func fail(_ error: VarlinkError, _ services: BrokerServices) -> Step<Self> {
        services.groupCommit.fail(error, call)
        return .done
    }

    /// Writes as much of a part as the reply has room for. Returns the rest of the part; `nil` if nothing is
    /// left.
    private mutating func write(_ part: Part, _ events: inout HistoryEvents) throws(StoreError) -> Part? {
        switch part {
        case .startOver: events.startOver()
        case .gone(let kind, let record, let type): events.gone(kind, record, as: type)
        case .everybody:
            let end = try events.contacts(nil, after: after) { _ in .addContact }?.end
            after = end?.last ?? after
            return end?.hasMore == true ? .everybody : nil
        case .contacts(let records, let kinds):
            let batch = Array(records.prefix(events.room))
            let disclosed = try events.contacts(.records(batch), after: nil) { kinds[$0] ?? .updateContact }
            var rest = Array(records.dropFirst(batch.count))
            if let disclosed, disclosed.end.hasMore, let last = disclosed.end.last?.record {
                // A card that was linked meanwhile may have been sent with the first card of its contact.
                // Such a card is left out here.
                rest = batch.filter { $0 > last && !disclosed.cards.contains($0) } + rest
            }
            return rest.isEmpty ? nil : .contacts(rest, kinds)
        case .group(let kind, let record): try events.group(kind, record)
        case .link(let link, let kind): try events.link(kind, link)
        case .memberships(let contacts, let groups, let place):
            let all: [RecordNumber]
            if let groups { all = groups } else { all = try events.groups() }
            return try write(contacts, all[...], place, &events)
        case .contents(let group, let place):
            if let place = try events.contents(of: group, after: place) { return .contents(group, after: place) }
        }
        return nil
    }

    private func write(
        _ contacts: Set<RecordNumber>, _ groups: ArraySlice<RecordNumber>, _ place: RecordNumber?,
        _ events: inout HistoryEvents
    ) throws(StoreError) -> Part? {
        var (groups, place) = (groups, place)
        while let group = groups.first {
            guard !events.isFull else { return .memberships(contacts, of: Array(groups), after: place) }
            place = try events.members(of: group, amongst: contacts, after: place)
            if place == nil { groups.removeFirst() }
        }
        return nil
    }
}
