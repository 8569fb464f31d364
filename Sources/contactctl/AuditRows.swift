import BrokerCommandOutput
import BrokerFormatting
import BrokerJSON

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
