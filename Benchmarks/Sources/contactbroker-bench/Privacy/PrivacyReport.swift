import BrokerJSON

/// The results of the measurement of timing side channels, as a table and as JSON.
struct PrivacyReport {
    let calls: Int
    /// The text of Documentation/Threats.md, with single spaces.
    private let threats: String
    var noise: [String] = []
    private var rows: [(family: PrivacyFamily, row: Measurement)] = []

    init(calls: Int, threats: String) {
        self.calls = calls
        self.threats = threats.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    var isEmpty: Bool { rows.isEmpty }

    var leaks: Bool { rows.contains { $0.row.verdict == .leaks } }

    mutating func add(_ row: Measurement, of family: PrivacyFamily) { rows.append((family, row)) }

    /// Checks that Threats.md concedes what the case says that it concedes.
    func check(_ item: Case) throws {
        guard let sentence = item.concession, !threats.contains(sentence) else { return }
        throw Failure("Documentation/Threats.md has no sentence “\(sentence)”; \(item.name) names it")
    }

    // MARK: Table

    private static let header = ["call", "hidden", "µs", "diff", "AUC", "±", "apart", "AUC 0", "apart", ""]
    private static let widths = [26, 22, 4, 7, 5, 4, 5, 5, 5, 8]

    /// With fewer calls, chance alone separates two equal classes.
    private static let fewCalls = 20_000

    var text: String {
        var lines = heading
        for (title, rows) in groups {
            lines += ["", title, Self.line(Self.header)] + rows.map { Self.line(Self.cells($0)) }
        }
        return (lines + [""] + PrivacyFamily.unmeasured + ["", verdict]).joined(separator: "\n")
    }

    /// The rows of each family and app, in the order in which they began.
    private var groups: [(title: String, rows: [Measurement])] {
        var groups: [(title: String, rows: [Measurement])] = []
        for (family, row) in rows {
            let title = "\(family.rawValue), app \(row.item.app.name)"
            if let place = groups.firstIndex(where: { $0.title == title }) {
                groups[place].rows.append(row)
            } else {
                groups.append((title, [row]))
            }
        }
        return groups
    }

    private var heading: [String] {
        [
            "Timing side channels of the release build. Can an app tell by the time of a call what it may not learn?",
            "",
            "Each row compares calls that touch something hidden with calls that touch nothing; the replies are alike.",
            "\(Processors().allowed.count) processors: the broker on one, the app on another. \(calls) calls of each class in random order",
            "(twice as many if the result is above the bar, fewer if it is certain).",
            "µs: median of a call that touches nothing. diff: how much longer the other call takes in the mean, in ns.",
            "AUC: probability that it takes longer; ± is the 95 % interval (Hanley-McNeil). apart: in how many percent",
            "of \(Separation.cases) cases the mean of \(Separation.callsPerCase) calls of each class tells which is which; at most \(Int(Separation.bar * 100)) is allowed.",
            "AUC 0 and the second apart: the same for two classes that both touch nothing.",
        ] + noise
    }

    private static func cells(_ row: Measurement) -> [String] {
        let separation = row.separation
        return [
            row.item.call, row.item.hidden, String((row.median + 500) / 1_000),
            String(Int(separation.difference.rounded())), decimal(separation.area, 3),
            String(decimal(separation.uncertainty, 3).dropFirst()), decimal(separation.told * 100, 1),
            decimal(row.noise.area, 3),
            row.calls < fewCalls ? "–" : decimal(row.noise.told * 100, 1), row.verdict.rawValue,
        ]
    }

    private static func line(_ cells: [String]) -> String {
        let padded = zip(cells, widths).enumerated().map { column, cell in
            let space = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return column < 2 || column == widths.count - 1 ? cell.0 + space : space + cell.0
        }
        var line = padded.joined(separator: " ")
        while line.last == " " { line.removeLast() }
        return line
    }

    private static func decimal(_ value: Double, _ count: Int) -> String {
        let scale = count == 1 ? 10 : 1_000
        let number = Int((value * Double(scale)).rounded())
        let digits = String(scale + number % scale).dropFirst()
        return "\(number / scale).\(digits)"
    }

    private var verdict: String {
        let leaking = rows.count { $0.row.verdict == .leaks }
        let conceded = rows.count { $0.row.verdict == .conceded }
        return "\(rows.count) rows: \(leaking) LEAK, \(conceded) are conceded by Documentation/Threats.md."
    }

    // MARK: JSON

    func write(to path: String) throws {
        var writer = JSONWriter(reservingCapacity: 65_536)
        writer.object {
            $0.member("conditions", noise)
            $0.name("rows")
            $0.array(rows) { writer, entry in
                let row = entry.row
                writer.object {
                    $0.member("family", entry.family.rawValue)
                    $0.member("app", row.item.app.name)
                    $0.member("call", row.item.call)
                    $0.member("hidden", row.item.hidden)
                    $0.member("calls", row.calls)
                    let numbers = [
                        ("median", Double(row.median)), ("difference", row.separation.difference),
                        ("auc", row.separation.area), ("uncertainty", row.separation.uncertainty),
                        ("apart", row.separation.told), ("controlAuc", row.noise.area),
                        ("controlApart", row.noise.told),
                    ]
                    for (name, number) in numbers {
                        $0.name(name)
                        $0.value(number)
                    }
                    $0.member("verdict", row.verdict.rawValue)
                    $0.member("concession", row.item.concession)
                }
            }
        }
        try Report.write(writer.bytes, to: path)
    }
}
