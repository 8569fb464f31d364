import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct PolicyExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain the rules in force.",
        discussion: """
            Shows for each rule where it is, which apps and users it is about, what it does, and how many apps it applies to \
            now. `contactctl why APP` explains one app. Needs an administrator's password, or root.
            """)

    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let reply = try AdminClient(to: "explain the policy").call("ExplainPolicy")
        let rules = reply["rules"]?.elements.map(Array.init) ?? []
        let settings = reply["settings"]?.elements.map(Array.init) ?? []
        guard !json else {
            return CommandJSON.print {
                CommandJSON.array("rules", rules, without: ["subject", "effects"], &$0)
                if reply["rejected"] != nil { $0.member("formerRules", true) }
                $0.member("unread", reply["unread"]?.elements?.compactMap(\.string))
            }
        }
        var lines = rules.enumerated().flatMap { Self.lines($0.element, number: $0.offset + 1) }
        switch rules.count {
        case 0: lines.append("no rules: the person decides everything")
        case 1: break
        default:
            lines.append("If several rules apply to an app, the strictest one counts; deny counts before all others.")
        }
        lines += settings.map { "setting: \(Speech.clean($0.string ?? ""))" }
        Screen.show(lines)
        if let rejected = reply["rejected"]?.string {
            Speech.say(
                "the policy files have a mistake, so these former rules stay in force: \(Speech.clean(rejected))")
        }
        PolicyFiles.say(unread: reply["unread"]?.elements?.compactMap(\.string) ?? [])
    }

    private static func lines(_ rule: JSONValue, number: Int) -> [String] {
        func text(_ name: String) -> String { Speech.clean(rule[name]?.string ?? "") }
        let effects = rule["effects"]?.elements.map { $0.map { Speech.clean($0.string ?? "") } } ?? []
        let (apps, users) = (rule["apps"]?.integer ?? 0, rule["users"]?.integer ?? 0)
        let now = apps == 0 ? "no app" : "\(Count.words(apps, "app")) of \(Count.words(users, "user"))"
        return ["\(number). \(rule["name"]?.string == nil ? "" : "“\(text("name"))” ")at \(text("place"))"]
            + ["   \(text("subject")):"] + effects.map { "   - \($0)" } + ["   applies now to \(now)"]
    }
}
