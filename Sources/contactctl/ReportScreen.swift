import BrokerAuditReport
import BrokerCommandOutput
import BrokerFormatting

/// The report at a terminal: a table of the apps with a small bar for each day, then sums and notes.
struct ReportScreen {
    let report: AuditReport
    let users: Users

    /// - Parameters:
    ///   - width: the terminal's columns; `nil` if lines may have any length.
    ///   - heading: changes a heading, for example to bold.
    func lines(width: Int?, heading: (String) -> String) -> [String] {
        func cut(_ line: String) -> String {
            width.map { DisplayText.line(line, columns: $0) } ?? DisplayText.line(line)
        }
        func wrapped(_ text: String, indent: String = "") -> [String] {
            Self.wrapped(DisplayText.line(text), width: (width ?? Self.widest) - indent.count).map { indent + $0 }
        }
        var lines = wrapped("Contacts disclosed to \(ReportWords.scope(users)), \(ReportWords.period(report))")
        let gaps = ReportWords.gaps(report)
        if !gaps.isEmpty {
            lines += ["", heading(cut("THE AUDIT HAS GAPS"))] + gaps.flatMap { wrapped("! \($0)") }
        }
        let all = report.users
        if all.isEmpty {
            lines += ["", "No app is on record."]
        } else {
            lines += [""] + table(all, width).lines(width: width, heading: heading)
        }
        let apps = all.flatMap(\.apps)
        let sections: [(title: String, lines: [String])] = [
            ("What the apps saw", apps.compactMap { line($0, ReportWords.keys($0)) }),
            ("Prompts", apps.compactMap { line($0, ReportWords.prompts($0)) }),
            ("Access that was not used", apps.filter(\.isUnused).compactMap { line($0, unused($0)) }),
        ]
        for section in sections where !section.lines.isEmpty {
            lines += ["", heading(cut(section.title))] + section.lines.flatMap { wrapped($0, indent: "  ") }
        }
        if !all.isEmpty {
            lines += ["", heading(cut("Sums"))]
            for user in all { lines += wrapped(sum(user), indent: "  ") }
        }
        return lines + [""] + ReportWords.notes(report, users).flatMap { wrapped($0) }
    }

    /// Where text is broken if lines may have any length.
    private static let widest = 100

    private func table(_ all: [AuditReport.User], _ width: Int?) -> Table {
        let bars = DayBars(report.period.count, columns: width.map { $0 < 110 ? 10 : 30 } ?? 30)
        var table = Table(
            users.columns + [
                Table.Column("APP", narrowest: 20, losesMiddle: true),
                Table.Column("LEVEL", importance: 7, narrowest: 11),
                Table.Column("CONTACTS", importance: 6, narrowest: 8),
                Table.Column("DISCLOSED", narrowest: 9),
                Table.Column("PER DAY", importance: 5, narrowest: bars.columns),
                Table.Column("REFUSED", importance: 3, narrowest: 7),
                Table.Column("LAST USED", importance: 4, narrowest: 10),
                Table.Column("IDENTITY", importance: 0, narrowest: 10),
            ])
        for user in all {
            let largest = user.apps.map { bars.largest($0.disclosures) }.max() ?? 0
            let names = user.apps.map { AppName($0.identity.app) }
            for (app, identity) in zip(user.apps, AppName.identities(names)) {
                table.add(
                    users.cells(user.uid) + [
                        identity, ReportWords.level(app), ReportWords.contacts(app.contacts), "\(app.disclosureCount)",
                        bars.text(app.disclosures, largest: largest), "\(app.refusals)",
                        ReportWords.day(app.lastUse) ?? "never", app.identity.strength,
                    ])
            }
        }
        return table
    }

    /// A line about an app; `nil` if there is nothing to say.
    private func line(_ app: AppActivity, _ text: String) -> String? {
        let user = users.isAll ? "\(UserName.text(app.identity.uid)): " : ""
        return text.isEmpty ? nil : "\(user)\(AppName(app.identity.app).identityAndHash): \(text)"
    }

    private func unused(_ app: AppActivity) -> String {
        let last = app.lastUse.flatMap { ReportWords.day($0) }.map { "last used \($0)" } ?? "never used"
        return "\(ReportWords.level(app)) since \(ReportWords.day(app.levelSince) ?? ""), \(last)"
    }

    private func sum(_ user: AuditReport.User) -> String {
        let name = users.isAll ? "\(UserName.text(user.uid)): " : ""
        let without = user.daysWithoutRecords
        let alarms = user.sum(\.alarms)
        return name
            + (alarms > 0 ? Count.words(alarms, "alarm") + ", " : "")
            + [
                Count.words(user.apps.count, "app"),
                ReportWords.contacts(user.contacts) + " contacts",
                Count.words(user.sum(\.disclosureCount), "disclosure"),
                Count.words(user.sum(\.refusals), "refusal"),
                Count.words(user.sum(\.prompts), "prompt"),
                Count.words(without.count, "day") + " without records",
            ].joined(separator: ", ")
    }

    /// Breaks a text between words. A word that is too long is cut.
    static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            let word = DisplayText.line(String(word), columns: max(1, width))
            if !line.isEmpty, DisplayText.columns(of: line) + 1 + DisplayText.columns(of: word) > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return lines + (line.isEmpty ? [] : [line])
    }
}

/// One bar for each day, or for several days together if there are more days than columns.
struct DayBars {
    private let days: Int
    private let daysPerBar: Int

    init(_ days: Int, columns: Int) {
        self.days = days
        daysPerBar = (days + columns - 1) / columns
    }

    var columns: Int { (days + daysPerBar - 1) / daysPerBar }

    private func sums(_ byDay: [Int: Int]) -> [Int] {
        byDay.reduce(into: Array(repeating: 0, count: columns)) { sums, day in
            if (0..<days).contains(day.key) { sums[day.key / daysPerBar] += day.value }
        }
    }

    func largest(_ byDay: [Int: Int]) -> Int { sums(byDay).max() ?? 0 }

    /// A dot stands for no disclosure, so any other number has at least the smallest bar.
    func text(_ byDay: [Int: Int], largest: Int) -> String {
        let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
        return String(
            sums(byDay).map { sum in
                sum == 0 ? "·" : bars[min(bars.count, max(1, (sum * bars.count + largest - 1) / max(1, largest))) - 1]
            })
    }
}
