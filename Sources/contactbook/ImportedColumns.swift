import BrokerCommandOutput
import BrokerContactFiles

/// The columns of one file whose values no contact can hold.
struct ImportedColumns {
    /// The maximum number of such columns in a file. A file with more is probably in a format that this program does
    /// not know, and an import would lose much of it.
    static let most = 3
    /// The maximum number of columns to name.
    private static let named = 20

    /// The names in the order of their first value.
    private var names: [String] = []
    /// The number of rows with a value, by name.
    private var counts: [String: Int] = [:]

    mutating func add(_ reason: RowProblem.Reason) {
        guard case .leftOut(let name) = reason else { return }
        if counts[name] == nil { names.append(name) }
        counts[name, default: 0] += 1
    }

    /// The columns, each with its number of values; empty if there are none.
    var description: String {
        let shown = names.prefix(Self.named).map { name in
            "\(Speech.clean(name)) (\(Count.words(counts[name] ?? 0, "value")))"
        }
        let more = names.count - shown.count
        return shown.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    /// Reads a file once, before anything is asked or saved. Does nothing for a folder or for vCards.
    ///
    /// - Throws: ``CommandFailure`` if more than ``most`` columns have values that no contact can hold.
    static func check(_ file: ImportedFile, _ reading: ImportReading) throws {
        guard !file.isFolder else { return }
        var columns = ImportedColumns()
        var rows: (any RowReader)?
        var buffer = [UInt8](repeating: 0, count: 256 * 1_024)
        var bytes: [UInt8] = []
        var isOver = false
        while !isOver {
            let piece = try file.read(into: &buffer)
            isOver = piece.isEmpty
            bytes += piece
            if rows == nil {
                guard isOver || bytes.count >= FileFormat.beginning else { continue }
                rows = reading.rows(bytes)
                if rows == nil { break }
            }
            rows?.append(bytes)
            bytes = []
            if isOver { rows?.finish() }
            while let item = rows?.next() {
                if case .row(let row) = item { for remark in row.remarks { columns.add(remark.reason) } }
            }
        }
        try file.rewind()
        guard columns.names.count > most else { return }
        throw CommandFailure(
            "could not \(Import.task): contacts have no field for \(columns.names.count) columns of \(file.name): "
                + columns.description,
            try: "nothing was added; to import the file without these values: add --drop-columns", .notTried)
    }
}
