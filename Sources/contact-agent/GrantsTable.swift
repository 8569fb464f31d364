import BrokerFormatting
import BrokerModel

/// Formats grants as a table with one line for each grant.
enum GrantsTable {
    /// A column of the table.
    private struct Column {
        var heading: Phrase
        var width: Int
        var cell: (AppGrant, LocalizedNames) -> String
    }

    static func lines(
        _ grants: [AppGrant], _ visible: Range<Int>, current: Int, columns: Int, _ names: LocalizedNames
    ) -> [StyledLine] {
        let all = Self.columns(fitting: columns)
        let heading = all.map { Columns.pad(names.text($0.heading), to: $0.width) }.joined(separator: " ")
        return [.dim("  " + heading)]
            + visible.map { place in
                let cells = all.map { Columns.pad($0.cell(grants[place], names), to: $0.width) }
                return .row(place, isCurrent: place == current, cells.joined(separator: " "))
            }
    }

    /// The columns that have room. The identity strength is the first to be left out, because a review shows it; then the
    /// last use.
    private static func columns(fitting columns: Int) -> [Column] {
        var shown: [Column] = [
            Column(heading: .columnSure, width: 11) { grant, names in
                Phrase("strength", grant.strength.rawValue).map { names.text($0) } ?? grant.strength.rawValue
            },
            Column(heading: .columnSees, width: 25) { ending(seen($0, $1), of: $0, $1) },
            Column(heading: .columnContacts, width: 8) { $0.contacts.map($1.number) ?? "–" },
            Column(heading: .columnLast, width: 12) { grant, names in
                grant.lastUsedAt.flatMap(Timestamp.seconds).map { names.isolated(names.moment($0)) }
                    ?? names.text(.never)
            },
        ]
        func left() -> Int { columns - 2 - shown.reduce(0) { $0 + $1.width + 1 } }
        if left() < leastName { shown.removeFirst() }
        if left() < leastName { shown.removeLast() }
        let width = min(28, max(leastName, left()))
        return [Column(heading: .columnApp, width: width) { ShownText.app($0.displayName, columns: width, $1) }] + shown
    }

    private static let leastName = 14

    private static func seen(_ grant: AppGrant, _ names: LocalizedNames) -> String {
        switch grant.status {
        case "full": names.text(.grantAll)
        case "limited": names.text(.grantSome)
        case "denied": names.text(.grantNothing)
        case "restricted": names.text(.grantPolicy)
        case "notDetermined" where grant.isSilenced: names.text(.grantSilenced)
        default: names.isolated(ShownText.line(grant.status))
        }
    }

    /// Adds what ends the grant: a time, a session or a process.
    private static func ending(_ seen: String, of grant: AppGrant, _ names: LocalizedNames) -> String {
        if let end = grant.expires.flatMap(Timestamp.seconds) {
            return names.text(.grantUntil, [.seen: seen, .time: names.moment(end)])
        }
        guard let session = grant.session else { return seen }
        return names.text(session.hasPrefix("process ") ? .grantProcess : .grantSession, [.seen: seen])
    }
}
