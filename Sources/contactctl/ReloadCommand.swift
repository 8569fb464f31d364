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
        print(
            rules == 0
                ? "no rules: the person decides everything"
                : "\(Count.words(rules, "rule")) \(rules == 1 ? "is" : "are") in force")
        PolicyFiles.say(unread: reply["unread"]?.strings ?? [])
    }
}
