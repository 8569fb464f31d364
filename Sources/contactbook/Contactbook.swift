import ArgumentParser
import BrokerCommandOutput

@main
struct Contactbook: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contactbook",
        abstract: "Manage an address book at the command line.",
        discussion: """
            contactbook is an app like any other: the first time, you are asked in contact-agent what it may see.
            Exit codes: 0 done, 1 refused or nothing found, 2 could not be tried.
            """,
        version: "contactbook 0.1.0",
        subcommands: [
            AddCommand.self, ListCommand.self, ShowCommand.self, SearchCommand.self, EditCommand.self,
            RemoveCommand.self, UndoCommand.self, ImportCommand.self, ExportCommand.self, GroupsCommand.self,
            LinkCommand.self, UnlinkCommand.self, DuplicatesCommand.self, QueryCommand.self, BirthdaysCommand.self,
        ])

    static func main() { runAsProgram() }
}
