import BrokerAccessControl
import BrokerJSON
import BrokerModel

/// What the audit says about some days: which app got how much, and what people and the broker decided.
///
/// It reads the records one by one, oldest first: those of the period, and from before it at least those that `QueryAudit`
/// with `withEarlier` returns, from which the level of an app and the contacts of its grant follow. It keeps numbers for each app, day and contact, and
/// no record.
public struct AuditReport: Sendable {
    /// A loss of audit records, or a moment at which some may have been lost.
    public struct Gap: Hashable, Sendable {
        /// Seconds since 1970.
        public let time: Int64
        /// The broker's own words; empty if the broker ended without writing its last records.
        public let detail: String
    }

    /// The sums over all apps of one user.
    public struct User: Sendable {
        public let uid: UInt32
        /// The user's apps, those with the most disclosures first.
        public let apps: [AppActivity]
        /// Different contacts in the replies to all apps together.
        public let contacts: ContactCount
        public let contactsByDay: [Int: ContactCount]
        /// Dates on which nothing of the user is on record.
        public let daysWithoutRecords: [String]

        /// Replies with contacts, by day.
        public var disclosures: [Int: Int] {
            apps.reduce(into: [:]) { $0.merge($1.disclosures, uniquingKeysWith: +) }
        }

        public func sum(_ number: KeyPath<AppActivity, Int>) -> Int { apps.reduce(0) { $0 + $1[keyPath: number] } }
    }

    /// The most gaps that a report lists. ``gapCount`` counts all.
    public static let gapsListed = 20
    /// A record of repeats has the same contacts as an earlier record, from at most 10 seconds before. This many seconds
    /// after midnight, the earlier record is surely of the same day.
    private static let repeatWindow: Int64 = 60

    public let period: ReportPeriod
    /// The time of the first record, in seconds since 1970; `nil` if there is none.
    public private(set) var beginning: Int64?
    /// The day up to which retention removed records, in seconds since 1970; `nil` if it removed none.
    public private(set) var removedUntil: Int64?
    /// The latest gaps in the period, oldest first.
    public private(set) var gaps: [Gap] = []
    public private(set) var gapCount = 0
    /// Records of a kind that this program does not know.
    public private(set) var unknownRecords = 0
    /// Whether the records name contacts. Those that a person reads about themself do not.
    public private(set) var namesContacts = true
    private var apps: [AppActivity.Identity: AppActivity] = [:]
    private var seen: [UInt32: ContactsByDay] = [:]
    /// By user, the days that have records.
    private var recordDays: [UInt32: Set<Int>] = [:]
    /// By user, a number for each pseudonym.
    private var numbers: [UInt32: [String: Int32]] = [:]

    public init(_ period: ReportPeriod) { self.period = period }

    /// Notes the day up to which retention removed records, in seconds since 1970.
    public mutating func noteRemoval(until day: Int64) { removedUntil = day }

    /// Reads the next record of `QueryAudit`'s replies.
    public mutating func read(_ json: JSONValue) {
        guard let record = ReportRecord(json) else {
            unknownRecords += 1
            return
        }
        guard record.time < period.end else { return }
        beginning = min(beginning ?? record.time, record.time)
        if !record.isWhole { namesContacts = false }
        let day = period.day(of: record.time)
        if let day { recordDays[record.uid, default: []].insert(day) }
        if record.event == .gap, day != nil { add(Gap(time: record.time, detail: record.detail)) }
        if record.event == .purge {
            for identity in apps.keys where identity.uid == record.uid { apps[identity]?.purge(at: record.time) }
        }
        guard !record.app.isEmpty else { return }
        let identity = AppActivity.Identity(uid: record.uid, app: record.app, strength: record.strength)
        let isRepeat = record.repeats != nil && (period.sinceMidnight(record.time) ?? 0) >= Self.repeatWindow
        let named = record.contacts.map { $0.map { number($0, record.uid) } }
        apps[identity, default: AppActivity(identity)].read(
            record, named, day: day, isRepeat: isRepeat, user: &seen[record.uid, default: ContactsByDay()])
    }

    private mutating func add(_ gap: Gap) {
        gapCount += 1
        gaps.append(gap)
        if gaps.count > Self.gapsListed { gaps.removeFirst() }
    }

    private mutating func number(_ pseudonym: String, _ uid: UInt32) -> Int32 {
        let next = Int32(clamping: numbers[uid]?.count ?? 0)
        let number = numbers[uid]?[pseudonym] ?? next
        numbers[uid, default: [:]][pseudonym] = number
        return number
    }

    /// The users with an app to report, by UID.
    public var users: [User] {
        Dictionary(grouping: apps.values.filter(\.isReported), by: \.identity.uid).sorted { $0.key < $1.key }.map {
            uid, apps in
            User(
                uid: uid,
                apps: apps.sorted {
                    ($1.disclosureCount, $0.identity.app, $0.identity.strength)
                        < ($0.disclosureCount, $1.identity.app, $1.identity.strength)
                },
                contacts: (seen[uid] ?? ContactsByDay()).count,
                contactsByDay: seen[uid]?.byDay ?? [:],
                daysWithoutRecords: dates(without: recordDays[uid] ?? []))
        }
    }

    /// Dates on which nothing is on record, not even of the broker itself.
    public var daysWithoutRecords: [String] { dates(without: recordDays.values.reduce([]) { $0.union($1) }) }

    /// Days before the audit begins do not count.
    private func dates(without days: Set<Int>) -> [String] {
        guard let beginning else { return [] }
        let first = beginning < period.begin ? 0 : period.day(of: beginning) ?? 0
        return (first..<period.count).filter { !days.contains($0) }.map(period.date)
    }
}
