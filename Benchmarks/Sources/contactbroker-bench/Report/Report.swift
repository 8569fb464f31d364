import BrokerJSON
import Glibc

/// The results of one run, as tables for people and as JSON.
struct Report {
    /// The conditions that affect the figures: the machine, the peer's version, the noise. Each is one
    /// sentence.
    var conditions: [String] = []
    var comparisons: [Comparison] = []
    var figures: [Figure] = []
    /// Notes that explain the tables. Each is one or more sentences.
    var remarks: [String] = []
    /// What the run found to be wrong, one or more sentences each. The benchmark then fails.
    var failures: [String] = []

    var text: String {
        var blocks = [conditions.joined(separator: "\n")]
        if !comparisons.isEmpty {
            blocks += [Self.table(Comparison.header, comparisons.map(\.cells), texts: [0, 6, 7]), Self.legend]
        }
        blocks += [Self.table(Figure.header, figures.map(\.cells), texts: [0, 1]), remarks.joined(separator: "\n")]
        return (blocks.filter { !$0.isEmpty } + failures + [verdict]).joined(separator: "\n\n")
    }

    private static let legend = """
        Times are medians (p50). The peer is GNOME evolution-data-server over D-Bus; at its best, its library reads the
        book's file in the app's own process. The floor is the same bytes over a bare socket, in a bare SQLite table, or both.
        For a rate the ratio is ours ÷ peer. Bars compare within one run; absolute figures differ between machines.
        """

    private var verdict: String {
        let verdicts = comparisons.filter { $0.bar != nil }.map(\.isMet)
        let (unmet, unknown) = (verdicts.count { $0 == false }, verdicts.count { $0 == nil })
        var text = "\(verdicts.count { $0 == true }) of \(verdicts.count) bars are met"
        if unmet > 0 { text += ", \(unmet) are NOT met" }
        if unknown > 0 { text += ", \(unknown) could not be judged without the peer" }
        return text + "."
    }

    /// - Parameter texts: the columns of words, which are aligned left. Numbers are aligned right.
    private static func table(_ header: [String], _ rows: [[String]], texts: Set<Int>) -> String {
        let rows = [header] + rows
        let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return texts.contains(column) ? cell + space : space + cell
            }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }

    func write(to path: String) throws {
        var writer = JSONWriter(reservingCapacity: 8_192)
        writer.object {
            $0.member("conditions", conditions)
            $0.name("comparisons")
            $0.array(comparisons) { $1.write(into: &$0) }
            $0.name("figures")
            $0.array(figures) { $1.write(into: &$0) }
            $0.member("remarks", remarks)
        }
        try Self.write(writer.bytes, to: path)
    }

    /// Writes a file of one line.
    static func write(_ line: [UInt8], to path: String) throws {
        let bytes = line + [UInt8(ascii: "\n")]
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure(system: "could not write \(path)") }
        defer { close(descriptor) }
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Failure(system: "could not write \(path)")
        }
    }
}
