import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct ResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Forget what you said about an app. It may see nothing, and may ask again.")

    @Argument(help: "The app's name or identifier, or part of it.") var app: String
    @Option(help: "Only where the broker was so sure of the app, for example unverified.") var strength: String?

    func run() throws {
        let door = try AdminDoor(to: "reset")
        let grants = try door.grants()
        var name = app
        // A silenced app may have no grant. The word is then tried as a whole identifier, which the audit shows.
        if grants.contains(where: { $0.isCalled(app) }) || (try? forget(app, at: door)) == nil {
            guard let first = try door.matching(app, strength: strength, in: grants).first else { return }
            try forget(first.app, at: door)
            name = first.displayName
        }
        print("\(Speech.clean(name)) may see no contact; you are asked when it wants to")
    }

    private func forget(_ app: String, at door: AdminDoor) throws {
        _ = try door.call("ResetGrant") {
            $0.member("app", app)
            $0.member("strength", strength)
        }
    }
}
