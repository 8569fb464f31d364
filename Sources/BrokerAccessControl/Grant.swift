import BrokerModel

/// The authorization level that an app sees, as the interface names it.
public enum AuthorizationStatus: String, CaseIterable, Sendable {
    case notDetermined, restricted, denied, limited, full
}

/// The level that the person or an administrator decided for an app.
public enum Access: Hashable, Sendable {
    case denied
    /// These contacts and no others. The set may be empty.
    case limited(to: Set<RecordNumber>)
    case full

    public var status: AuthorizationStatus {
        switch self {
        case .denied: .denied
        case .limited: .limited
        case .full: .full
        }
    }

    /// The granted set; empty unless the level is `limited`.
    public var records: Set<RecordNumber> {
        if case .limited(let records) = self { records } else { [] }
    }
}

/// The kind of a grant's lifetime, as the interface names it.
public enum LifetimeKind: String, CaseIterable, Sendable {
    case untilRevoked, untilTime, session, process

    /// Parses the detail of a grant's audit record: the lifetime, and after a comma who made the grant if that was
    /// somebody else than the person.
    public init?(recorded detail: String) { self.init(rawValue: String(detail.prefix { $0 != "," })) }
}

/// How long a grant lasts.
public enum Lifetime: Hashable, Sendable {
    case untilRevoked
    /// Seconds since 1970.
    case untilTime(Int64)
    case session
    case process

    public var kind: LifetimeKind {
        switch self {
        case .untilRevoked: .untilRevoked
        case .untilTime: .untilTime
        case .session: .session
        case .process: .process
        }
    }
}

/// A grant: what the person or an administrator decided for one principal.
public struct Grant: Hashable, Sendable {
    public var access: Access
    /// The keys that may be read. ``ContactKeySet/named`` keys are included only if granted by name.
    public var keys: ContactKeySet
    /// What the app may change.
    public var changes: ChangeRight
    public var lifetime: Lifetime
    /// Increases with every change to the grant.
    public var revision: Int64
    public var decidedBy: Decider
    /// For a decision of the person, the agent that sent the answer and whether a password was given, in words;
    /// `nil` for grants that earlier versions stored.
    public var decidedThrough: String?
    /// Seconds since 1970.
    public var decidedAt: Int64

    /// Contacts that the app created while its grant was full or denied but the policy limited it. The app
    /// sees them only under such a policy. If the grant itself is limited, contacts that the app creates join
    /// the granted set instead.
    public var own: Set<RecordNumber> = []

    /// The keys of ``ContactKeySet/byName`` that the app has asked for, whether or not the person gave them. The person
    /// can add no others to the grant.
    public var asked: ContactKeySet = []

    /// A hash of the purpose that the app gave at the prompt that the person answered last; `nil` if it gave none.
    public var purposeHash: String?
    /// The text of that purpose. It is not stored, so it is `nil` after a restart.
    public var purpose: String?

    /// The contact groups that a limited grant shares with the app.
    public var groups = GrantedGroups()

    /// Who made the decision.
    public enum Decider: String, Sendable {
        /// The person, at a prompt.
        case person
        /// An administrator, through the administrator's socket.
        case administrator
    }

    /// The keys of a first grant, unless the person chose others.
    public static let ordinaryKeys = ContactKeySet.all.subtracting(.named)

    /// What an app may change after a first grant, unless the person's answer says otherwise.
    public static let firstChanges = ChangeRight.own

    public init(
        access: Access, keys: ContactKeySet = ordinaryKeys, changes: ChangeRight = firstChanges,
        lifetime: Lifetime = .untilRevoked, revision: Int64, decidedBy: Decider, decidedThrough: String? = nil,
        decidedAt: Int64
    ) {
        self.access = access
        self.keys = keys
        self.changes = changes
        self.lifetime = lifetime
        self.revision = revision
        self.decidedBy = decidedBy
        self.decidedThrough = decidedThrough
        self.decidedAt = decidedAt
    }

    /// Whether the grant's end time has passed. A grant for a session or a process has no end time: it ends
    /// with the session or process.
    public func hasExpired(at now: Int64) -> Bool {
        if case .untilTime(let end) = lifetime { return now >= end }
        return false
    }

    /// Makes a denial last that takes the place of access: the end of the access is not the end of the denial.
    public mutating func keepDenial() {
        if access == .denied, case .untilTime = lifetime { lifetime = .untilRevoked }
    }
}

extension Grant {
    /// The keys in this set that the app cannot read. With full access it sees all groups even without the key
    /// ``ContactKeySet/groups``.
    public func lacked(of keys: ContactKeySet) -> ContactKeySet {
        let lacked = keys.subtracting(self.keys)
        return access == .full ? lacked.subtracting(.groups) : lacked
    }

    /// Whether this grant allows everything that the other one allows. If not, access is lost when this grant
    /// replaces the other one.
    public func isAtLeast(_ other: Grant) -> Bool {
        guard keys.isSuperset(of: other.keys), changes >= other.changes || other.access == .denied else { return false }
        switch (access, other.access) {
        case (_, .denied), (.full, _): return true
        case (.limited(let records), .limited(let others)):
            return records.isSuperset(of: others) && groups.records.isSuperset(of: other.groups.records)
        case (.limited, .full), (.denied, .limited), (.denied, .full): return false
        }
    }
}
