import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct RevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Take back what an app may see. It is refused from now on, and not asked about.",
        discussion: "To be asked about the app again, use reset.")

    @Argument(help: "The app's name or identifier, or part of it.") var app: String
    @Option(help: "Only where the broker was so sure of the app, for example unverified.") var strength: String?

    func run() throws {
        let client = try AdminClient(to: "revoke")
        let grants = try client.matching(app, strength: strength, in: client.grants())
        guard let first = grants.first else { return }
        let name = Speech.clean(first.displayName)
        guard grants.contains(where: \.isDecided) else {
            Speech.say("\(name) was never allowed anything, and you are not asked about it")
            return
        }
        let allowed = grants.filter { $0.isDecided && $0.status != "denied" }
        guard !allowed.isEmpty else {
            Speech.say("\(name) was refused already")
            return
        }
        _ = try client.call("SetGrant") {
            $0.member("app", first.app)
            $0.member("strength", strength)
            $0.member("status", "denied")
        }
        let before = allowed.map { $0.extent == "1" ? "1 contact" : "\($0.extent) contacts" }
        print("\(name) may see no contact any more; it was allowed \(before.joined(separator: " and "))")
        Speech.say("what it has read already, it may have kept")
        Speech.say("to be asked about it again: contactctl reset '\(name)'")
    }
}
