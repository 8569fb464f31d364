import ArgumentParser
import BrokerCommandOutput
import BrokerModel
import Glibc

struct AppsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "List the apps that may see contacts, or that were denied.",
        discussion: "A list of other users' apps needs an administrator's password, or root.")

    @OptionGroup var users: UserOptions
    @Flag(help: "Show absolute times.") var time = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let (users, client) = try users.open(to: "list the apps")
        let grants = try client.grants(of: users)
        guard !json else { return CommandJSON.print { CommandJSON.grants(grants, &$0) } }
        guard !grants.isEmpty else { return Speech.say("no app has requested contacts yet\(users.suffix)") }
        Screen.show(Self.table(grants, users, absolute: time).lines(width: Screen.width, heading: Screen.heading))
        try client.reportRefusal(of: grants)
    }

    static func table(_ grants: [AppGrant], _ users: Users, absolute: Bool) -> Table {
        var table = Table(
            users.columns + AppName.columns(importance: 6) + [
                Table.Column("STATUS", narrowest: 7, style: Screen.level),
                Table.Column("WHAT IT SEES", importance: 5, narrowest: 12),
                Table.Column("CHANGES", importance: 2, narrowest: 7),
                Table.Column("UNTIL", importance: 4, narrowest: 14),
                Table.Column("LAST USED", importance: 3, narrowest: 13),
                Table.Column("KEYS", importance: 1, narrowest: 14),
                Table.Column("IDENTITY", importance: 2, narrowest: 10),
            ])
        for (grant, identity) in zip(grants, AppName.identities(grants.map(\.name))) {
            table.add(
                users.cells(grant.uid) + [
                    grant.name.name, identity, grant.statusWords, grant.contactsSeen,
                    grant.changes?.rawValue ?? "", grant.until(users, absolute: absolute),
                    grant.lastUsed(absolute: absolute), grant.keysSeen ?? "", grant.strength,
                ])
        }
        return table
    }
}
