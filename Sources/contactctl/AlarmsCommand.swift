import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import Glibc

struct AlarmsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alarms", abstract: "List what the contact broker noticed and somebody should look at.",
        discussion: """
            An alarm changes no access. Shows the last 30 days, the newest last. Needs the password of the user, or an \
            administrator's; root needs none.
            """)

    @OptionGroup var users: UserOptions
    @Option(help: "Only alarms since a time: 30m, 12h, 7d, 2026-01-31 or '2026-01-31 12:00'.") var since: String?
    @Flag(help: "Show absolute times.") var time = false
    @Flag(help: "Print JSON.") var json = false

    private static let period = "30d"

    func validate() throws { try Moment.check(since, of: "--since") }

    func run() throws {
        let (users, client) = try users.open(to: "list the alarms")
        var records: [JSONValue] = []
        var removed: String?
        try client.stream("QueryAudit") {
            users.write(&$0)
            $0.member("event", "alarm")
            $0.member("since", Moment(since ?? Self.period)?.before(Int64(Glibc.time(nil))))
        } each: {
            removed = removed ?? RemovedRecords.day($0)
            records += $0["records"]?.items ?? []
        }
        guard !json else { return CommandJSON.print { CommandJSON.array("records", records, &$0) } }
        RemovedRecords.say(removed)
        guard !records.isEmpty else { return Speech.say("no alarms\(users.suffix) since \(since ?? "30 days ago")") }
        let names = records.map { AppName($0["app"]?.string ?? "") }
        var lines: [String] = []
        for (record, (name, identity)) in zip(records, zip(names, AppName.identities(names))) {
            let at = record["time"]?.string ?? ""
            let when = time ? LocalTime.text(at) : RelativeTime.since(at)
            let app = identity.isEmpty ? "" : name.name == identity ? ": \(identity)" : ": \(name.name), \(identity)"
            let uid = record["uid"]?.uid ?? 0
            let user = users.isAll ? Users.one(uid, name: nil).option : users.option
            let (alarm, advice) = Self.words(record, "\(identity)\(user)")
            lines += [Screen.heading("\(when)\(users.suffix(uid))\(app)"), "  \(alarm)", "  \(advice)"]
        }
        Screen.show(lines)
    }

    /// What happened, and what to do about it. An alarm of a newer broker is shown as it is.
    ///
    /// - Parameter app: the arguments that name the app and its user to other commands.
    private static func words(_ record: JSONValue, _ app: String) -> (String, String) {
        let detail = Speech.clean(record["detail"]?.string ?? "")
        let more = detail.firstIndex(of: ",").map { String(detail[$0...].dropFirst(2)) } ?? ""
        let count = record["contacts"]?.integer ?? 0
        switch detail.prefix(while: { $0 != "," }) {
        case "readsEverything":
            return (
                "it got \(Count.words(count, "contact")), almost the whole address book, within an hour",
                "if you did not expect this: contactctl revoke \(app)"
            )
        case "changesMuch":
            return (
                "it changed or deleted \(Count.words(count, "contact")) within an hour",
                "if you did not expect this: contactctl revoke \(app); to undo it: contactctl changes"
            )
        case "executableChanged":
            return (
                "a changed version of this file asked; it does not have the access of this one",
                "if you updated it, allow the new version when it asks, then: contactctl reset \(app)"
            )
        case "weakerIdentity":
            return (
                "a program that claims to be this app asked, with a weaker identity: \(more)",
                "it can be an imitation: do not allow it at its prompt unless you know why"
            )
        case "unusedGrant":
            return ("it has not used its access \(more)", "if you no longer need it: contactctl revoke \(app)")
        case "notInstalled":
            return ("no installed package names this app any more", "if it was removed: contactctl reset \(app)")
        case "auditBroken": return ("the audit is broken \(more)", "for details: contactctl verify")
        default: return (detail, app.isEmpty ? "" : "contactctl show \(app)")
        }
    }
}
