import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct PendingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "List the requests that wait for an answer.",
        discussion: "Shows who asks and for what, but no purpose and no search text. To answer, start contact-agent.")

    @OptionGroup var users: UserOptions
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let (users, client) = try users.open(to: "list the open requests")
        let reply = try client.call("ListPending", users.write)
        let prompts = reply["prompts"]?.items ?? []
        guard !json else { return CommandJSON.print { CommandJSON.array("prompts", prompts, &$0) } }
        guard !prompts.isEmpty else { return Speech.say("no request is waiting\(users.suffix)") }
        var table = Table(
            users.columns + AppName.columns(importance: 2) + [
                Table.Column("REQUEST", narrowest: 12), Table.Column("STATE", importance: 3, narrowest: 10),
                Table.Column("IDENTITY", importance: 1),
            ])
        let names = prompts.map { AppName($0["app"]?.string ?? "", displayName: $0["displayName"]?.string) }
        for (prompt, (name, identity)) in zip(prompts, zip(names, AppName.identities(names))) {
            let isShown = prompt["shown"]?.bool == true
            let isQuiet = prompt["quiet"]?.bool == true
            let uid = prompt["uid"]?.uid ?? 0
            table.add(
                users.cells(uid) + [
                    name.name, identity, Self.words(prompt["kind"]?.string ?? ""),
                    isShown ? "shown by an agent" : isQuiet ? "a quiet line" : "queued",
                    prompt["strength"]?.string ?? "",
                ])
        }
        Screen.show(table.lines(width: Screen.width, heading: Screen.heading))
    }

    private static func words(_ kind: String) -> String {
        switch kind {
        case "access": "see contacts"
        case "button": "see a contact by its name"
        case "manage": "change what it sees"
        case "keys": "see more of each contact"
        case "change": "change contacts"
        case "pick": "get contacts once"
        case "propose": "add a contact"
        default: kind
        }
    }
}
