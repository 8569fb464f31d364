import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain an app's effective access: its grant, and the rules that apply.")

    @OptionGroup var target: AppOptions
    @OptionGroup var users: UserOptions
    @Flag(help: "Print JSON.") var json = false

    /// Converts the times in a reason to local time.
    private static func local(_ reason: String) -> String {
        reason.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word.hasSuffix(",") ? LocalTime.text(String(word.dropLast())) + "," : LocalTime.text(String(word))
        }
        .joined(separator: " ")
    }

    func run() throws {
        let users = try users.users(to: "explain the access")
        let client = try AdminClient(to: "explain the access")
        let grants = try client.grants(of: users)
        var name = AppName(target.app)
        var identifier = target.app
        if grants.contains(where: {
            $0.isCalled(target.app) && (target.strength == nil || $0.strength == target.strength)
        }) {
            guard let first = try client.matching(target.app, strength: target.strength, in: grants).first else {
                return
            }
            (name, identifier) = (first.name, first.app)
        }
        // All users: those who decided about the app.
        let asked: [UInt32?] =
            switch users {
            case .own: [nil]
            case .one(let uid, _): [uid]
            case .all: Set(grants.filter { $0.app == identifier }.map(\.uid)).sorted()
            }
        guard !asked.isEmpty else { throw client.refused("no app matches \"\(Speech.clean(target.app))\"") }
        let replies = try asked.map { uid in
            (
                uid,
                try client.call("ExplainDecision") {
                    $0.member("app", identifier)
                    $0.member("strength", target.strength)
                    $0.member("uid", uid)
                }
            )
        }
        guard !json else {
            return CommandJSON.print {
                $0.member("app", identifier)
                $0.name("users")
                $0.array(replies) { writer, reply in
                    writer.object {
                        $0.member("uid", reply.0)
                        $0.member("status", reply.1["status"]?.string)
                    }
                }
            }
        }
        for (uid, reply) in replies {
            let user = uid.map(users.suffix) ?? users.suffix
            print("\(name.full)\(user): \(AppGrant.words(ofStatus: Speech.clean(reply["status"]?.string ?? "")))")
            for reason in reply["reasons"]?.elements.map(Array.init) ?? [] {
                print("  " + Speech.clean(Self.local(reason.string ?? "")))
            }
        }
    }
}
