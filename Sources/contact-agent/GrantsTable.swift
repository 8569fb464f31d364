/// What the person decided so far, app by app, as lines of a table.
enum GrantsTable {
    /// One key opens an app: there are nine of them.
    static let page = 9

    static func lines(_ grants: some Collection<AppGrant>, columns: Int) -> [StyledLine] {
        guard !grants.isEmpty else { return ["No app has asked for your contacts yet."] }
        let nameWidth = min(28, max(14, columns - 58))
        let heading = row(" ", "App", "How sure", "May see", "Contacts", "Last read", nameWidth)
        return [.bold(heading)]
            + grants.enumerated().map { index, grant in
                let seen =
                    switch grant.status {
                    case "full": "all"
                    case "limited": "some"
                    case "denied": "nothing"
                    case "restricted": "by policy"
                    default: ShownText.line(grant.status)
                    }
                let contacts = grant.status == "limited" ? "\(grant.contacts)" : "–"
                let last = grant.lastUsedAt.map { String(ShownText.line($0).prefix(10)) } ?? "never"
                return StyledLine(
                    row(
                        "\(index + 1)", ShownText.quoted(grant.displayName, columns: nameWidth),
                        grant.strength.rawValue,
                        seen + end(of: grant), contacts, last, nameWidth))
            }
    }

    /// With what the grant ends, where that is not when somebody takes it back.
    private static func end(of grant: AppGrant) -> String {
        guard let session = grant.session else { return "" }
        return session.hasPrefix("process ") ? " (process)" : " (session)"
    }

    private static func row(
        _ number: String, _ app: String, _ strength: String, _ seen: String, _ contacts: String, _ last: String,
        _ nameWidth: Int
    ) -> String {
        [(number, 1), (app, nameWidth), (strength, 11), (seen, 15), (contacts, 9), (last, 10)]
            .map { Columns.pad($0.0, to: $0.1) }.joined(separator: " ")
    }
}
