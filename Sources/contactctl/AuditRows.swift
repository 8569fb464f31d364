import BrokerCommandOutput
import BrokerFormatting
import BrokerJSON

/// Formats audit records one by one, as they arrive. Columns grow with their content and never shrink.
struct AuditRows {
    let users: Users
    private var widths: [Int]
    private var refusals = RefusalRecords()

    init(_ users: Users) {
        self.users = users
        widths = (users.isAll ? [8] : []) + [19, 12, 10, 8, 3, 0]
    }

    /// - Returns: `nil` if an earlier line says it already.
    mutating func line(_ record: JSONValue) -> String? {
        guard refusals.shows(record) else { return nil }
        let cells = AuditTable.cells(record, users, app: AppName(record["app"]?.string ?? "").identity)
        for (column, cell) in cells.enumerated() {
            widths[column] = min(Table.widest, max(widths[column], DisplayText.columns(of: DisplayText.line(cell))))
        }
        return Table.line(cells, widths: widths)
    }
}
