import BrokerFormatting

/// Rows of text under headings, aligned by the columns that they take on a terminal.
public struct Table {
    private let headings: [String]
    private var rows: [[String]] = []
    /// Widest that a column becomes; what is longer is cut.
    public static let widest = 48

    public init(_ headings: [String]) {
        self.headings = headings
    }

    /// Cells are made fit for a terminal here.
    public mutating func add(_ cells: [String]) { rows.append(cells.map { DisplayText.line($0) }) }

    public var isEmpty: Bool { rows.isEmpty }

    /// The lines, without white space at their ends.
    public var lines: [String] {
        let all = [headings] + rows
        let widths = headings.indices.map { column in
            min(Self.widest, all.map { DisplayText.columns(of: $0[column]) }.max() ?? 0)
        }
        return all.map { Self.line($0, widths: widths) }
    }

    /// One row under columns of these widths, without white space at its end. The last cell takes what it needs.
    /// Cells are made fit for a terminal here.
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
