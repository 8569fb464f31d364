import BrokerCommandOutput
import BrokerJSON

/// Formats audit records as a table.
enum AuditTable {
    static func columns(_ users: Users, withApp: Bool) -> [Table.Column] {
        users.columns + [Table.Column("TIME", narrowest: 19)]
            + (withApp ? [Table.Column("APP", narrowest: 12, cut: .middle)] : []) + [
                Table.Column("EVENT", narrowest: 10),
                Table.Column("STATUS", importance: 2, narrowest: 7, style: Screen.level),
                Table.Column("CONTACTS", importance: 3, narrowest: 8),
                Table.Column("DETAILS", importance: 1, narrowest: 12),
            ]
    }

    static func table(_ lines: [AuditLine], _ users: Users, withApp: Bool) -> Table {
        var table = Table(columns(users, withApp: withApp))
        let names = lines.map { AppName($0.record["app"]?.string ?? "") }
        for (line, name) in zip(lines, AppName.words(names)) {
            table.add(cells(line, users, app: withApp ? name : nil))
        }
        return table
    }

    /// The lines of records that are in the order of the audit.
    static func lines(_ records: [JSONValue]) -> [AuditLine] {
        var refusals = RefusalRecords()
        return AuditLine.lines(records.filter { refusals.shows($0) })
    }

    /// The cells: user, time, app, event, status, contacts, details.
    static func cells(_ line: AuditLine, _ users: Users, app: String?) -> [String] {
        let record = line.record
        var what = record["event"]?.string ?? ""
        if let repeats = record["repeats"]?.integer, repeats > 0 { what += " (\(repeats) more)" }
        let keys = KeyWords.text(record["keys"]) ?? ""
        let detail = ChangedBy.words(record["detail"]?.string ?? "")
        let uid = record["uid"]?.integer.flatMap(UInt32.init(exactly:)) ?? 0
        return users.cells(uid) + [LocalTime.text(record["time"]?.string ?? "", withSeconds: true)]
            + (app.map { [$0] } ?? []) + [
                what, AppGrant.words(ofStatus: record["status"]?.string ?? ""),
                line.contactsWords,
                keys.isEmpty ? detail : detail.isEmpty ? keys : "\(keys) (\(detail))",
            ]
    }
}
