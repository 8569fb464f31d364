import BrokerFormatting
import BrokerModel

/// Formats grants as a table with one line for each grant.
enum GrantsTable {
    static func lines(
        _ grants: [AppGrant], _ visible: Range<Int>, current: Int, columns: Int, _ names: LocalizedNames
    ) -> [StyledLine] {
        let nameWidth = min(28, max(14, columns - 57))
        let headings = [Phrase.columnApp, .columnSure, .columnSees, .columnContacts, .columnLast]
        let heading = row([" "] + headings.map { names.text($0) }, nameWidth)
        return [.dim(heading)]
            + visible.map { place in
                let grant = grants[place]
                let contacts = grant.status == "limited" ? "\(grant.contacts)" : "–"
                let last =
                    grant.lastUsedAt.flatMap(Timestamp.seconds).map { names.isolated(names.day($0)) }
                    ?? names.text(.never)
                let cells = [
                    place == current ? "›" : " ", ShownText.app(grant.displayName, columns: nameWidth, names),
                    names.text(phrase(for: grant.strength)), ending(seen(grant, names), of: grant, names), contacts,
                    last,
                ]
                var line = StyledLine(row(cells, nameWidth), place == current ? .highlighted : .plain)
                line.action = .row(index: place)
                return line
            }
    }

    private static func seen(_ grant: AppGrant, _ names: LocalizedNames) -> String {
        switch grant.status {
        case "full": names.text(.grantAll)
        case "limited": names.text(.grantSome)
        case "denied": names.text(.grantNothing)
        case "restricted": names.text(.grantPolicy)
        default: names.isolated(ShownText.line(grant.status))
        }
    }

    /// Adds a note if the grant ends with a session or process.
    private static func ending(_ seen: String, of grant: AppGrant, _ names: LocalizedNames) -> String {
        guard let session = grant.session else { return seen }
        return names.text(session.hasPrefix("process ") ? .grantProcess : .grantSession, [.seen: seen])
    }

    private static func phrase(for strength: IdentityStrength) -> Phrase {
        switch strength {
        case .labelled: .strengthLabelled
        case .sandboxed: .strengthSandboxed
        case .service: .strengthService
        case .installed: .strengthInstalled
        case .claimed: .strengthClaimed
        case .unverified: .strengthUnverified
        case .declared: .strengthDeclared
        }
    }

    /// One line with the columns cursor, app, identity strength, access, contacts and last use.
    private static func row(_ cells: [String], _ nameWidth: Int) -> String {
        zip(cells, [1, nameWidth, 11, 20, 8, 12]).map { Columns.pad($0, to: $1) }.joined(separator: " ")
    }
}
