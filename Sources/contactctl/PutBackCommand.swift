import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import Glibc

struct PutBackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put-back",
        abstract: "Make contacts and groups as they were before a save, or before an app's saves.",
        discussion: """
            Name a save by its number from changes, or all saves of an app since a time. What somebody else has changed since \
            stays as it is. More than 25 contacts in a day need the password of the user, and so do names with --dry-run. \
            Deleted contacts return to the apps that saw them, unless an app's access was lowered since.
            """)

    @Argument(help: "The number of the save.", completion: .nothing) var save: Int64?
    @Option(help: "Only this contact of the save, by its whole name.", completion: .nothing) var contact: String?
    @Option(
        help: "All saves of this app: its name, path or identifier, or a part that matches no other app.",
        completion: .words(Completions.apps), transform: ShellWord.read)
    var app: String?
    @Option(help: "With --app, its saves since a time: 30m, 12h, 7d, 2026-01-31 or '2026-01-31 12:00'.") var since:
        String?
    @Flag(help: "Also what somebody else has changed since.") var force = false
    @Flag(help: "Only list what would be put back.") var dryRun = false
    @Flag(help: "Do not ask for confirmation.") var yes = false
    @Option(help: "Whose address book: a name or a UID. Only for root.", completion: .words(Completions.users))
    var user: String?
    @Flag(help: "Print JSON.") var json = false

    private static let task = "put back contacts"

    func validate() throws {
        try Moment.check(since, of: "--since")
        if let contact { try RecordWords.check(contacts: [contact]) }
        guard (save == nil) == (app != nil), (app == nil) == (since == nil) else {
            throw ValidationError("name a save, or --app and --since")
        }
        if contact != nil, save == nil { throw ValidationError("--contact names a contact of a save") }
        if json, !dryRun, !yes { throw ValidationError("--json asks no question; add --yes or --dry-run") }
    }

    func run() throws {
        let users = try UserName.users(user, to: Self.task)
        let client = try AdminClient(to: Self.task)
        let known = try app.flatMap { word in
            let candidates = try client.grants(of: users).filter { $0.isCalled(word) }
            return try candidates.isEmpty ? nil : client.matching(word, in: candidates, users).first
        }
        func request(_ writer: inout JSONWriter) {
            users.write(&writer)
            writer.member("save", save)
            writer.member("contact", contact)
            // An app that was reset has no grant from which to learn its identifier.
            writer.member("app", known?.app ?? app)
            writer.member("strength", known?.strength)
            writer.member("since", since.flatMap { Moment($0)?.before(Int64(Glibc.time(nil))) })
            if force { writer.member("force", true) }
        }
        let plan = try client.call("PutBack") {
            request(&$0)
            $0.member("dryRun", true)
            if dryRun, users.isOwn { $0.member("names", true) }
        }
        guard !dryRun else { return show(plan) }
        guard Self.changes(plan) > 0 else {
            sayRest(plan)
            throw client.refused("there is nothing to put back")
        }
        if !yes {
            Speech.say("This \(Self.words(plan, isDone: false)).")
            sayRest(plan)
            guard let answer = Speech.confirm("Put them back?") else {
                throw CommandFailure(
                    "could not \(Self.task): there is no terminal to ask on", try: "without confirmation: --yes",
                    .notTried)
            }
            guard answer else { throw CommandFailure("nothing was put back", .refused) }
        }
        let first = try client.call("PutBack", unless: ["many"], request)
        let made: JSONValue
        switch first {
        case .reply(let reply): made = reply
        case .refused:
            made = try client.call("PutBack") {
                request(&$0)
                $0.member("many", true)
            }
        }
        guard !json else { return Self.printJSON(made) }
        print("put back\(users.suffix): \(Self.words(made, isDone: true))")
        if yes { sayRest(made) }
    }

    /// How many contacts and groups change.
    private static func changes(_ reply: JSONValue) -> Int64 {
        ["returned", "changed", "removed", "groups"].reduce(0) { $0 + (reply[$1]?.integer ?? 0) }
    }

    /// What it does or did: `brings back 2 contacts, deletes 1 added contact`.
    private static func words(_ reply: JSONValue, isDone: Bool) -> String {
        let parts = [
            ("returned", "brings back", "brought back", "contact"),
            ("changed", "restores", "restored", "changed contact"),
            ("removed", "deletes", "deleted", "added contact"), ("groups", "restores", "restored", "contact group"),
        ]
        return parts.compactMap { name, does, did, thing in
            let count = reply[name]?.integer ?? 0
            return count == 0 ? nil : "\(isDone ? did : does) \(Count.words(count, thing))"
        }
        .joined(separator: ", ")
    }

    /// Says what stays as it is, and why.
    private func sayRest(_ reply: JSONValue) {
        let (conflicts, lost) = (reply["conflicts"]?.integer ?? 0, reply["lost"]?.integer ?? 0)
        if conflicts > 0 {
            Speech.say(
                "\(Count.words(conflicts, "contact")) \(conflicts == 1 ? "stays as it is" : "stay as they are"): "
                    + "changed by somebody else since, or replaced by a restored backup")
            Speech.say("\(dryRun ? "" : "to list: --dry-run; ")to put back all the same: --force")
        }
        if lost > 0 { Speech.say("the bin no longer has \(Count.words(lost, "contact"))") }
    }

    private func show(_ plan: JSONValue) {
        guard !json else { return Self.printJSON(plan) }
        var table = Table([
            Table.Column("CONTACT", importance: 1, narrowest: 12), Table.Column("WHAT HAPPENS", narrowest: 20),
        ])
        for contact in plan["contacts"]?.items ?? [] {
            table.add([ChangesCommand.name(of: contact["contact"]), Self.outcome(contact["outcome"]?.string ?? "")])
        }
        let lines = table.lines(width: Screen.width, heading: Screen.heading)
        if lines.count > 1 { Screen.show(lines) }
        let words = Self.words(plan, isDone: false)
        Speech.say(words.isEmpty ? "there is nothing to put back" : "this \(words)")
        sayRest(plan)
    }

    private static func outcome(_ word: String) -> String {
        switch word {
        case "returned": "comes back"
        case "changed": "becomes as it was"
        case "removed": "is deleted, because the app added it"
        case "conflict": "stays as it is: somebody else changed it since"
        case "lost": "stays as it is: the bin no longer has it"
        default: Speech.clean(word)
        }
    }

    private static func printJSON(_ reply: JSONValue) {
        CommandJSON.print {
            for name in ["returned", "changed", "removed", "conflicts", "lost", "groups"] {
                $0.member(name, reply[name]?.integer ?? 0)
            }
            if let contacts = reply["contacts"]?.items { CommandJSON.array("contacts", contacts, &$0) }
        }
    }
}
