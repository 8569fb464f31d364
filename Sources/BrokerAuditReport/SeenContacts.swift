import BrokerAccessControl

/// How many different contacts. The audit does not name the contacts of every reply, so the number is a range.
public struct ContactCount: Hashable, Sendable {
    public let atLeast: Int
    public let atMost: Int

    public init(atLeast: Int, atMost: Int) {
        self.atLeast = atLeast
        self.atMost = atMost
    }

    public var isExact: Bool { atLeast == atMost }
}

/// The different contacts in the replies to an app, or to all apps of a user.
///
/// A record names the contacts of a reply, unless the reply is part of a list of all contacts that the app could see.
/// One record of such a list has only a number, but all its contacts are different.
struct SeenContacts {
    private var named: Set<Int32> = []
    private var largestUnnamed = 0
    private var sumOfUnnamed = 0

    mutating func add(_ contacts: some Sequence<Int32>) { named.formUnion(contacts) }

    mutating func add(unnamed count: Int) {
        largestUnnamed = max(largestUnnamed, count)
        sumOfUnnamed += count
    }

    var count: ContactCount {
        ContactCount(atLeast: max(named.count, largestUnnamed), atMost: named.count + sumOfUnnamed)
    }
}

/// The different contacts in the replies of the whole period, and of each day.
///
/// Only the contacts of the latest day are kept by name. If the clock was set back, the contacts of that time count only
/// for the whole period.
struct ContactsByDay {
    private var all = SeenContacts()
    private var latest = SeenContacts()
    private var latestDay = -1
    private(set) var byDay: [Int: ContactCount] = [:]

    var count: ContactCount { all.count }

    mutating func add(on day: Int, _ add: (inout SeenContacts) -> Void) {
        add(&all)
        if day > latestDay { (latest, latestDay) = (SeenContacts(), day) }
        guard day == latestDay else { return }
        add(&latest)
        byDay[day] = latest.count
    }
}

/// The contacts of an app's limited grant, as the records of its grants, revocations and saves describe them.
///
/// The real set is never larger than ``contacts`` if ``isKnown`` is set: a contact that was deleted stays in it, and
/// so does one that the app changed or deleted itself.
struct GrantedSet {
    private var contacts: Set<Int32> = []
    private var isLimited = false
    /// Whether ``contacts`` contains the whole real set.
    private var isKnown = false
    /// Whether the app ever had a grant for one session or process. The records do not tell these grants apart, so
    /// it is unknown under which one the app then read.
    private var hasSeveral = false

    /// A grant names the contacts that joined the set.
    mutating func grant(_ record: ReportRecord, _ named: [Int32], isBound: Bool) {
        if isBound { hasSeveral = true }
        guard record.status == .limited else { return clear() }
        if !isLimited, !record.isContinued { (contacts, isLimited, isKnown) = ([], true, true) }
        contacts.formUnion(named)
    }

    /// A revocation names the contacts that left the set.
    mutating func revoke(_ record: ReportRecord, _ named: [Int32]) {
        guard record.status == .limited else { return clear() }
        // A grant of all contacts became limited to contacts that no record names.
        if !isLimited { (contacts, isLimited, isKnown) = ([], true, false) }
        contacts.subtract(named)
    }

    /// Contacts that a limited app adds join its set.
    mutating func save(_ named: [Int32]?) {
        guard let named else { return isKnown = false }
        contacts.formUnion(named)
    }

    /// A policy rule replaced the set for a time that the records do not tell.
    mutating func isReplaced() { hasSeveral = true }

    mutating func clear() { (contacts, isLimited, isKnown) = ([], false, false) }

    /// The contacts of one record of a list; `nil` if they cannot be determined. A list contains only contacts of the
    /// set, so if it has as many as the set, they are the same.
    func listed(_ count: Int) -> Set<Int32>? {
        isLimited && isKnown && !hasSeveral && count == contacts.count ? contacts : nil
    }
}
