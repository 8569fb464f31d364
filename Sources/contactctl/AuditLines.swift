import BrokerCommandOutput
import BrokerJSON
import BrokerModel

/// A line of the audit for people: one record, or the records of the replies that one list of contacts came in. JSON and CSV
/// have every record.
struct AuditLine {
    let record: JSONValue
    private(set) var replies = 1
    private(set) var contacts: Int64
    private var last: Int64?

    private init(_ record: JSONValue) {
        self.record = record
        contacts = record["contacts"]?.integer ?? 0
        last = record["time"]?.string.flatMap(Timestamp.seconds)
    }

    /// The number of contacts in words; empty if the record has none.
    var contactsWords: String {
        guard record["contacts"] != nil else { return "" }
        return replies == 1 ? "\(contacts)" : "\(Count.grouped(contacts)) in \(replies) replies"
    }

    /// The most seconds between two replies of one list.
    private static let pause: Int64 = 10
    /// What the records of a list have in common.
    private static let common = ["uid", "app", "strength", "event", "status", "keys", "revision", "detail"]

    /// Adds a further record of the same list.
    ///
    /// - Returns: `false` if the record is something else.
    private mutating func takes(_ other: JSONValue) -> Bool {
        guard record["event"]?.string == "disclosure", let time = other["time"]?.string.flatMap(Timestamp.seconds),
            let last, (last...last + Self.pause).contains(time), let count = other["contacts"]?.integer, count > 0,
            contacts > 0
        else { return false }
        for each in [record, other] where each["repeats"] != nil || each["contactIdentifiers"] != nil { return false }
        guard Self.common.allSatisfy({ record[$0].map { Array($0.text) } == other[$0].map { Array($0.text) } }) else {
            return false
        }
        self.last = time
        contacts += count
        replies += 1
        return true
    }

    /// The lines of records that are in the order of the audit, in the order of their times. Some records are written later
    /// than what they tell of, such as a record of repeats.
    static func lines(_ records: [JSONValue]) -> [AuditLine] {
        var lines: [AuditLine] = []
        var latest: [AuditedApp: Int] = [:]
        for record in records {
            let app = AuditedApp(record)
            if let place = latest[app], lines[place].takes(record) { continue }
            latest[app] = lines.count
            lines.append(AuditLine(record))
        }
        let times = lines.map { $0.record["time"]?.string ?? "" }
        return lines.indices.sorted { (times[$0], $0) < (times[$1], $1) }.map { lines[$0] }
    }
}

/// The app of one user that an audit record names.
struct AuditedApp: Hashable {
    private let uid: UInt32?
    private let app: String?

    init(_ record: JSONValue) { (uid, app) = (record["uid"]?.uid, record["app"]?.string) }
}

/// Shows one refusal as one line. If the person denies an app, the audit also records the denial as a grant, and the
/// refusal of the call that asked. For a reader, the answer says all of it; JSON and CSV have every record.
struct RefusalRecords {
    /// When the person last denied each app, in seconds since 1970.
    private var denials: [AuditedApp: Int64] = [:]

    /// The time within which the broker writes the other records of an answer, in seconds.
    private static let longest: Int64 = 2

    /// - Parameter record: the next record, in the order of the audit.
    mutating func shows(_ record: JSONValue) -> Bool {
        guard record["status"]?.string == "denied", let time = record["time"]?.string.flatMap(Timestamp.seconds) else {
            return true
        }
        let app = AuditedApp(record)
        switch record["event"]?.string {
        case "answer":
            denials[app] = time
            return true
        case "grant", "refusal":
            guard let denied = denials[app], record["repeats"] == nil else { return true }
            return !(denied...denied + Self.longest ~= time)
        default: return true
        }
    }
}
