import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct ResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Delete an app's grant or denial. The app sees nothing, and may ask again.")

    @OptionGroup var target: AppOptions
    @OptionGroup var users: UserOptions
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let users = try users.users(to: "reset")
        let client = try AdminClient(to: "reset")
        let grants = try client.grants(of: users)
        var name = AppName(target.app).full
        var reply: JSONValue?
        // If no listed app matches the word, the word is tried as a complete identifier. The audit shows
        // complete identifiers.
        if !grants.contains(where: { $0.isCalled(target.app) }) {
            reply = try? reset(target.app, users, at: client)
        }
        if reply == nil {
            guard let first = try client.matching(target.app, strength: target.strength, in: grants).first else {
                return
            }
            reply = try reset(first.app, users, at: client)
            name = first.name.full
        }
        guard !json else { return CommandJSON.print { $0.member("count", reply?["count"]?.integer ?? 0) } }
        print("reset\(users.suffix): \(name) sees nothing, and may ask again")
    }

    private func reset(_ app: String, _ users: Users, at client: AdminClient) throws -> JSONValue {
        try client.call("ResetGrant") {
            $0.member("app", app)
            $0.member("strength", target.strength)
            users.write(&$0)
        }
    }
}
