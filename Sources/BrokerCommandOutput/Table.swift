import BrokerFormatting

/// Rows of text under headings, aligned by terminal columns.
///
/// A table that is too wide for its terminal first shortens columns down to their smallest useful width, and
/// then leaves out the least important ones. A pipe or a file gets everything.
public struct Table {
    public struct Column: Sendable {
        let title: String
        /// If the table is too wide, the column of the least importance is left out first. A column of importance
        /// ``always`` stays.
        let importance: Int
        /// The width below which the column is left out instead of shortened, in terminal columns.
        let narrowest: Int
        /// Whether a text that is too long loses its middle, and not its end. The first and the last part of a path or
        /// identifier say the most.
        let losesMiddle: Bool
        /// Changes how a text is shown, for example its color, but not its width.
        let style: @Sendable (String) -> String

        public static let always = Int.max

        public init(
            _ title: String, importance: Int = always, narrowest: Int = 8, losesMiddle: Bool = false,
            style: @escaping @Sendable (String) -> String = { $0 }
        ) {
            self.title = title
            self.importance = importance
            self.narrowest = narrowest
            self.losesMiddle = losesMiddle
            self.style = style
        }
    }

    private let columns: [Column]
    private var rows: [[String]] = []
    /// The largest width of each column except the last if the width is not limited, in terminal columns. Longer
    /// text is cut.
    public static let widest = 48

    public init(_ columns: [Column]) { self.columns = columns }

    public init(_ headings: [String]) { self.init(headings.map { Column($0) }) }

    /// Adds a row. Cells are made safe for a terminal.
    public mutating func add(_ cells: [String]) { rows.append(cells.map { DisplayText.line($0) }) }

    /// The lines without trailing white space. All columns except the last are at most ``widest`` wide.
    public var lines: [String] { lines(width: nil, widest: Self.widest) }

    /// The lines, at most this wide. If `width` is `nil`, nothing is left out or shortened.
    ///
    /// - Parameter heading: changes the line of headings, for example to bold.
    public func lines(width: Int?, heading: (String) -> String = { $0 }) -> [String] {
        lines(width: width, widest: .max, heading: heading)
    }

    private func lines(width: Int?, widest: Int, heading: (String) -> String = { $0 }) -> [String] {
        let all = [columns.map(\.title)] + rows
        let measured = all.map { $0.map { DisplayText.columns(of: $0) } }
        var shown = columns.indices.map { $0 }
        var widths = columns.indices.map { column in
            min(column == shown.last ? .max : widest, measured.map { $0[column] }.max() ?? 0)
        }
        if let width { fit(&shown, &widths, in: width) }
        return all.enumerated().map { place, cells in
            var line = ""
            for column in shown {
                var (text, taken) = (cells[column], measured[place][column])
                if taken > widths[column] {
                    text = shortened(text, in: columns[column], to: widths[column])
                    taken = DisplayText.columns(of: text)
                }
                let padding = column == shown.last ? 0 : max(0, widths[column] - taken) + 2
                line += (place == 0 ? text : columns[column].style(text)) + String(repeating: " ", count: padding)
            }
            while line.last == " " { line.removeLast() }
            return place == 0 ? heading(line) : line
        }
    }

    private func fit(_ shown: inout [Int], _ widths: inout [Int], in width: Int) {
        func excess() -> Int { shown.reduce((shown.count - 1) * 2 - width) { $0 + widths[$1] } }
        let full = widths
        while excess() > 0 {
            // The column that is the furthest above its smallest width loses one column at a time.
            if let place = shown.filter({ widths[$0] > columns[$0].narrowest })
                .max(by: { widths[$0] - columns[$0].narrowest < widths[$1] - columns[$1].narrowest })
            {
                widths[place] -= 1
                continue
            }
            guard
                let least = shown.filter({ columns[$0].importance < Column.always })
                    .min(by: { columns[$0].importance < columns[$1].importance })
            else { break }
            shown.removeAll { $0 == least }
            widths = full
        }
        // The terminal is narrower than the columns that always stay.
        while excess() > 0, let place = shown.max(by: { widths[$0] < widths[$1] }), widths[place] > 1 {
            widths[place] -= 1
        }
        while excess() > 0, shown.count > 1 { shown.removeLast() }
    }

    private func shortened(_ text: String, in column: Column, to width: Int) -> String {
        column.losesMiddle ? DisplayText.middle(text, columns: width) : DisplayText.line(text, columns: width)
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
