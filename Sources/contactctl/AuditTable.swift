import BrokerCommandOutput
import BrokerJSON

/// Formats audit records as a table.
enum AuditTable {
    static func columns(_ users: Users, withApp: Bool) -> [Table.Column] {
        users.columns + [Table.Column("TIME", narrowest: 19)]
            + (withApp ? [Table.Column("APP", narrowest: 20, cut: .middle)] : []) + [
                Table.Column("EVENT", narrowest: 10),
                Table.Column("STATUS", importance: 1, narrowest: 7, style: Screen.level),
                Table.Column("CONTACTS", importance: 3, narrowest: 8),
                Table.Column("DETAILS", importance: 2, narrowest: 12),
            ]
    }

    static func table(_ records: [JSONValue], _ users: Users, withApp: Bool) -> Table {
        var table = Table(columns(users, withApp: withApp))
        var refusals = RefusalRecords()
        let records = records.filter { refusals.shows($0) }
        let names = records.map { AppName($0["app"]?.string ?? "") }
        for (record, identity) in zip(records, AppName.identities(names)) {
            table.add(cells(record, users, app: withApp ? identity : nil))
        }
        return table
    }

    /// The cells: user, time, app, event, status, contacts, details.
    static func cells(_ record: JSONValue, _ users: Users, app: String?) -> [String] {
        var what = record["event"]?.string ?? ""
        if let repeats = record["repeats"]?.integer, repeats > 0 { what += " (\(repeats) more)" }
        let keys = KeyWords.text(record["keys"]) ?? ""
        let detail = ChangedBy.words(record["detail"]?.string ?? "")
        let uid = record["uid"]?.integer.flatMap(UInt32.init(exactly:)) ?? 0
        return users.cells(uid) + [LocalTime.text(record["time"]?.string ?? "", withSeconds: true)]
            + (app.map { [$0] } ?? []) + [
                what, AppGrant.words(ofStatus: record["status"]?.string ?? ""),
                (record["contacts"]?.integer).map { "\($0)" } ?? "",
                keys.isEmpty ? detail : detail.isEmpty ? keys : "\(keys) (\(detail))",
            ]
    }
}
