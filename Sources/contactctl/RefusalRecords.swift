import BrokerJSON
import BrokerModel

/// Shows one refusal as one line. If the person denies an app, the audit also records the denial as a grant, and the
/// refusal of the call that asked. For a reader, the answer says all of it; JSON and CSV have every record.
struct RefusalRecords {
    private struct App: Hashable {
        let uid: Int64
        let app: String
    }

    /// When the person last denied each app, in seconds since 1970.
    private var denials: [App: Int64] = [:]

    /// The time within which the broker writes the other records of an answer, in seconds.
    private static let longest: Int64 = 2

    /// - Parameter record: the next record, in the order of the audit.
    mutating func shows(_ record: JSONValue) -> Bool {
        guard record["status"]?.string == "denied", let time = record["time"]?.string.flatMap(Timestamp.seconds) else {
            return true
        }
        let app = App(uid: record["uid"]?.integer ?? 0, app: record["app"]?.string ?? "")
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
