import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct PendingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "List the questions that wait for the person's answer.",
        discussion: "Who asks and for what, never a reason or a search. They are answered in contact-agent.")

    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let reply = try AdminClient(to: "list the open questions").call("ListPending")
        let prompts = reply["prompts"]?.elements.map(Array.init) ?? []
        guard !json else { return print(JSONLines.text(prompts)) }
        guard !prompts.isEmpty else { return Speech.say("no question waits for an answer") }
        var table = Table(["APP", "HOW SURE", "ASKS", "STATE"])
        for prompt in prompts {
            let isShown = prompt["shown"]?.bool == true
            let isQuiet = prompt["quiet"]?.bool == true
            table.add([
                prompt["displayName"]?.string ?? "", prompt["strength"]?.string ?? "",
                Self.words(prompt["kind"]?.string ?? ""),
                isShown ? "at an agent" : isQuiet ? "as a quiet line" : "waits for its turn",
            ])
        }
        for line in table.lines { print(line) }
    }

    private static func words(_ kind: String) -> String {
        switch kind {
        case "access": "to see contacts"
        case "button": "for a contact by its name"
        case "manage": "to change what it sees"
        case "pick": "to be handed contacts once"
        case "propose": "to add a card"
        default: kind
        }
    }
}
