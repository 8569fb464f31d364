import ArgumentParser

struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Check and try policy files, and explain the rules in force.",
        subcommands: [PolicyCheckCommand.self, PolicyTryCommand.self, PolicyExplainCommand.self])
}
