import ArgumentParser
import BrokerCommandOutput

@main
struct Contactctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contactctl",
        abstract: "See and take back what apps may know of your contacts.",
        discussion: "Exit codes: 0 done, 1 refused or nothing found, 2 could not be tried.",
        version: "contactctl 0.1.0",
        subcommands: [
            AppsCommand.self, ShowCommand.self, RevokeCommand.self, ResetCommand.self, SetCommand.self, WhyCommand.self,
            ReloadCommand.self, PendingCommand.self, AuditCommand.self, VerifyCommand.self, StatusCommand.self,
            PurgeUserCommand.self,
        ])

    static func main() { runAsProgram() }
}
