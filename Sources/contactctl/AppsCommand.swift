import ArgumentParser
import BrokerCommandOutput

struct AppsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "List the apps that you let read contacts, or refused.")

    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let grants = try AdminClient(to: "list the apps").grants()
        guard !json else { return print(JSONLines.text(grants.map(\.json))) }
        guard !grants.isEmpty else { return Speech.say("no app has asked for your contacts yet") }
        var table = Table(["APP", "HOW SURE", "STATUS", "CONTACTS", "UNTIL", "LAST USED"])
        for grant in grants {
            table.add([
                grant.displayName, grant.strength, grant.counting, grant.countingExtent, grant.end, grant.lastUsed,
            ])
        }
        for line in table.lines { print(line) }
    }
}
