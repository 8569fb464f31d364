import ArgumentParser
import BrokerCommandOutput

@main
struct Contactctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contactctl",
        abstract: "Show and revoke apps' access to contacts.",
        discussion:
            "Exit codes: 0 success; 1 the broker refused, or nothing matches; 2 the command could not be carried out; 3 the "
            + "status is not good.",
        version: "contactctl 0.1.0",
        subcommands: [
            AppsCommand.self, ShowCommand.self, WhoCommand.self, WhyCommand.self, RevokeCommand.self,
            ShareCommand.self, NarrowCommand.self, EndSessionCommand.self, ResetCommand.self, SetCommand.self,
            PendingCommand.self, AuditCommand.self, ReportCommand.self, AlarmsCommand.self, PolicyCommand.self,
            ReloadCommand.self, VerifyCommand.self, BackupCommand.self, RestoreCommand.self, StatusCommand.self,
            ChangesCommand.self, PutBackCommand.self, BinCommand.self, ConnectCommand.self, DisconnectCommand.self,
            ConnectionsCommand.self, MetricsCommand.self, PurgeUserCommand.self,
        ])

    static func main() { runAsProgram() }
}
