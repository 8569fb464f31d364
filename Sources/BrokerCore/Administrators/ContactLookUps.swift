import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Answers who may see a contact now, and who saw it. The caller's authorization must be checked first.
///
/// Replies have no content of contacts, no pseudonym and no record number: a caller cannot combine answers about
/// several contacts with the audit. Root may look up other users' contacts only if the settings permit it, only by
/// exact values, and only a few times an hour. Each look-up is on record, and that user can read the record.
struct ContactLookUps {
    let surroundings: Surroundings
    let access: AccessStore
    let groupCommit: GroupCommit
    let grants: Grants
    let sessions: Sessions
    let books: Books
    let longReads: LongReads
    let problems: StoreProblems
    let described: GrantDescriptions
    let feed: AuditFeed
    let foreign = ForeignLookUps()

    func find(_ parameters: AdminParameters, _ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard let text = parameters.contact, text.contains(where: { !$0.isWhitespace }) else {
            throw .invalidParameter("contact")
        }
        let since = try AuditQueries.time(parameters.since, "since") ?? 0
        let uid = parameters.uid ?? session.caller.uid
        let isOwn = uid == session.caller.uid
        if !isOwn { try countForeign() }
        groupCommit.record(.lookUp, uid: uid, detail: AdministratorSource(session).detail(for: uid))
        let named = access.principals.filter { $0.uid == uid }.compactMap { principal in
            access.identifiers(for: principal, sharesPersistentKey: true)?.record(text, as: .contact)
        }
        books.with(uid) { result in
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(nil): reply(to: call, matches: 0)
            case .success(let book?):
                let search = ContactSearch(text: text, named: isOwn ? Set(named) : [], isExact: !isOwn)
                longReads.read(book, for: call, session) { (book) throws(StoreError) in
                    try search.matches(in: book)
                } then: { matches in
                    guard matches.count == 1, let cards = matches.first else {
                        return reply(to: call, matches: matches.count)
                    }
                    answer(call, uid: uid, cards, since: since)
                }
            }
        }
    }

    /// Counts a look-up of another user's contact.
    private func countForeign() throws(VarlinkError) {
        guard surroundings.mayLookUpContacts else {
            throw AdminError.invalidValue(
                "contact",
                reason: "the settings do not permit an administrator to look up users' contacts; "
                    + "set look_up_contacts in [admin] of contactbroker.toml, or use the audit's pseudonyms")
        }
        guard foreign.take(at: surroundings.uptime()) else {
            throw AdminError.invalidValue(
                "contact", reason: "only \(ForeignLookUps.perHour) look-ups an hour are permitted; wait")
        }
    }

    private func answer(_ call: Call, uid: UInt32, _ cards: Set<RecordNumber>, since: Int64) {
        // The pending records must be in the audit that the worker reads.
        groupCommit.catchUp()
        let pseudonyms = Set(cards.map { access.pseudonym(of: $0, uid: uid) })
        let made = cards.map(\.rawValue).min() ?? 0
        feed.read(for: call) { (reader) throws(AccessStoreError) -> ContactSightings in
            var sightings = ContactSightings(of: pseudonyms, made: made, since: since)
            var last: Int64?
            while true {
                let records = try reader.records(matching: AuditFilter(uid: uid), after: last, limit: 10_000)
                for record in records { sightings.read(record) }
                guard let next = records.last?.sequence else { return sightings }
                last = next
            }
        } _: { sightings in
            let now = seeing(cards, uid: uid, alsoApps: sightings.apps)
            reply(to: call, matches: 1, now, sightings.seen)
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
            let effective = grants.policy.effectiveAccess(
                of: access.grant(of: principal), grants.ruling(on: principal), at: surroundings.seconds)
            guard case .granted(let grant) = effective else { return nil }
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
        to call: Call, matches: Int, _ now: [(Principal, Grant)] = [], _ seen: [ContactSightings.Sighting] = []
    ) {
        groupCommit.replyOnDisk(call) { [described] in
            $0.member("matches", matches)
            $0.name("now")
            $0.array(now) { writer, entry in
                writer.object { described.writeAccess(entry.0, entry.1, &$0) }
            }
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

/// Counts the look-ups of other users' contacts.
final class ForeignLookUps {
    /// When they were made, on the clock of ``Surroundings/uptime``.
    private var recent: [Int64] = []

    static let perHour = 20

    /// - Returns: `false` if there were already ``perHour`` in the last hour.
    func take(at now: Int64) -> Bool {
        recent.removeAll { now - $0 >= 3_600 * 1_000_000 }
        guard recent.count < Self.perHour else { return false }
        recent.append(now)
        return true
    }
}

/// Finds the contact that a look-up names.
private struct ContactSearch: Sendable {
    let text: String
    /// The contacts that the text names as an identifier of one of the user's apps.
    let named: Set<RecordNumber>
    /// Whether only a whole name, e-mail address or phone number matches.
    let isExact: Bool

    /// Returns the cards of each matching contact. If several match by a part of their names, and some by the whole
    /// name, only the latter.
    func matches(in book: ContactsStore) throws(StoreError) -> [Set<RecordNumber>] {
        if !named.isEmpty {
            return try fetch(.records(named.sorted()), in: book).map(\.cards)
        }
        var found = try fetch(.emailAddress(text), in: book)
        if found.isEmpty, text.contains(where: \.isNumber) { found = try fetch(.phoneNumber(text), in: book) }
        guard found.isEmpty else { return found.map(\.cards) }
        let byName = try fetch(.name(text), in: book)
        let whole = byName.filter { $0.names.contains(Self.folded(text)) }
        return (whole.isEmpty && !isExact ? byName : whole).map(\.cards)
    }

    private func fetch(
        _ predicate: ContactPredicate, in book: ContactsStore
    ) throws(StoreError) -> [(cards: Set<RecordNumber>, names: Set<String>)] {
        let query = ContactQuery(scope: .all, predicate: predicate, limit: Self.most, byteLimit: .max)
        return try book.fetch(unified: query, .onWorker).rows.map { row in
            let all = [row] + row.others
            return (Set(all.map(\.record)), Set(all.flatMap { Self.names(of: $0.contact) }))
        }
    }

    /// More matches are counted as so many.
    private static let most = 1_000

    /// The whole names of a card, with the given name first and with the family name first, its nickname and its
    /// organization.
    private static func names(of stored: StoredContact) -> [String] {
        let keys = ContactKeySet([.givenName, .middleName, .familyName, .nickname, .organizationName])
        guard let contact = Contact(stored, keys: keys) else { return [] }
        return [
            "\(contact.givenName) \(contact.familyName)", "\(contact.familyName) \(contact.givenName)",
            "\(contact.givenName) \(contact.middleName) \(contact.familyName)", contact.nickname,
            contact.organizationName,
        ]
        .map(folded).filter { !$0.isEmpty }
    }

    private static func folded(_ text: String) -> String {
        text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
