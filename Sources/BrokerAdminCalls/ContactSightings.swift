import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerInterface
import BrokerModel

/// Finds in a user's audit which apps got a contact. The audit's records are read from the first one on, because
/// the record of a list does not name contacts: the records before it tell whether the contact was in the app's set.
struct ContactSightings: Sendable {
    /// What one app got, at one identity strength.
    struct Sighting: Sendable {
        let app: String
        let strength: IdentityStrength?
        var keys = ContactKeySet()
        /// Microseconds since 1970.
        var first: Int64
        var last: Int64
        /// How often a reply contained the contact.
        var times = 0
        /// The number of these replies that were parts of lists of all contacts that the app could see. Such a reply
        /// contains many contacts, and possibly not this one.
        var inLists = 0
    }

    private struct Owner: Hashable {
        let app: String
        let strength: IdentityStrength?
    }

    /// What the records so far say about an app's grants.
    private struct State {
        /// Whether the granted set contains the contact.
        var isMember = false
        /// Whether the last grant was limited. Without a grant a policy rule may have given any access, so this is
        /// `false`.
        var isLimited = false
        /// Whether the app ever had a grant for one session or process. The records do not tell these grants apart, so
        /// the end of one says nothing about the others.
        var hasSeveral = false
    }

    /// Every app of the user that the audit ever named.
    let apps: Set<Principal>
    private var sightings: [Owner: Sighting] = [:]
    private var states: [Owner: State] = [:]
    /// For each revision of a limited or a full grant, whether it was limited.
    private var isLimited: [Int64: Bool] = [:]
    /// Whether the record of the save that added the contact was read.
    private var isAdded = false
    private let pseudonyms: Set<String>
    private let made: Int64
    private let since: Int64
    private let filter: AuditFilter?
    /// The records that match the filter and concern the contact: those that name it, and the lists that may have
    /// contained it. Oldest first.
    private(set) var records: [AuditEntry] = []
    /// ``records`` keeps at least so many of the latest records.
    private static let most = ParameterLimits.auditRecords

    /// - Parameters:
    ///   - pseudonyms: those of the contact's cards.
    ///   - apps: every app of the user that the audit ever named.
    ///   - made: when the first of the cards was added, in microseconds since 1970.
    ///   - since: only sightings from this time on count, in microseconds since 1970.
    ///   - filter: which records to keep; `nil` for none.
    init(
        of pseudonyms: Set<String>, among apps: Set<Principal>, made: Int64, since: Int64,
        keeping filter: AuditFilter? = nil
    ) {
        self.pseudonyms = pseudonyms
        self.apps = apps
        self.made = made
        self.since = since
        self.filter = filter
    }

    /// The sightings, the latest first.
    var seen: [Sighting] {
        sightings.values.sorted { ($1.last, $0.app, $0.keys.rawValue) < ($0.last, $1.app, $1.keys.rawValue) }
    }

    /// Reads the next record of the user. Those that ``AuditFilter/concerning`` leaves out say nothing about the contact.
    mutating func read(_ record: AuditEntry) {
        guard !record.app.isEmpty else { return }
        let owner = Owner(app: record.app, strength: record.strength)
        let isNamed = record.contacts?.contains(where: pseudonyms.contains) ?? false
        switch record.event {
        // A contact that a limited app adds joins its set.
        case .save: if isNamed { readSave(record, owner) }
        case .grant, .revocation: change(owner, record, isNamed)
        case .disclosure: readDisclosure(record, owner, isNamed)
        case .withheld, .refusal, .prompt, .answer, .agent, .declaration, .connection, .saveNotDone, .agentSearch,
            .purge,
            .authentication,
            .lookUp, .alarm, .backup, .restore, .bin, .policy, .retention, .start, .stop, .gap:
            break
        }
        if isNamed { keep(record) }
    }

    private mutating func keep(_ record: AuditEntry) {
        guard let filter, filter.since.map({ record.time >= $0 }) ?? true,
            filter.until.map({ record.time < $0 }) ?? true,
            filter.app == nil || filter.app == record.app, filter.event == nil || filter.event == record.event
        else { return }
        records.append(record)
        if records.count >= 2 * Self.most { records.removeFirst(Self.most) }
    }

    /// Marks the contact as a member, and if this save added it, drops the lists from before.
    private mutating func readSave(_ record: AuditEntry, _ owner: Owner) {
        states[owner, default: State()].isMember = true
        guard !isAdded, abs(record.time - made) < Self.longestSave else { return }
        isAdded = true
        sightings = sightings.filter { $0.value.times > $0.value.inLists }
        records.removeAll { $0.contacts == nil }
    }

    /// A contact's number is the time at which its save began, in microseconds, or a little later.
    private static let longestSave: Int64 = 60 * 1_000_000

    /// A grant names the contacts that joined the set, and a revocation those that left it.
    private mutating func change(_ owner: Owner, _ record: AuditEntry, _ isNamed: Bool) {
        var state = states[owner] ?? State()
        // By a policy rule an app may see a contact that its grant lacks, and its grant stays as it is.
        let isByPolicy = record.detail == AuditRecord.byPolicyGroup
        if !isByPolicy { state.isLimited = record.status == .limited }
        if record.event == .grant {
            let lifetime = record.detail.flatMap(LifetimeKind.init(recorded:))
            if lifetime == .session || lifetime == .process { state.hasSeveral = true }
            if isNamed { state.isMember = true }
        } else if !isByPolicy, isNamed || record.status == .denied || record.status == .notDetermined, !state.hasSeveral
        {
            state.isMember = false
        }
        if let revision = record.revision { isLimited[revision] = record.status == .limited }
        states[owner] = state
    }

    private mutating func readDisclosure(_ record: AuditEntry, _ owner: Owner, _ isNamed: Bool) {
        let isList = record.contacts == nil && (record.count ?? 0) > 0 && record.keys?.isEmpty == false
        let state = states[owner] ?? State()
        let limits = record.revision.flatMap { isLimited[$0] } ?? state.isLimited
        guard isNamed || isList && (state.isMember || !limits) else { return }
        note(record, owner, inList: !isNamed)
        if !isNamed { keep(record) }
    }

    private mutating func note(_ record: AuditEntry, _ owner: Owner, inList: Bool) {
        guard record.time >= since else { return }
        var sighting =
            sightings[owner]
            ?? Sighting(app: owner.app, strength: owner.strength, first: record.time, last: record.time)
        sighting.keys.formUnion(record.keys ?? [])
        sighting.last = record.time
        // A record that counts repeats stands for as many replies.
        let count = record.repeats ?? 1
        sighting.times += count
        if inList { sighting.inLists += count }
        sightings[owner] = sighting
    }
}
