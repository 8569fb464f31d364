import ArgumentParser
import BrokerCommandOutput
import BrokerFormatting
import BrokerJSON
import BrokerModel
import Glibc

struct ChangesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes", abstract: "List the saves that can be put back. Newest first.",
        discussion: """
            The address book keeps for 30 days, or those that bin sets, what each save changed and deleted. To make it as it was \
            before: put-back. Needs the password of the user. Root sees the saves of another user, but no names of contacts.
            """)

    @Argument(
        help: "Only this app: its name, path or identifier, or a part of these.",
        completion: .words(Completions.apps), transform: ShellWord.read)
    var app: String?
    @Option(help: "Only saves since a time: 30m, 12h, 7d, 2026-01-31 or '2026-01-31 12:00'.") var since: String?
    @Option(help: "Whose address book: a name or a UID. Only for root.", completion: .words(Completions.users))
    var user: String?
    @Option(help: "At most this number of saves, the newest.") var limit = 50
    @Flag(help: "Show absolute times.") var time = false
    @Flag(help: "Print JSON.") var json = false

    /// The broker's maximum.
    private static let most = 200

    func validate() throws {
        try Moment.check(since, of: "--since")
        guard (1...Self.most).contains(limit) else {
            throw ValidationError("--limit requires a number from 1 to \(Self.most)")
        }
    }

    func run() throws {
        let users = try UserName.users(user, to: "list the saves")
        let client = try AdminClient(to: "list the saves")
        let (saves, hasMore) = try read(users, client)
        guard !json else { return CommandJSON.print { CommandJSON.array("saves", saves, &$0) } }
        guard !saves.isEmpty else {
            throw client.refused("the bin has no \(app == nil && since == nil ? "" : "such ")save\(users.suffix)")
        }
        var table = Table(
            [Table.Column("SAVE", narrowest: 4), Table.Column("WHEN", narrowest: 13)]
                + AppName.columns(importance: 1) + [
                    Table.Column("ADDED", importance: 3, narrowest: 5),
                    Table.Column("CHANGED", importance: 3, narrowest: 7),
                    Table.Column("DELETED", importance: 4, narrowest: 7),
                    Table.Column("CONTACTS", importance: 2, narrowest: 12),
                ])
        let names = saves.map { AppName($0["app"]?.string ?? "") }
        for (save, (name, identity)) in zip(saves, zip(names, AppName.identities(names))) {
            let at = save["time"]?.string ?? ""
            table.add(
                ["\(save["number"]?.integer ?? 0)", time ? LocalTime.text(at) : RelativeTime.since(at)]
                    + [Self.author(save) ?? name.name, identity]
                    + ["added", "changed", "deleted"].map { Count.grouped(save[$0]?.integer ?? 0) }
                    + [Self.contacts(save)])
        }
        Screen.show(table.lines(width: Screen.width, heading: Screen.heading))
        if hasMore { Speech.say("shows the newest \(saves.count); for more: --limit") }
    }

    /// Reads the saves in one call, because each may need a password.
    private func read(_ users: Users, _ client: AdminClient) throws -> (saves: [JSONValue], hasMore: Bool) {
        // An app that was reset has no grant from which to learn its identifier. Then this program filters the saves.
        let identifier: String? = try app.flatMap { word in
            let candidates = try client.grants(of: users).filter { $0.isCalled(word) }
            return try candidates.isEmpty ? nil : client.matching(word, in: candidates, users).first?.app
        }
        let filters = app != nil && identifier == nil
        let reply = try client.call("ListChanges") {
            users.write(&$0)
            $0.member("app", identifier)
            $0.member("since", since.flatMap { Moment($0)?.before(Int64(Glibc.time(nil))) })
            $0.member("limit", filters ? Self.most : limit)
            if users.isOwn { $0.member("names", true) }
        }
        let word = app?.lowercased() ?? ""
        let saves = (reply["saves"]?.items ?? [])
            .filter { !filters || $0["app"]?.string?.lowercased().contains(word) == true }
        return (Array(saves.prefix(limit)), reply["next"] != nil || saves.count > limit)
    }

    /// The author of a save that no app made.
    private static func author(_ save: JSONValue) -> String? {
        switch save["kind"]?.string {
        case "putBack": "(put back)"
        case "restore": "(restored a backup)"
        default: save["app"]?.string == "" ? "(you)" : nil
        }
    }

    /// The names of the first contacts, and how many there are besides.
    private static func contacts(_ save: JSONValue) -> String {
        let contacts = (save["contacts"]?.items ?? []).map { name(of: $0["contact"]) }
        let all = ["added", "changed", "deleted"].reduce(0) { $0 + (save[$1]?.integer ?? 0) }
        let more = all - Int64(contacts.count)
        if all == 0, save["others"]?.integer ?? 0 > 0 { return "(groups or links)" }
        guard !contacts.isEmpty else { return "" }
        return contacts.joined(separator: ", ") + (more > 0 ? " and \(Count.grouped(more)) more" : "")
    }

    /// The name of a contact as the broker lists it.
    static func name(of contact: JSONValue?) -> String {
        guard let named = contact.flatMap({ try? WireContact($0) })?.contact else { return "(not in the bin any more)" }
        return NameFormatter().string(from: named)
    }
}
