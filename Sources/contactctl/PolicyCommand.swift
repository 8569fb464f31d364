import ArgumentParser
import BrokerAccessControl
import BrokerCommandOutput
import BrokerJSON
import BrokerModel

struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Check and try policy files, and explain the rules in force.",
        subcommands: [PolicyCheckCommand.self, PolicyTryCommand.self, PolicyExplainCommand.self])
}

struct PolicyCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check policy files for mistakes.",
        discussion: """
            Reads the files as the contact broker does, without asking it. Prints a line FILE:LINE: KEY: REASON for each \
            mistake, and then exits with 1.
            """)

    @OptionGroup var policy: PolicyFiles

    func run() throws {
        let (texts, rules) = try policy.read(to: "accept the policy")
        print("no mistakes: \(Count.words(rules.count, "rule")) in \(Count.words(texts.count, "file"))")
        for rule in rules where rule.allows && rule.maximumChanges == nil {
            Speech.say(
                "\(Speech.clean(rule.place)): force lets an app change only what it adds, because maximum_changes does not "
                    + "say more")
        }
    }
}

struct PolicyTryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try",
        abstract: "Show what would change if the files were the whole policy.",
        discussion: """
            Compares each app of each user under the policy in force and under these files. Nothing changes. To try one \
            more file, name the folder in force too. Needs an administrator's password, or root.
            """)

    @OptionGroup var policy: PolicyFiles
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let texts = try policy.read(to: "try the policy").texts
        let reply = try AdminClient(to: "try the policy").call("TryPolicy") {
            $0.name("files")
            $0.array(texts) { writer, text in
                writer.object {
                    $0.member("name", text.file)
                    $0.member("text", text.text)
                }
            }
        }
        let changes = reply["changes"]?.items ?? []
        let (apps, rules) = (reply["apps"]?.integer ?? 0, reply["rules"]?.integer ?? 0)
        guard !json else {
            return CommandJSON.print {
                $0.member("rules", rules)
                $0.member("apps", apps)
                CommandJSON.array("changes", changes, without: ["session"], &$0)
            }
        }
        if !changes.isEmpty { Screen.show(changes.flatMap { PolicyChange($0).lines }) }
        Speech.say(
            "with \(Count.words(rules, "rule")), \(changes.count) of \(Count.words(apps, "app")) would have other access; "
                + "nothing has changed")
    }
}

/// An app for which a policy that is tried has another effect than the one in force, as the broker reports it.
struct PolicyChange {
    /// The app, and what it has under each of the two policies.
    let lines: [String]

    init(_ json: JSONValue) {
        let uid = json["uid"]?.uid ?? 0
        let name = AppName(json["app"]?.string ?? "", displayName: json["displayName"]?.string)
        let strength = Speech.clean(json["strength"]?.string ?? "")
        lines = [
            "\(name.full)\(Users.all.suffix(uid)), \(strength)", "  now               \(Self.words(json["before"]))",
            "  with these files  \(Self.words(json["after"]))",
        ]
    }

    /// For example: `full, until 2026-03-01 13:00, sees everything but notes`.
    private static func words(_ effect: JSONValue?) -> String {
        let status = effect?["status"]?.string ?? ""
        var words = [AppGrant.words(ofStatus: status)]
        if status == "limited" { words[0] = "limited to " + Count.words(effect?["contacts"]?.integer ?? 0, "contact") }
        if let expires = effect?["expires"]?.string { words.append("until \(LocalTime.text(expires))") }
        if effect?["maximumLevel"]?.string == "limited" { words.append("limited at most") }
        if let lifetime = effect?["maximumLifetime"]?.integer {
            words.append("for \(TimeSpan.words(seconds: lifetime)) at most")
        }
        switch effect?["mayAsk"]?.bool {
        case true where effect?["password"]?.bool == true: words.append("asks with a password")
        case true where status == "notDetermined": words.append("may ask")
        case false where status != "restricted": words.append("cannot ask")
        default: break
        }
        if let keys = KeyWords.text(effect?["keys"]), !keys.isEmpty {
            words.append("\(status == "notDetermined" ? "may get" : "sees") \(keys)")
        }
        if let changes = effect?["changes"]?.string.flatMap(ChangeRight.init) {
            words.append("may \(status == "notDetermined" ? "at most " : "")\(changes.words)")
        }
        return Speech.clean(words.joined(separator: ", "))
    }
}

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
        let rules = reply["rules"]?.items ?? []
        let settings = reply["settings"]?.items ?? []
        guard !json else {
            return CommandJSON.print {
                CommandJSON.array("rules", rules, without: ["subject", "effects"], &$0)
                if reply["rejected"] != nil { $0.member("formerRules", true) }
                $0.member("unread", reply["unread"]?.strings)
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
        PolicyFiles.say(unread: reply["unread"]?.strings ?? [])
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
