import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reload policy files.",
        discussion: """
            Needs an administrator's password, or root. Access that the new policy forbids ends at once. If a policy file has a \
            mistake, the rules from before stay in force, and the command exits with 1.
            """)

    func run() throws {
        let reply = try AdminClient(to: "reload the policy").call("ReloadPolicy")
        let rules = reply["rules"]?.integer ?? 0
        switch rules {
        case 0: print("no rules: the person decides everything")
        case 1: print("1 rule is in force")
        default: print("\(rules) rules are in force")
        }
        PolicyFiles.say(unread: reply["unread"]?.elements?.compactMap(\.string) ?? [])
    }
}
