import ArgumentParser
import BrokerCommandOutput
import Glibc

struct AppsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "List the apps that may see contacts, or that were denied.",
        discussion: "A list of other users' apps needs an administrator's password, or root.")

    @OptionGroup var users: UserOptions
    @Flag(help: "Show absolute times.") var time = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let users = try users.users(to: "list the apps")
        let grants = try AdminClient(to: "list the apps").grants(of: users)
        guard !json else { return CommandJSON.print { CommandJSON.grants(grants, &$0) } }
        guard !grants.isEmpty else { return Speech.say("no app has requested contacts yet\(users.suffix)") }
        Screen.show(Self.table(grants, users, absolute: time).lines(width: Screen.width, heading: Screen.heading))
    }

    static func table(_ grants: [AppGrant], _ users: Users, absolute: Bool) -> Table {
        let user = Table.Column("USER", narrowest: 6)
        var table = Table(
            (users.isAll ? [user] : []) + [
                Table.Column("APP", narrowest: 16),
                Table.Column("PATH OR IDENTIFIER", importance: 6, narrowest: 20, cut: .middle),
                Table.Column("STATUS", narrowest: 7), Table.Column("WHAT IT SEES", importance: 5, narrowest: 12),
                Table.Column("UNTIL", importance: 4, narrowest: 14),
                Table.Column("LAST USED", importance: 3, narrowest: 13),
                Table.Column("KEYS", importance: 1, narrowest: 14),
                Table.Column("IDENTITY", importance: 2, narrowest: 10),
            ])
        let identities = AppName.identities(grants.map { ($0.app, $0.name) })
        for (grant, identity) in zip(grants, identities) {
            table.add(
                (users.isAll ? [UserName.text(grant.uid)] : []) + [
                    grant.name.name, identity, grant.statusWords, grant.contactsSeen,
                    grant.until(users, absolute: absolute),
                    grant.lastUsed(absolute: absolute), grant.keysSeen ?? "", grant.strength,
                ])
        }
        return table
    }
}
