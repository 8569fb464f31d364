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

    private struct App: Hashable {
        let uid: Int64
        let app: String
    }

    /// The lines of records that are in the order of the audit, in the order of their times. Some records are written later
    /// than what they tell of, such as a record of repeats.
    static func lines(_ records: [JSONValue]) -> [AuditLine] {
        var lines: [AuditLine] = []
        var latest: [App: Int] = [:]
        for record in records {
            let app = App(uid: record["uid"]?.integer ?? 0, app: record["app"]?.string ?? "")
            if let place = latest[app], lines[place].takes(record) { continue }
            latest[app] = lines.count
            lines.append(AuditLine(record))
        }
        let times = lines.map { $0.record["time"]?.string ?? "" }
        return lines.indices.sorted { (times[$0], $0) < (times[$1], $1) }.map { lines[$0] }
    }
}
