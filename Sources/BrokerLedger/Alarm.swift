import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerModel

/// What the broker noticed.
package enum AlarmKind: String, CaseIterable {
    /// An app got almost the whole address book within an hour.
    case readsEverything
    /// An app changed or deleted many contacts within an hour.
    case changesMuch
    /// The file of an app that has access was changed, and the new program asked. It has no access.
    case executableChanged
    /// An app that has access connected with a weaker identity.
    case weakerIdentity
    /// An app has not used its access for a long time.
    case unusedGrant
    /// No installed package names an app that has access any more.
    case notInstalled
    /// The audit's chain is broken.
    case auditBroken

    /// How long the same alarm about the same app is not raised again, in seconds. Otherwise an app could fill the
    /// audit with alarms, or an ordinary synchronization would raise one each time.
    package var pause: Int64 {
        switch self {
        case .readsEverything, .unusedGrant, .notInstalled: 30 * 86_400
        case .changesMuch, .executableChanged, .weakerIdentity, .auditBroken: 86_400
        }
    }
}

/// The alarms that were raised, so that each is raised once in its pause.
package struct RaisedAlarms {

    package init() {
    }
    package struct Key: Hashable {
        package let kind: AlarmKind
        package let uid: UInt32
        package let strength: IdentityStrength?
        package let app: String

        package init(kind: AlarmKind, uid: UInt32, strength: IdentityStrength?, app: String) {
            self.kind = kind
            self.uid = uid
            self.strength = strength
            self.app = app
        }
    }

    /// When each alarm was last raised, in seconds since 1970.
    private var times: [Key: Int64] = [:]

    /// - Returns: `false` if the pause after the last such alarm is not over.
    package func mayRaise(_ key: Key, at now: Int64) -> Bool {
        // A time in the future was noted before the clock was set back.
        times[key].map { now - $0 >= key.kind.pause || $0 > now } ?? true
    }

    package mutating func note(_ key: Key, at now: Int64) {
        times[key] = max(times[key] ?? .min, now)
        guard times.count > StoreLimits.alarms, let oldest = times.min(by: { $0.value < $1.value }) else { return }
        times[oldest.key] = nil
    }

    /// Notes an alarm of an earlier run.
    package mutating func note(_ record: AuditEntry) {
        guard let word = record.detail?.prefix(while: { $0 != "," }), let kind = AlarmKind(rawValue: String(word))
        else { return }
        note(Key(kind: kind, uid: record.uid, strength: record.strength, app: record.app), at: record.time / 1_000_000)
    }
}

/// The contacts that one app changed or deleted within an hour.
package struct ChangedContacts {
    /// When the hour began, in microseconds of ``Surroundings/uptime``.
    package let began: Int64
    package var records: Set<RecordNumber> = []
    /// More contacts than these are an alarm.
    package static let most = 20

    package init(began: Int64) { self.began = began }
}

/// The contacts that one app got within an hour.
package struct ReadContacts {
    /// When the hour began, in microseconds of ``Surroundings/uptime``.
    package let began: Int64
    package private(set) var records: Set<RecordNumber> = []
    /// The number of contacts from which on the app got almost everything; `nil` as long as too few were read to ask.
    package private(set) var almostAll: Int?
    /// The contacts that the app added itself. It knows them, so they do not count.
    private var own: Set<RecordNumber> = []
    package var isCounted = false

    package static let hour: Int64 = 3_600 * 1_000_000
    /// The size in contacts of the smallest address book for which this alarm is raised. Many apps read a smaller one
    /// as a whole.
    package static let fewest = 50

    package init(began: Int64) { self.began = began }

    package mutating func add(_ more: [RecordNumber]) {
        records.formUnion(own.isEmpty ? more : more.filter { !own.contains($0) })
    }

    /// - Parameter total: the number of contacts in the book.
    package mutating func count(total: Int, own: Set<RecordNumber>) {
        self.own = own
        records.subtract(own)
        almostAll = max(Self.fewest, (max(0, total - own.count) * 9 + 9) / 10)
    }
}
