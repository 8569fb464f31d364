import ArgumentParser
import BrokerCommandOutput

struct PolicyCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check policy files for mistakes.",
        discussion: """
            Reads the files as the contact broker does, without asking it. Prints a line FILE:LINE: KEY: REASON for each \
            mistake, and then exits with 1.
            """)

    @OptionGroup var policy: PolicyFiles

    func run() throws {
        let (texts, rules) = try policy.read(to: "accept the policy")
        print("no mistakes: \(Count.words(rules, "rule")) in \(Count.words(texts.count, "file"))")
    }
}
