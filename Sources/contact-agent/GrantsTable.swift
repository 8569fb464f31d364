import BrokerFormatting

/// Formats grants as a table with one line for each grant.
enum GrantsTable {
    /// The maximum number of apps on a page, because one digit key, 1 to 9, opens an app.
    static let page = 9

    static func lines(_ grants: some Collection<AppGrant>, columns: Int, _ names: LocalizedNames) -> [StyledLine] {
        guard !grants.isEmpty else { return [StyledLine(names.text(.noGrants))] }
        let nameWidth = min(28, max(14, columns - 58))
        let headings = [Phrase.columnApp, .columnSure, .columnSees, .columnContacts, .columnLast]
        let heading = row([" "] + headings.map { names.text($0) }, nameWidth)
        return [.bold(heading)]
            + grants.enumerated().map { index, grant in
                let seen =
                    switch grant.status {
                    case "full": names.text(.grantAll)
                    case "limited": names.text(.grantSome)
                    case "denied": names.text(.grantNothing)
                    case "restricted": names.text(.grantPolicy)
                    default: ShownText.line(grant.status)
                    }
                let contacts = grant.status == "limited" ? "\(grant.contacts)" : "–"
                let last = grant.lastUsedAt.map { String(ShownText.line($0).prefix(10)) } ?? names.text(.never)
                let cells = [
                    "\(index + 1)", ShownText.quoted(grant.displayName, columns: nameWidth),
                    names.text(phrase(for: grant.strength)), ending(seen, of: grant, names), contacts, last,
                ]
                return StyledLine(row(cells, nameWidth))
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
        }
    }

    /// One line with the columns number, app, identity strength, access, contacts and last use.
    private static func row(_ cells: [String], _ nameWidth: Int) -> String {
        zip(cells, [1, nameWidth, 11, 15, 9, 10]).map { Columns.pad($0, to: $1) }.joined(separator: " ")
    }
}
