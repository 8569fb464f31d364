import BrokerModel

/// What an app is told about its standing, in the words of the interface.
public enum AuthorizationStatus: String, CaseIterable, Sendable {
    case notDetermined, restricted, denied, limited, full
}

/// What the person said an app may have.
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

    /// The contacts that are allowed one by one.
    public var records: Set<RecordNumber> {
        if case .limited(let records) = self { records } else { [] }
    }
}

/// How long a grant lasts, as the wire names it.
public enum LifetimeKind: String, CaseIterable, Sendable {
    case untilRevoked, untilTime, session, process
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

/// What was decided for one principal.
public struct Grant: Hashable, Sendable {
    public var access: Access
    /// What may be read of a contact. ``ContactKeySet/named`` keys are in it only where they were granted by name.
    public var keys: ContactKeySet
    public var lifetime: Lifetime
    /// Rises with every change of any of these.
    public var revision: Int64
    public var decidedBy: Decider
    /// Seconds since 1970.
    public var decidedAt: Int64

    /// Contacts that the app made while the policy kept it to single ones, though it was granted all or refused; they count only
    /// under such a policy. Where the level is `limited`, what the app makes joins that set instead.
    public var own: Set<RecordNumber> = []

    /// Who decided.
    public enum Decider: String, Sendable {
        /// At a prompt.
        case person
        /// At the administrator's door.
        case administrator
    }

    /// What a first grant lets an app read unless the person chose otherwise.
    public static let ordinaryKeys = ContactKeySet.all.subtracting(.named)

    public init(
        access: Access, keys: ContactKeySet = ordinaryKeys, lifetime: Lifetime = .untilRevoked, revision: Int64,
        decidedBy: Decider, decidedAt: Int64
    ) {
        self.access = access
        self.keys = keys
        self.lifetime = lifetime
        self.revision = revision
        self.decidedBy = decidedBy
        self.decidedAt = decidedAt
    }

    /// Over: seconds since 1970 have passed its end. Sessions and processes end by themselves, and their grants with them.
    public func hasExpired(at now: Int64) -> Bool {
        if case .untilTime(let end) = lifetime { return now >= end }
        return false
    }
}

extension Grant {
    /// Allows all that the other one allows. Whatever it does not is to be taken back.
    public func isAtLeast(_ other: Grant) -> Bool {
        guard keys.isSuperset(of: other.keys) else { return false }
        switch (access, other.access) {
        case (_, .denied), (.full, _): return true
        case (.limited(let records), .limited(let others)): return records.isSuperset(of: others)
        case (.limited, .full), (.denied, .limited), (.denied, .full): return false
        }
    }
}
