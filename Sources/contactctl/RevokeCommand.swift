import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct RevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke an app's access.",
        discussion: """
            The same program is then denied without a prompt, in other terminals, too. To let it ask again, use reset. To \
            end only the access of a terminal session, use end-session. With --contact or --group, the app loses only \
            that contact, or the contacts that it sees as members of that group; this needs the password of the user, \
            because it looks up the contact or the group. With --all-users, a name revokes the access of every app of that \
            name, whatever its path.
            """)

    @OptionGroup var target: AppOptions
    @OptionGroup var users: UserOptions
    @Option(help: RecordWords.contacts, completion: .nothing) var contact: [String] = []
    @Option(help: RecordWords.groups, completion: .nothing) var group: [String] = []
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        try RecordWords.check(contacts: contact, groups: group)
        if !contact.isEmpty || !group.isEmpty, users.allUsers {
            let option = contact.isEmpty ? "--group names a group" : "--contact names a contact"
            throw ValidationError("\(option) of one user; use --user instead of --all-users")
        }
    }

    func run() throws {
        let users = try users.users(to: "revoke access")
        guard contact.isEmpty, group.isEmpty else {
            return try ContactChange(
                change: "revoke", contacts: contact, groups: group, task: "revoke access", done: "revoked"
            )
            .carryOut(target, users, json: json)
        }
        let client = try AdminClient(to: "revoke access")
        let grants = try client.matching(
            target.app, strength: target.strength, in: client.grants(of: users), users, takesAll: users.isAll)
        guard let first = grants.first else { return }
        let allowed = grants.filter { $0.isDecided && $0.status != "denied" }
        guard !allowed.isEmpty else {
            guard !json else { return CommandJSON.print { CommandJSON.grants([], &$0) } }
            let name = first.name.full
            return Speech.say(
                grants.contains(where: \.isDecided)
                    ? "\(name) is already denied\(users.suffix)" : "\(name) has no access\(users.suffix)")
        }
        let apps = AppGrant.byApp(allowed)
        if apps.count > 1 {
            Speech.say("\(apps.count) apps are called \(target.shellWord), and all of them lose their access:")
            for identity in AppName.identities(apps.map { $0[0].name }) { Speech.say("  \(identity)") }
        }
        var now: [AppGrant] = []
        for app in apps {
            let reply = try client.call("SetGrant") {
                $0.member("app", app[0].app)
                $0.member("strength", target.strength)
                $0.member("status", "denied")
                users.write(&$0)
            }
            now += AppGrant.all(reply["grants"])
            guard !json else { continue }
            for grant in app {
                print("revoked\(users.suffix(grant.uid)): \(grant.name.full) could see \(grant.sees)")
            }
        }
        guard !json else { return CommandJSON.print { CommandJSON.grants(now, &$0) } }
        // An interpreter cannot be denied as an app.
        let isBound = !now.isEmpty && now.allSatisfy { $0.text("session") != nil }
        Speech.say(
            isBound
                ? "it is denied until this session or process ends; each new one asks again"
                : "it is denied from now on, in every terminal; to let it ask again: "
                    + "contactctl reset \(target.shellWord)\(users.option)"
        )
        Speech.say("it may have kept what it has already read")
    }
}
