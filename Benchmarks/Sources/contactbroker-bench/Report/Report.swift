import BrokerJSON
import Glibc

/// What the benchmark says: a table for people, and the same as JSON.
struct Report {
    var figures: [Figure] = []
    /// Under what conditions, in a sentence each.
    var remarks: [String] = []

    var unmet: Int { figures.count { $0.isMet == false } }

    var table: String {
        let rows = [["", "", "min", "p50", "p99", "bar", "aim", ""]] + figures.map(\.cells)
        let widths = (0..<8).map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                // Words begin on the left, numbers end on the right.
                return [0, 1, 7].contains(column) ? cell + space : space + cell
            }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
        return (lines + [""] + remarks).joined(separator: "\n")
    }

    func write(to path: String) throws {
        var writer = JSONWriter(reservingCapacity: 8_192)
        writer.object {
            $0.name("figures")
            $0.array(figures) { $1.write(into: &$0) }
            $0.member("remarks", remarks)
        }
        let bytes = writer.bytes + [UInt8(ascii: "\n")]
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure(system: "could not write \(path)") }
        defer { close(descriptor) }
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Failure(system: "could not write \(path)")
        }
    }
}
