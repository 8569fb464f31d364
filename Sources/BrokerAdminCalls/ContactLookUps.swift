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

/// Answers who may see a contact now, and who saw it. The caller's authorization must be checked first.
///
/// Replies have no content of contacts, no pseudonym and no record number: a caller cannot combine answers about
/// several contacts with the audit. Root may look up other users' contacts only if the settings permit it, only by
/// exact values, and only a few times an hour. Each look-up is on record, and that user can read the record.
struct ContactLookUps: UsesServices {
    let services: BrokerServices
    let foreign = ForeignLookUps()

    func find(
        _ parameters: FindContactAccessParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        let since = try AuditQueries.time(parameters.since, "since") ?? 0
        let uid = parameters.users.one(session.caller)
        try resolve([parameters.contact], named: "contact", uid: uid, call, session) { matches in
            guard matches[0].count == 1, let cards = matches[0].first else {
                return reply(to: call, matches: matches[0].count)
            }
            answer(call, uid: uid, cards, since: since)
        }
    }

    /// Answers with the records of the audit that concern a contact, oldest first: those that name it, and the lists
    /// of all contacts that may have contained it. The records have what the person may see of their own audit.
    func history(
        of text: String, _ parameters: QueryAuditParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        guard !parameters.follow, parameters.contact == nil else {
            throw AdminError.invalidValue("named", reason: "excludes follow and contact")
        }
        let uid = parameters.users.one(session.caller)
        let filter = try AuditQueries.filter(parameters, uid: uid)
        let limit = parameters.limit ?? ParameterLimits.auditRecords
        try resolve([text], named: "named", uid: uid, call, session) { matches in
            do throws(VarlinkError) {
                let cards = try Self.one(matches[0], text, "named")
                read(for: call, uid: uid, cards, since: 0, keeping: filter, AuditExtent.progress) {
                    let removedUntil = feed.removedDay(since: filter.since)
                    call.reply(AuditExtent.own.reply($0.records.suffix(limit), removedUntil: removedUntil))
                }
            } catch {
                call.fail(error)
            }
        }
    }

    /// Finds the contacts that the texts name, each as the cards that are linked to it. Each text counts as one
    /// look-up and is recorded as one.
    ///
    /// - Parameters:
    ///   - parameter: the parameter with the texts, for errors.
    ///   - then: gets the matches of each text.
    func resolve(
        _ texts: [String], named parameter: String, uid: UInt32, _ call: Call, _ session: CallerSession,
        then: @escaping ([[Set<RecordNumber>]]) -> Void
    ) throws(VarlinkError) {
        for text in texts {
            guard text.contains(where: { !$0.isWhitespace }) else { throw .invalidParameter(parameter) }
        }
        let isOwn = uid == session.caller.uid
        let detail = AdministratorSource(session).detail(for: uid)
        for _ in texts {
            if !isOwn { try countForeign(parameter) }
            groupCommit.record(.lookUp, uid: uid, detail: detail)
        }
        let ciphers = access.principals(of: uid)
            .compactMap { access.identifiers(for: $0, sharesPersistentKey: true) }
        let searches = texts.map { text in
            let named = isOwn ? ciphers.compactMap { $0.record(text, as: .contact) } : []
            return ContactSearch(text: text, named: Set(named), isExact: !isOwn)
        }
        books.with(uid) { result in
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(nil): then(texts.map { _ in [] })
            case .success(let book?):
                longReads.read(book, for: call, session) { (book) throws(StoreError) in
                    var matches: [[Set<RecordNumber>]] = []
                    for search in searches { matches.append(try search.matches(in: book)) }
                    return matches
                } then: { matches in
                    then(matches)
                }
            }
        }
    }

    /// Finds the contact groups with exactly these names. Each name counts as one look-up and is recorded as one. The
    /// user's book must be open.
    ///
    /// - Parameter byAnyApp: whether, if there is no other, a group is found that an app with limited access named.
    func groups(
        _ names: [String], named parameter: String, uid: UInt32, byAnyApp: Bool, _ session: CallerSession
    ) throws(VarlinkError) -> [RecordNumber] {
        let detail = AdministratorSource(session).detail(for: uid)
        var found: [RecordNumber] = []
        for name in names {
            if uid != session.caller.uid { try countForeign(parameter) }
            groupCommit.record(.lookUp, uid: uid, detail: detail)
            var groups: [RecordNumber]
            do throws(StoreError) {
                let book = books.opened(uid)
                groups = try book?.groups(named: name, limit: 2) ?? []
                if groups.isEmpty, byAnyApp { groups = try book?.groups(named: name, limit: 2, byAnyApp: true) ?? [] }
            } catch {
                problems.note(error, of: uid)
                throw ContactsError.storeUnavailable
            }
            guard groups.count == 1 else {
                throw AdminError.invalidValue(
                    parameter,
                    reason: groups.isEmpty
                        ? "no contact group is called \"\(name)\", or an app with limited access chose that name; "
                            + "if so, rename the group with contactbook"
                        : "several contact groups are called \"\(name)\"; give one of them another name")
            }
            found += groups
        }
        return found
    }

    /// The cards of the only match.
    static func one(
        _ matches: [Set<RecordNumber>], _ text: String, _ parameter: String
    ) throws(VarlinkError) -> Set<RecordNumber> {
        guard matches.count != 1 else { return matches[0] }
        throw AdminError.invalidValue(
            parameter,
            reason: matches.isEmpty
                ? "no contact matches \"\(text)\""
                : "\"\(text)\" matches \(matches.count) contacts; use the whole name, an e-mail address or a phone number"
        )
    }

    /// Counts a look-up of another user's contact.
    private func countForeign(_ parameter: String) throws(VarlinkError) {
        guard surroundings.mayLookUpContacts else {
            throw AdminError.invalidValue(
                parameter,
                reason: "the settings do not permit an administrator to look up users' contacts; "
                    + "set look_up_contacts in [admin] of contactbroker.toml, or use the audit's pseudonyms")
        }
        guard foreign.take(at: surroundings.uptime()) else {
            throw AdminError.invalidValue(
                parameter, reason: "only \(ParameterLimits.lookUps) look-ups an hour are permitted; wait")
        }
    }

    private func answer(_ call: Call, uid: UInt32, _ cards: Set<RecordNumber>, since: Int64) {
        read(for: call, uid: uid, cards, since: since) {
            $0.member("matches", 1)
            for name in ["now", "seen"] {
                $0.name(name)
                $0.array([Int]()) { _, _ in }
            }
        } then: { sightings in
            let now = seeing(cards, uid: uid, alsoApps: sightings.apps)
            reply(to: call, matches: 1, now, sightings.seen, removedUntil: feed.removedDay(since: since))
        }
    }

    /// Reads the user's audit from its first record on.
    ///
    /// - Parameters:
    ///   - since: only sightings from this time on count, in microseconds since 1970.
    ///   - filter: the records to keep; `nil` for none.
    ///   - progress: as in ``AuditFeed/read(for:_:_:_:)``.
    private func read(
        for call: Call, uid: UInt32, _ cards: Set<RecordNumber>, since: Int64, keeping filter: AuditFilter? = nil,
        _ progress: @escaping (inout JSONWriter) -> Void, then: @escaping (ContactSightings) -> Void
    ) {
        // The pending records must be in the audit that the worker reads.
        groupCommit.catchUp()
        let pseudonyms = Set(cards.map { access.audit.pseudonyms.pseudonym(of: $0, uid: uid) })
        let made = cards.map(\.rawValue).min() ?? 0
        var concerned = AuditFilter(uid: uid)
        concerned.concerning = pseudonyms.sorted()
        feed.read(for: call, progress) { [concerned] (reader) throws(AccessStoreError) -> ContactSightings in
            var sightings = ContactSightings(
                of: pseudonyms, among: try reader.apps(of: uid), made: made, since: since, keeping: filter)
            var last: Int64?
            while true {
                let records = try reader.records(matching: concerned, after: last, limit: 10_000)
                for record in records { sightings.read(record) }
                guard let next = records.last?.sequence else { return sightings }
                last = next
            }
        } _: { sightings in
            then(sightings)
        }
    }

    /// The grants and policy rules under which apps see one of the cards now.
    private func seeing(_ cards: Set<RecordNumber>, uid: UInt32, alsoApps: Set<Principal>) -> [(Principal, Grant)] {
        let known = Set(described.grantedPrincipals(uid: uid).map(\.principal))
        let decided = Set(known.map { $0.bound(to: .persistent) })
        // A policy rule can give an app access without a grant.
        let connected = sessions.apps.map(\.caller).filter { $0.uid == uid }
            .map { Principal(uid: uid, strength: $0.strength, app: $0.app) }
        let undecided = alsoApps.union(connected).subtracting(decided)
        return known.union(undecided).compactMap { principal in
            let shown = grants.shownAccess(of: access.grant(of: principal), principal).access
            guard case .granted(let grant) = shown else { return nil }
            switch grant.access {
            case .denied: return nil
            case .full: return (principal, grant)
            case .limited(let records): return records.isDisjoint(with: cards) ? nil : (principal, grant)
            }
        }
        .sorted {
            ($0.0.app, $0.0.strength.rawValue, $0.1.revision) < ($1.0.app, $1.0.strength.rawValue, $1.1.revision)
        }
    }

    private func reply(
        to call: Call, matches: Int, _ now: [(Principal, Grant)] = [], _ seen: [ContactSightings.Sighting] = [],
        removedUntil: String? = nil
    ) {
        groupCommit.replyOnDisk(call) { [described] in
            $0.member("matches", matches)
            $0.name("now")
            $0.array(now) { writer, entry in
                writer.object { described.writeAccess(entry.0, entry.1, &$0) }
            }
            $0.member("removedUntil", removedUntil)
            $0.name("seen")
            $0.array(seen) { writer, entry in
                writer.object {
                    $0.member("app", entry.app)
                    $0.member("strength", entry.strength?.rawValue ?? "")
                    $0.member("keys", entry.keys.grantNames)
                    $0.member("first", Timestamp.text(seconds: entry.first / 1_000_000))
                    $0.member("last", Timestamp.text(seconds: entry.last / 1_000_000))
                    $0.member("times", entry.times)
                    $0.member("inLists", entry.inLists)
                }
            }
        }
    }
}

/// Counts the look-ups of other users' contacts, on the clock of ``Surroundings/uptime``.
final class ForeignLookUps {
    private var window = SlidingWindow()

    /// - Returns: `false` if there were already as many in the last hour as the limit permits.
    func take(at now: Int64) -> Bool { window.take(ParameterLimits.lookUps, within: .seconds(3_600), now: now) == nil }
}
