import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import Glibc

struct WhoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "who", abstract: "Show which apps may see a contact, and which apps saw it.",
        discussion: """
            Needs the password of the user each time. Root may look up another user's contact only if contactbroker.toml \
            permits it (look_up_contacts), by a whole name, e-mail address or phone number, 20 times an hour; that user can \
            read in the audit that it happened.
            """)

    @Argument(
        help: "The contact: a name, an e-mail address, a phone number or an identifier.",
        completion: .nothing)
    var contact: String
    @Option(
        help: "Whose contact: a name or a UID. Only for root.", completion: .words(Completions.users)
    )
    var user: String?
    @Option(help: "Only apps that saw it since a time: 30m, 12h, 7d, 2026-01-31 or '2026-01-31 12:00'.") var since:
        String?
    @Flag(help: "Show absolute times.") var time = false
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        try RecordWords.check(contacts: [contact])
        try Moment.check(since, of: "--since")
    }

    func run() throws {
        let users = try UserName.users(user, to: "look up the contact")
        let client = try AdminClient(to: "look up the contact")
        let reply = try client.read("FindContactAccess") {
            $0.member("contact", contact)
            $0.member("since", since.flatMap { Moment($0)?.before(Int64(Glibc.time(nil))) })
            users.write(&$0)
        }
        let matches = reply["matches"]?.integer ?? 0
        guard matches == 1 else {
            throw matches == 0
                ? client.refused("no contact matches \"\(Speech.clean(contact))\"\(users.suffix)")
                : client.refused(
                    "\"\(Speech.clean(contact))\" matches \(matches) contacts",
                    try: "use the whole name, an e-mail address or a phone number")
        }
        let now = AppGrant.all(reply["now"])
        let seen = reply["seen"]?.items ?? []
        guard !json else {
            return CommandJSON.print {
                CommandJSON.array("now", now.map(\.json), without: ["session"], &$0)
                CommandJSON.array("seen", seen, &$0)
                $0.member("removedUntil", RemovedRecords.day(reply))
            }
        }
        RemovedRecords.say(RemovedRecords.day(reply))
        Screen.show(nowLines(now, users) + [""] + seenLines(seen))
        if seen.contains(where: { $0["times"]?.integer == $0["inLists"]?.integer }) {
            Speech.say("* only in lists of all contacts; an app that stopped a list early may not have received it")
        }
    }

    private func nowLines(_ grants: [AppGrant], _ users: Users) -> [String] {
        guard !grants.isEmpty else { return ["No app may see this contact now"] }
        var table = Table(
            AppName.columns(importance: 3) + [
                Table.Column("STATUS", importance: 2, narrowest: 7, style: Screen.level),
                Table.Column("UNTIL", narrowest: 14),
                Table.Column("KEYS", importance: 4, narrowest: 14),
            ])
        for (grant, identity) in zip(grants, AppName.identities(grants.map(\.name))) {
            table.add([
                grant.name.name, identity, grant.statusWords, grant.until(users, absolute: time),
                KeyWords.text(grant.json["keys"]) ?? "",
            ])
        }
        return ["May see it now"] + indented(table)
    }

    private func seenLines(_ sightings: [JSONValue]) -> [String] {
        let period = since == nil ? "" : " in this period"
        guard !sightings.isEmpty else { return ["No app saw this contact\(period), as far as the audit goes back"] }
        var table = Table(
            AppName.columns(importance: 3) + [
                Table.Column("FIRST", importance: 1, narrowest: 13), Table.Column("LAST", narrowest: 13),
                Table.Column("TIMES", importance: 2, narrowest: 5), Table.Column("KEYS", importance: 4, narrowest: 14),
            ])
        let names = sightings.map { AppName($0["app"]?.string ?? "") }
        for (sighting, (name, identity)) in zip(sightings, zip(names, AppName.identities(names))) {
            let (times, inLists) = (sighting["times"]?.integer ?? 0, sighting["inLists"]?.integer ?? 0)
            table.add([
                name.name, identity, moment(sighting["first"]), moment(sighting["last"]),
                times == inLists ? "\(times) *" : "\(times)", KeyWords.text(sighting["keys"]) ?? "",
            ])
        }
        return ["Saw it\(period)"] + indented(table)
    }

    private func moment(_ json: JSONValue?) -> String {
        let text = json?.string ?? ""
        return time ? LocalTime.text(text) : RelativeTime.since(text)
    }

    private func indented(_ table: Table) -> [String] {
        table.lines(width: Screen.width.map { $0 - 2 }, heading: Screen.heading).map { "  \($0)" }
    }
}
