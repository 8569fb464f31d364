/// What the person decided so far, app by app, as lines of a table.
enum GrantsTable {
    static func lines(_ grants: [AppGrant], columns: Int) -> [StyledLine] {
        guard !grants.isEmpty else { return ["No app has asked for your contacts yet."] }
        let nameWidth = min(28, max(14, columns - 56))
        let heading = row("App", "How sure", "May see", "Contacts", "Last read", nameWidth)
        return [.bold(heading)]
            + grants.map { grant in
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
                        ShownText.quoted(grant.displayName, columns: nameWidth), grant.strength.rawValue,
                        seen + (grant.isForSession ? " (session)" : ""), contacts, last, nameWidth))
            }
    }

    private static func row(
        _ app: String, _ strength: String, _ seen: String, _ contacts: String, _ last: String, _ nameWidth: Int
    ) -> String {
        [(app, nameWidth), (strength, 11), (seen, 15), (contacts, 9), (last, 10)]
            .map { Columns.pad($0.0, to: $0.1) }.joined(separator: " ")
    }
}
