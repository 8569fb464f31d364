import ArgumentParser
import CommandOutput

struct ResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Forget what you said about an app. It may see nothing, and may ask again.")

    @Argument(help: "The app's name or identifier, or part of it.") var app: String
    @Option(help: "Only where the broker was so sure of the app, for example unverified.") var strength: String?

    func run() throws {
        let task = "reset"
        let door = try AdminDoor(to: task)
        guard let first = try AppGrant.matching(app, strength: strength, in: door.grants(), to: task).first else {
            return
        }
        _ = try door.call("ResetGrant") {
            $0.member("app", first.app)
            $0.member("strength", strength)
        }
        print("\(Speech.clean(first.displayName)) may see no contact; you are asked when it wants to")
    }
}
