import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Say what holds for an app, and why: what you decided, and which rules are over it.")

    @Argument(help: "The app's name or identifier, or part of it; of one that you never decided about its identifier.")
    var app: String
    @Option(help: "Only where the broker was so sure of the app, for example unverified.") var strength: String?

    /// Converts the times in a reason to local time.
    private static func local(_ reason: String) -> String {
        reason.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word.hasSuffix(",") ? LocalTime.text(String(word.dropLast())) + "," : LocalTime.text(String(word))
        }
        .joined(separator: " ")
    }

    func run() throws {
        let client = try AdminClient(to: "say why")
        let grants = try client.grants()
        var name = app
        var identifier = app
        if grants.contains(where: { $0.isCalled(app) && (strength == nil || $0.strength == strength) }) {
            guard let first = try client.matching(app, strength: strength, in: grants).first else { return }
            (name, identifier) = (first.displayName, first.app)
        }
        let reply = try client.call("ExplainDecision") {
            $0.member("app", identifier)
            $0.member("strength", strength)
        }
        print("\(Speech.clean(name)): \(Speech.clean(reply["status"]?.string ?? ""))")
        for reason in reply["reasons"]?.elements.map(Array.init) ?? [] {
            print("  " + Speech.clean(Self.local(reason.string ?? "")))
        }
    }
}
