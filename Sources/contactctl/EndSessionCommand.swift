import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct EndSessionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end-session", abstract: "End the access that an app has for a terminal session or a process.",
        discussion: "The app may then ask again. Access that lasts longer stays; to end that, use revoke.")

    @OptionGroup var target: AppOptions
    @OptionGroup var users: UserOptions
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let (users, client) = try users.open(to: "end the access")
        let grants = try client.grants(of: target, users)
        guard let first = grants.first else { return }
        let reply = try client.call("EndSessionGrants") {
            $0.member("app", first.app)
            $0.member("strength", target.strength)
            users.write(&$0)
        }
        let count = reply["count"]?.integer ?? 0
        guard !json else { return CommandJSON.print { $0.member("count", count) } }
        guard count > 0 else {
            throw client.refused(
                "\(first.name.full) has no access that is limited to a session or process",
                try: "to revoke its access: contactctl revoke \(target.shellWord)\(users.option)")
        }
        print("ended\(users.suffix): \(first.name.full) has lost \(Count.words(count, "grant"))")
    }
}
