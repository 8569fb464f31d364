import BrokerCommandOutput
import BrokerFormatting
import BrokerJSON

/// Formats audit records one by one, as they arrive. Columns grow with their content and never shrink.
struct AuditRows {
    private var widths = [19, 12, 10, 8, 3, 0]

    mutating func line(_ record: JSONValue) -> String {
        let cells = AuditTable.cells(record)
        for (column, cell) in cells.enumerated() {
            widths[column] = min(Table.widest, max(widths[column], DisplayText.columns(of: DisplayText.line(cell))))
        }
        return Table.line(cells, widths: widths)
    }
}
