import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import BrokerModel

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show an app's access and its latest audit records.",
        discussion: "The records need the password of the user, or an administrator's; root needs none.")

    @OptionGroup var target: AppOptions
    @OptionGroup var users: UserOptions
    @Flag(help: "Print JSON.") var json = false
    /// The number of lines of the audit to show, and of the records that are requested for them.
    private static let recent = 5
    private static let recentRecords = 100

    func run() throws {
        let (users, client) = try users.open(to: "show the app")
        let grants = try client.grants(of: target, users)
        guard let identifier = grants.first?.app else { return }
        let reply = try client.read("QueryAudit") {
            $0.member("app", identifier)
            $0.member("limit", json ? Self.recent : Self.recentRecords)
            users.write(&$0)
        }
        let records = reply["records"]?.items ?? []
        guard !json else {
            return CommandJSON.print {
                CommandJSON.grants(grants, &$0)
                CommandJSON.array("records", records, &$0)
            }
        }
        var lines = grants.map { Self.lines($0, users) }.joined(separator: [""]).map(\.self)
        if !records.isEmpty {
            let latest = AuditTable.lines(records).suffix(Self.recent)
            let table = AuditTable.table(Array(latest), users, withApp: false).lines(width: Screen.width.map { $0 - 2 })
            lines += ["", "Latest audit records"] + table.map { "  \($0)" }
        }
        Screen.show(lines)
        try client.reportRefusal(of: grants)
    }

    static func lines(_ grant: AppGrant, _ users: Users) -> [String] {
        var lines = [grant.name.name]
        func add(_ name: String, _ value: String?) {
            guard let value, !value.isEmpty else { return }
            lines.append("  " + name + String(repeating: " ", count: 12 - name.count) + Speech.clean(value))
        }
        if users.isAll { add("user", UserName.text(grant.uid)) }
        add(grant.name.hash == nil ? "identifier" : "path", grant.name.identity)
        add("SHA-256", grant.name.hash)
        add("identity", "\(grant.strength): \(grant.certainty)")
        add("status", grant.statusWords)
        add("sees", grant.sees)
        add("changes", grant.changes.map { "\($0.rawValue): may \($0.words)" })
        if grant.byPolicy != nil {
            add("policy", "changes \(grant.status) to \(grant.statusWords); contactctl why names the rule")
        }
        if grant.isSilenced { add("prompts", "turned off; contactctl reset turns them on") }
        add("until", grant.until(users, absolute: true))
        let decided = grant.text("decidedThrough")?.hasPrefix("revoked ") == true ? "revoked" : "decided"
        add(decided, grant.text("decidedAt").map { "\(LocalTime.text($0)) by \(grant.decider(users))" })
        add(
            "through",
            grant.text("decidedThrough").map {
                ChangedBy.words($0.hasPrefix("revoked ") ? String($0.dropFirst(8)) : $0)
            })
        add("last used", grant.lastUsed(absolute: true))
        if let contacts = grant.json["contactsRead"]?.integer {
            add(
                "got",
                grant.text("lastReadAt").map {
                    "at most \(Count.words(contacts, "different contact")), last \(LocalTime.text($0))"
                }
                    ?? "no contacts")
        }
        add("uses", (grant.json["uses"]?.integer).map { "\($0)" })
        return lines
    }
}
