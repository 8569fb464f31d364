import BrokerAccessControl
import BrokerModel

/// What the audit says about one app of one user, at one identity strength. All numbers are of the report's period.
public struct AppActivity: Sendable {
    public struct Identity: Hashable, Sendable {
        public let uid: UInt32
        /// The broker's identifier of the app. It may contain any character.
        public let app: String
        public let strength: String
    }

    /// The result of a prompt.
    public enum Answer: String, CaseIterable, Sendable {
        case full, limited, denied
        /// The person gave values once, or accepted a card.
        case once
        case dismissed
        case neverAskAgain
        /// Any answer that this program does not know.
        case other
    }

    public let identity: Identity
    /// The level at the end of the period, after the last grant or revocation on record; `nil` if none is on record.
    public private(set) var level: AuthorizationStatus?
    /// When the app got its level, in seconds since 1970.
    public private(set) var levelSince: Int64?
    /// The level of the grant that is not bound to one session or process.
    private var persistentLevel: AuthorizationStatus?
    /// The keys that replies with contacts had.
    public private(set) var keys = ContactKeySet()
    /// Replies with contacts, by day. Days without any are absent.
    public private(set) var disclosures: [Int: Int] = [:]
    /// Replies without contacts, such as numbers of contacts or searches that found nothing.
    public private(set) var otherReplies = 0
    /// The first and the last reply in the whole audit up to the end of the period, in seconds since 1970.
    public private(set) var firstUse: Int64?
    public private(set) var lastUse: Int64?
    public private(set) var grants = 0
    public private(set) var revocations = 0
    public private(set) var prompts = 0
    public private(set) var answers: [Answer: Int] = [:]
    public private(set) var refusals = 0
    /// Replies that the broker withdrew because access was revoked.
    public private(set) var withheld = 0
    public private(set) var saves = 0
    public private(set) var alarms = 0
    /// Whether the period has a record of the app.
    private var isOnRecord = false
    private var seen = ContactsByDay()
    private var set = GrantedSet()

    init(_ identity: Identity) { self.identity = identity }

    public var disclosureCount: Int { disclosures.values.reduce(0, +) }
    /// The different contacts in the replies.
    public var contacts: ContactCount { seen.count }
    /// The different contacts in the replies of each day.
    public var contactsByDay: [Int: ContactCount] { seen.byDay }
    public var hasAccess: Bool { level == .full || level == .limited }
    /// Whether the app has access that it did not use in the period.
    public var isUnused: Bool { hasAccess && disclosures.isEmpty && otherReplies == 0 }
    /// Prompts that ended without an answer.
    public var unanswered: Int { max(0, prompts - answers.values.reduce(0, +)) }
    /// Whether a report names the app.
    var isReported: Bool { isOnRecord || hasAccess }

    /// Reads the app's next record.
    ///
    /// - Parameters:
    ///   - named: the numbers of the contacts that the record names; `nil` if it names none.
    ///   - day: the record's day; `nil` for a record from before the period.
    ///   - isRepeat: whether an earlier record of the same day has the same contacts.
    ///   - user: the contacts in the replies to all apps of the user.
    mutating func read(_ record: ReportRecord, _ named: [Int32]?, day: Int?, isRepeat: Bool, user: inout ContactsByDay)
    {
        switch record.event {
        case .disclosure: readDisclosure(record, named, day, isRepeat, &user)
        case .grant: readGrant(record, named ?? [], day)
        case .revocation: readRevocation(record, named ?? [], day)
        case .save:
            set.save(named)
            count(\.saves, 1, day)
        case .withheld: count(\.withheld, record.count, day)
        case .refusal: count(\.refusals, record.times, day)
        case .prompt: count(\.prompts, record.times, day)
        case .alarm: count(\.alarms, 1, day)
        case .answer: if day != nil, !record.isInReview { answers[Self.answer(record), default: 0] += 1 }
        case .saveNotDone: break
        // The agent and a program for administrators are no apps, and a declared folder is none either.
        case .agent, .declaration, .connection, .agentSearch, .lookUp, .purge, .backup, .restore, .bin, .authentication,
            .policy,
            .retention, .start, .stop, .gap:
            return
        }
        if day != nil { isOnRecord = true }
    }

    /// All data of the user was deleted.
    mutating func purge(at time: Int64) {
        set.clear()
        persistentLevel = .notDetermined
        setLevel(.notDetermined, at: time)
    }

    private mutating func count(_ number: WritableKeyPath<AppActivity, Int>, _ times: Int, _ day: Int?) {
        if day != nil { self[keyPath: number] += times }
    }

    private mutating func setLevel(_ level: AuthorizationStatus, at time: Int64) {
        if level != self.level { levelSince = time }
        self.level = level
    }

    private mutating func readDisclosure(
        _ record: ReportRecord, _ named: [Int32]?, _ day: Int?, _ isRepeat: Bool, _ user: inout ContactsByDay
    ) {
        // The clock may have been set back.
        firstUse = min(firstUse ?? record.time, record.time)
        lastUse = max(lastUse ?? record.time, record.time)
        guard let day else { return }
        guard record.hasContacts else {
            otherReplies += record.times
            return
        }
        disclosures[day, default: 0] += record.times
        keys.formUnion(record.keys)
        let add: (inout SeenContacts) -> Void
        if let contacts = named {
            add = { $0.add(contacts) }
        } else if isRepeat {
            return
        } else if record.repeats == nil, let contacts = set.listed(record.count) {
            add = { $0.add(contacts) }
        } else {
            add = { $0.add(unnamed: record.count) }
        }
        seen.add(on: day, add)
        user.add(on: day, add)
    }

    private mutating func readGrant(_ record: ReportRecord, _ named: [Int32], _ day: Int?) {
        guard !record.isByPolicyGroup else { return set.isReplaced() }
        let lifetime = LifetimeKind(recorded: record.detail)
        let isBound = lifetime == .session || lifetime == .process
        set.grant(record, named, isBound: isBound)
        guard !record.isContinued, !record.isByContactGroup, let status = record.status else { return }
        if !isBound { persistentLevel = status }
        setLevel(status, at: record.time)
        count(\.grants, 1, day)
    }

    private mutating func readRevocation(_ record: ReportRecord, _ named: [Int32], _ day: Int?) {
        // Without a status, the person only permits the app to ask again.
        guard let status = record.status else { return }
        guard !record.isByPolicyGroup else { return set.isReplaced() }
        set.revoke(record, named)
        guard !record.isContinued, !record.isByContactGroup else { return }
        count(\.revocations, 1, day)
        // A grant for one session or process ended. The app's other grant, if it has one, stays in effect. Earlier versions
        // recorded a second revocation when a denial replaced such a grant.
        if record.detail == "ended" || record.detail.hasPrefix("revoked") {
            return setLevel(persistentLevel ?? status, at: record.time)
        }
        persistentLevel = status
        setLevel(status, at: record.time)
    }

    private static func answer(_ record: ReportRecord) -> Answer {
        switch record.status {
        case .full: return .full
        case .limited: return .limited
        case .denied: return .denied
        case .notDetermined, .restricted, nil: break
        }
        let known: [(String, Answer)] = [
            ("picked", .once), ("card accepted", .once), ("card merged", .once), ("dismissed", .dismissed),
            ("never ask again", .neverAskAgain),
        ]
        return known.first { record.detail.hasPrefix($0.0 + ",") }?.1 ?? .other
    }
}
