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

    /// The reasons, with times in local time. An earlier contact broker sends no parts.
    private static func reasons(_ reply: JSONValue) -> [String] {
        guard let explanation = reply["explanation"]?.elements else {
            return reply["reasons"]?.elements.map { $0.map { $0.string ?? "" } } ?? []
        }
        return explanation.map { reason in
            (reason["parts"]?.items ?? []).map { part in
                part["time"]?.string.map { LocalTime.text($0) } ?? part["text"]?.string ?? ""
            }
            .joined()
        }
    }

    func run() throws {
        let (users, client) = try users.open(to: "explain the access")
        let grants = try client.grants(of: users)
        var name = AppName(target.app)
        var identifier = target.app
        if grants.contains(where: {
            $0.isCalled(target.app) && (target.strength == nil || $0.strength == target.strength)
        }) {
            guard let first = try client.matching(target.app, strength: target.strength, in: grants, users).first else {
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
            for reason in Self.reasons(reply) { print("  " + Speech.clean(reason)) }
        }
    }
}
