import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reload policy files.",
        discussion: """
            Needs an administrator's password, or root. Access that the new policy forbids ends at once. If a policy file has a \
            mistake, every app is refused until the file is corrected and reloaded.
            """)

    func run() throws {
        let rules = try AdminClient(to: "reload the policy").call("ReloadPolicy")["rules"]?.integer ?? 0
        switch rules {
        case 0: print("no rules: the person decides everything")
        case 1: print("1 rule is in force")
        default: print("\(rules) rules are in force")
        }
    }
}
