import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct ResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Forget what you said about an app. It may see nothing, and may ask again.")

    @Argument(help: "The app's name or identifier, or part of it.") var app: String
    @Option(help: "Only where the broker was so sure of the app, for example unverified.") var strength: String?

    func run() throws {
        let client = try AdminClient(to: "reset")
        let grants = try client.grants()
        var name = app
        // If no listed app matches the word, the word is tried as a complete identifier. The audit shows
        // complete identifiers.
        if grants.contains(where: { $0.isCalled(app) }) || (try? reset(app, at: client)) == nil {
            guard let first = try client.matching(app, strength: strength, in: grants).first else { return }
            try reset(first.app, at: client)
            name = first.displayName
        }
        print("\(Speech.clean(name)) may see no contact; you are asked when it wants to")
    }

    private func reset(_ app: String, at client: AdminClient) throws {
        _ = try client.call("ResetGrant") {
            $0.member("app", app)
            $0.member("strength", strength)
        }
    }
}
