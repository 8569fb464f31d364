import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct ResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Delete an app's grant or denial. The app sees nothing, and may ask again.",
        discussion: "With --all-users, a name resets every app of that name, whatever its path.")

    @OptionGroup var target: AppOptions
    @OptionGroup var users: UserOptions
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let (users, client) = try users.open(to: "reset")
        let grants = try client.grants(of: users)
        var done: [(name: String, count: Int64)] = []
        // If no listed app matches the word, the word is tried as a complete identifier. The audit shows
        // complete identifiers.
        if !grants.contains(where: { $0.isCalled(target.app) }),
            let reply = try? reset(target.app, users, at: client)
        {
            done = [(AppName(target.app).full, reply["count"]?.integer ?? 0)]
        }
        if done.isEmpty {
            let found = try client.matching(
                target.app, strength: target.strength, in: grants, users, takesAll: users.isAll)
            for app in AppGrant.byApp(found) {
                let reply = try reset(app[0].app, users, at: client)
                done.append((app[0].name.full, reply["count"]?.integer ?? 0))
            }
        }
        guard !json else { return CommandJSON.print { $0.member("count", done.reduce(0) { $0 + $1.count }) } }
        for (name, _) in done { print("reset\(users.suffix): \(name) sees nothing, and may ask again") }
    }

    private func reset(_ app: String, _ users: Users, at client: AdminClient) throws -> JSONValue {
        try client.call("ResetGrant") {
            $0.member("app", app)
            $0.member("strength", target.strength)
            users.write(&$0)
        }
    }
}
