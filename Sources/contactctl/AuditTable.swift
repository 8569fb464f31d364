import BrokerCommandOutput
import BrokerFormatting
import BrokerJSON

/// Formats audit records as a table.
enum AuditTable {
    static func columns(_ users: Users, withApp: Bool) -> [Table.Column] {
        users.columns + [Table.Column("TIME", narrowest: 19)]
            + (withApp ? [Table.Column("APP", narrowest: 12, losesMiddle: true)] : []) + [
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
        let uid = record["uid"]?.uid ?? 0
        return users.cells(uid) + [LocalTime.text(record["time"]?.string ?? "", withSeconds: true)]
            + (app.map { [$0] } ?? []) + [
                what, AppGrant.words(ofStatus: record["status"]?.string ?? ""),
                line.contactsWords,
                keys.isEmpty ? detail : detail.isEmpty ? keys : "\(keys) (\(detail))",
            ]
    }
}

/// Formats audit records one by one, as they arrive. Columns grow with their content and never shrink.
struct AuditRows {
    let users: Users
    private var widths: [Int]
    private var refusals = RefusalRecords()
    /// The app that each name stands for. Another app of that name is shown with its path and hash.
    private var apps: [String: String] = [:]
    private let width = Screen.width

    init(_ users: Users) {
        self.users = users
        widths = (users.isAll ? [8] : []) + [19, 12, 10, 8, 3, 0]
    }

    /// The lines of records that arrived together. A line has the width of the terminal at most: what is too long is cut at
    /// the end, where the details are.
    mutating func lines(_ records: [JSONValue]) -> [String] {
        AuditLine.lines(records.filter { refusals.shows($0) }).map { line in
            let cells = AuditTable.cells(line, users, app: name(AppName(line.record["app"]?.string ?? "")))
            for (column, cell) in cells.enumerated() {
                widths[column] = min(
                    Self.widest, max(widths[column], DisplayText.columns(of: DisplayText.line(cell))))
            }
            let text = Table.line(cells, widths: widths)
            return width.map { DisplayText.line(text, columns: $0) } ?? text
        }
    }

    /// The largest width of a column, so that a line of 80 columns has something of all of them.
    private static let widest = 24

    private mutating func name(_ app: AppName) -> String {
        if apps[app.name, default: app.app] == app.app {
            apps[app.name] = app.app
            return app.name
        }
        return DisplayText.middle(app.identityAndHash, columns: Self.widest)
    }
}
