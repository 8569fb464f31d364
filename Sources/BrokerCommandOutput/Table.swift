import BrokerFormatting

/// Rows of text under headings, aligned by terminal columns.
public struct Table {
    private let headings: [String]
    private var rows: [[String]] = []
    /// The largest width of each column except the last, in terminal columns. Longer text is cut.
    public static let widest = 48

    public init(_ headings: [String]) {
        self.headings = headings
    }

    /// Adds a row. Cells are made safe for a terminal.
    public mutating func add(_ cells: [String]) { rows.append(cells.map { DisplayText.line($0) }) }

    public var isEmpty: Bool { rows.isEmpty }

    /// The lines without trailing white space.
    public var lines: [String] {
        let all = [headings] + rows
        let widths = headings.indices.map { column in
            min(Self.widest, all.map { DisplayText.columns(of: $0[column]) }.max() ?? 0)
        }
        return all.map { Self.line($0, widths: widths) }
    }

    /// Formats one row with columns of these widths, without trailing white space. The last cell is not cut.
    /// Cells are made safe for a terminal.
    public static func line(_ cells: [String], widths: [Int]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            line +=
                column == cells.count - 1
                ? DisplayText.line(cell) : DisplayText.cell(cell, columns: widths[column]) + "  "
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
