import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Let the policy files hold as they are now. What an app loses, it loses at once.",
        discussion: "A policy that cannot be understood refuses every app until it is mended and reloaded.")

    func run() throws {
        let rules = try AdminClient(to: "reload the policy").call("ReloadPolicy")["rules"]?.integer ?? 0
        switch rules {
        case 0: print("no rules: the person decides everything")
        case 1: print("1 rule is in force")
        default: print("\(rules) rules are in force")
        }
    }
}
